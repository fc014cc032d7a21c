"""Text that people send: whatever is accepted can be stored and shown again."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, StringConstraints


def storable(text: str) -> str:
    """Return the text. Raises ValueError for the one character that the database refuses."""
    if "\x00" in text:
        raise ValueError("it has a NUL character, which cannot be stored")
    return text


def inside_repository(path: str) -> str:
    """Return the path. Raises ValueError for one that could mean a place outside of it."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or "\\" in path:
        raise ValueError("it leaves the repository")
    return path


Words = Annotated[str, AfterValidator(storable)]
Path = Annotated[
    Words, AfterValidator(inside_repository), StringConstraints(min_length=1, max_length=500)
]
