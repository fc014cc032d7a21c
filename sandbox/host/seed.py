"""Put a repository into a host's folder, whether the host runs or not."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.host import repositories
from sandbox.host.bare import GitRefused, make_bare
from sandbox.host.store import Store
from sandbox.host.tokens import ADMIN, BOT, REVIEWER

COLLABORATORS = {BOT: "push", REVIEWER: "push"}


class CannotSeed(RuntimeError):
    """The repository was not taken; what is wrong with name or source is in the text."""


@dataclass(frozen=True)
class Seeded:
    """A repository that the host holds, and its default branch's commit."""

    repository: str
    default_branch: str
    revision: str
    path: Path


def seed(
    folder: Path,
    repository: str,
    source: Path | str,
    strict: bool = True,
    collaborators: Mapping[str, str] | None = None,
) -> Seeded:
    """Copy the source (a git folder or a bundle) as `owner/name`; its HEAD is the default branch.

    A repository of that name which is already held stays as it is, whatever the source. `strict`
    demands heads that are up to date with the default branch. Raises CannotSeed.
    """
    return seed_into(Store(folder), folder, repository, str(source), strict, collaborators)


def seed_into(
    store: Store,
    folder: Path,
    repository: str,
    source: str,
    strict: bool,
    collaborators: Mapping[str, str] | None = None,
) -> Seeded:
    """Do what `seed` does, through a store that is already open."""
    owner, name = _parts(repository)
    logins = {**(COLLABORATORS if collaborators is None else collaborators), ADMIN: "admin"}
    if unknown := set(logins.values()) - set(repositories.PERMISSIONS):
        raise CannotSeed(f"no such permission: {', '.join(sorted(unknown))}")
    with store.write() as db:
        if repositories.find(db, folder, owner, name) is None:
            branch = _place(folder, owner, name, source)
            repositories.insert(db, (owner, name), branch, strict, logins)
        found = repositories.find(db, folder, owner, name)
    assert found is not None
    tip = found.bare.tip(found.default_branch)
    return Seeded(found.full_name, found.default_branch, str(tip), found.bare.path)


def _parts(repository: str) -> tuple[str, str]:
    owner, _, name = repository.partition("/")
    plain = all(part and part.replace("-", "").replace("_", "").isalnum() for part in (owner, name))
    if not plain:
        raise CannotSeed(f"{repository!r} is not owner/name in letters, digits, - and _")
    return owner, name


def _place(folder: Path, owner: str, name: str, source: str) -> str:
    """Make the bare repository aside and move it into place whole; return its default branch."""
    target = repositories.folder_of(folder, owner, name)
    aside = target.with_name(f".{name}-{uuid.uuid4().hex}")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        bare = make_bare(source, aside)
        branch = bare.run("symbolic-ref", "--short", "HEAD").strip()
        if bare.tip(branch) is None:
            raise GitRefused(f"{source} has no commit on {branch}; commit first")
    except GitRefused as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise CannotSeed(str(error)) from error
    shutil.rmtree(target, ignore_errors=True)  # left by a seeding that was killed
    aside.rename(target)
    return branch
