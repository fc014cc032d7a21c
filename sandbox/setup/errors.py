"""What setup cannot do by itself, said with what a person can do."""

from __future__ import annotations


class SetupError(Exception):
    """Something needed is missing and could not be brought here."""


class CommandFailed(SetupError):
    """A program that setup ran ended with an error; the end of its words is in the message."""

    def __init__(self, argv: list[str], words: str) -> None:
        tail = "\n".join(words.strip().splitlines()[-8:])
        super().__init__(f"`{' '.join(argv[:4])} ...` failed:\n{tail}")
