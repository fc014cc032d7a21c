"""The repositories this host holds, and who may do what in them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.host.bare import Bare
from sandbox.host.refusals import not_found
from sandbox.host.store import now

PERMISSIONS = ("pull", "push", "admin")


@dataclass(frozen=True)
class Repository:
    """One row of `repositories`, with the folder of its objects and refs."""

    id: int
    owner: str
    name: str
    default_branch: str
    strict: bool
    created_at: str
    bare: Bare

    @property
    def full_name(self) -> str:
        """Return owner/name."""
        return f"{self.owner}/{self.name}"


def folder_of(folder: Path, owner: str, name: str) -> Path:
    """Return where the bare repository lies in the host's folder."""
    return folder / "repositories" / owner / f"{name}.git"


def find(db: sqlite3.Connection, folder: Path, owner: str, name: str) -> Repository | None:
    """Return the repository, or None."""
    row = db.execute(
        "SELECT * FROM repositories WHERE owner = ? AND name = ?", (owner, name)
    ).fetchone()
    return None if row is None else _of_row(row, folder)


def every(db: sqlite3.Connection, folder: Path) -> list[Repository]:
    """Return all repositories, oldest first."""
    return [_of_row(row, folder) for row in db.execute("SELECT * FROM repositories ORDER BY id")]


def insert(
    db: sqlite3.Connection,
    name: tuple[str, str],
    default_branch: str,
    strict: bool,
    collaborators: Mapping[str, str],
) -> None:
    """Register a repository whose folder is already in place."""
    row_id = db.execute(
        "INSERT INTO repositories (owner, name, default_branch, strict, created_at)"
        " VALUES (?, ?, ?, ?, ?)",
        (*name, default_branch, int(strict), now()),
    ).lastrowid
    db.executemany(
        "INSERT INTO collaborators VALUES (?, ?, ?)",
        [(row_id, login, permission) for login, permission in collaborators.items()],
    )


def permission_of(db: sqlite3.Connection, repository: Repository, login: str) -> str | None:
    """Return pull, push or admin; None for a login that is no collaborator."""
    row = db.execute(
        "SELECT permission FROM collaborators WHERE repository_id = ? AND login = ?",
        (repository.id, login),
    ).fetchone()
    return None if row is None else str(row["permission"])


def visible(
    db: sqlite3.Connection, folder: Path, owner: str, name: str, login: str | None
) -> tuple[Repository, str]:
    """Return the repository and the login's permission; 404 alike for absent and hidden."""
    repository = find(db, folder, owner, name)
    permission = permission_of(db, repository, login) if repository and login else None
    if repository is None or permission is None:
        raise not_found()
    return repository, permission


def take_number(db: sqlite3.Connection, repository: Repository) -> int:
    """Return the next number, shared by issues and pull requests as at GitHub."""
    row = db.execute(
        "UPDATE repositories SET last_number = last_number + 1 WHERE id = ? RETURNING last_number",
        (repository.id,),
    ).fetchone()
    return int(row["last_number"])


def _of_row(row: sqlite3.Row, folder: Path) -> Repository:
    return Repository(
        id=row["id"],
        owner=row["owner"],
        name=row["name"],
        default_branch=row["default_branch"],
        strict=bool(row["strict"]),
        created_at=row["created_at"],
        bare=Bare(folder_of(folder, row["owner"], row["name"])),
    )
