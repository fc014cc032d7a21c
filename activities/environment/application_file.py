"""`.outlast.toml`: how a repository says that its application is started, seeded and checked."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from activities.environment.plain_file import NotPlain, read_plain
from orchestrator.contracts.environment import ApplicationFile
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import ActivityFailed, FailureKind

NAME = ".outlast.toml"
LARGEST_BYTES = 100_000


def read_application_file(workspace: Path) -> ApplicationFile:
    """Return what the file says. Raises ActivityFailed, permanent, naming the field."""
    try:
        raw = tomllib.loads(read_plain(workspace / NAME, LARGEST_BYTES).decode())
    except FileNotFoundError as fault:
        reason = f"the repository has no {NAME}; write one that says how to start and check it"
        raise ActivityFailed(FailureKind.PERMANENT, reason) from fault
    except (OSError, NotPlain, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
        raise ActivityFailed(FailureKind.PERMANENT, f"{NAME}: {fault}") from fault
    try:
        read = ApplicationFile.model_validate(_flattened(raw))
    except ValidationError as fault:
        fields = "; ".join(
            f"{'.'.join(str(part) for part in error['loc'])}: {error['msg']}"
            for error in fault.errors()
        )
        raise ActivityFailed(FailureKind.PERMANENT, f"{NAME}: {fields}"[:1000]) from fault
    for name, paths in _paths(read).items():
        for path in paths:
            if not stays_inside(workspace, path):
                reason = f"{NAME}: {name}: {path!r} is no path inside of the repository"
                raise ActivityFailed(FailureKind.PERMANENT, reason)
    return read


def resolve(argv: tuple[str, ...]) -> list[str]:
    """Return a command with `{python}` put in."""
    return [word.replace("{python}", sys.executable) for word in argv]


def _paths(read: ApplicationFile) -> dict[str, tuple[str, ...]]:
    return {
        "install.lockfiles": read.install.lockfiles,
        "install.produces": read.install.produces,
        "seed.fixtures": read.seed.fixtures,
        "source.paths": read.source,
    }


def stays_inside(workspace: Path, path: str) -> bool:
    """Return whether it is a proper relative path; no link on its way may lead out.

    What stands at its end may be a link of ours, into the cache of dependencies.
    """
    pure = PurePosixPath(path)
    if pure.is_absolute() or not pure.parts or {"..", ".git"} & set(pure.parts):
        return False
    return (workspace / pure.parent).resolve().is_relative_to(workspace.resolve())


def _flattened(raw: JsonObject) -> JsonObject:
    """Bring the file's tables into the shape: `[outlast]` says schema and name."""
    flat = {key: value for key, value in raw.items() if key not in ("outlast", "source")}
    head, source = raw.get("outlast", {}), raw.get("source", {})
    if isinstance(head, dict):
        flat |= head
    flat["source"] = source.get("paths", ()) if isinstance(source, dict) else source
    return flat
