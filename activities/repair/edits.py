"""An edit: some bytes of one file replaced, by which operator, in which place."""

from __future__ import annotations

import ast
import difflib
import hashlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """Replace bytes `start` to `end` of a file. `prior` is how often such an edit is right."""

    path: str
    start: int
    end: int
    new: str
    operator: str
    line: int
    prior: float

    def apply(self, source: bytes) -> bytes:
        """Return the file with the edit made."""
        return source[: self.start] + self.new.encode() + source[self.end :]


def identity(path: str, changed: bytes) -> str | None:
    """Return what makes two candidates the same, or None when the file does not parse."""
    if not path.endswith(".py"):
        return hashlib.sha256(path.encode() + changed).hexdigest()
    try:
        tree = ast.parse(changed)
    except (SyntaxError, ValueError):
        return None
    return hashlib.sha256(f"{path}\0{ast.dump(tree)}".encode()).hexdigest()


def unified(path: str, before: bytes, after: bytes) -> str:
    """Return the change as a unified diff that git applies."""
    lines = difflib.unified_diff(
        before.decode().splitlines(keepends=True),
        after.decode().splitlines(keepends=True),
        f"a/{path}",
        f"b/{path}",
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
