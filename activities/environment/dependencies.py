"""Dependencies: the one phase with network. Built once for equal inputs, then only linked."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import threading
from dataclasses import replace
from pathlib import Path

from activities.environment.application_file import resolve, stays_inside
from activities.environment.bounded import run_bounded
from activities.environment.command import Sandbox
from activities.environment.plain_file import NotPlain, read_plain
from orchestrator.contracts.environment import ApplicationFile, Install
from orchestrator.contracts.payload import fingerprint
from orchestrator.domain.failures import ActivityFailed, FailureKind

LOCK_FILE_MAX = 20_000_000


def dependencies_hash(application: ApplicationFile, workspace: Path, tier: str) -> str:
    """Return the hash of everything that decides what an installation comes to."""
    install = application.install
    locks = {name: _file_hash(workspace, name) for name in install.lockfiles}
    said = {
        "commands": install.commands,
        "produces": install.produces,
        "locks": locks,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "tier": tier,
    }
    return fingerprint(said).removeprefix("sha256:")


def install_once(
    install: Install,
    workspace: Path,
    cache: Path,
    sandbox: Sandbox,
    stop: threading.Event | None = None,
) -> None:
    """Put what the installation produces into the workspace: from the cache, or made now.

    Made aside in the workspace and moved into the cache at once and whole, so that two that
    install at once are safe. Raises ActivityFailed, environmental.
    """
    if not cache.exists():
        for command in install.commands:
            with_network = replace(sandbox, network=True)
            _run(resolve(command), workspace, with_network, install.timeout_s, stop)
        _keep(install, workspace, cache)
    for name in install.produces:
        place = workspace / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        place.unlink(missing_ok=True)
        place.symlink_to(cache / name)


def resolved_versions(install: Install, cache: Path) -> tuple[str, ...]:
    """Return what was installed, as `name==version`, sorted; read from the packages themselves."""
    found = [
        info.name.removesuffix(".dist-info").replace("-", "==", 1)
        for name in install.produces
        for info in (cache / name).rglob("*.dist-info")
    ]
    return tuple(sorted(found))


def _keep(install: Install, workspace: Path, cache: Path) -> None:
    for name in install.produces:
        _require_made(workspace, name)
    draft = cache.with_name(f"{cache.name}.{os.getpid()}.{os.urandom(4).hex()}")
    for name in install.produces:
        (draft / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(workspace / name, draft / name)
    draft.mkdir(parents=True, exist_ok=True)
    try:
        draft.rename(cache)
    except OSError:
        shutil.rmtree(draft)
        if not cache.exists():
            raise


def _require_made(workspace: Path, name: str) -> None:
    """Refuse what is not there, and a link: a stranger's commands made it, and we shall move it."""
    made = workspace / name
    if not stays_inside(workspace, name) or made.is_symlink():
        reason = f"the installation made a link of {name}, which must be a file or folder here"
        raise ActivityFailed(FailureKind.PERMANENT, reason)
    if not made.exists():
        reason = f"the installation ended well and made no {name}; see [install] produces"
        raise ActivityFailed(FailureKind.PERMANENT, reason)


def _run(
    argv: list[str],
    workspace: Path,
    sandbox: Sandbox,
    timeout_s: float,
    stop: threading.Event | None,
) -> None:
    done = run_bounded(
        sandbox.argv(argv, workspace),
        workspace,
        sandbox.environment(),
        timeout_s,
        stop,
        name="install-dependencies",
    )
    if done.returncode is None and stop is not None and stop.is_set():
        raise ActivityFailed(FailureKind.TRANSIENT, "stopped as told while installing")
    if done.returncode is None:
        said = f"`{argv[0]}` still installed after {timeout_s:g} s: {done.output[-1000:]}"
        raise ActivityFailed(FailureKind.ENVIRONMENTAL, said)
    if done.returncode:
        reason = f"installation failed ({done.returncode}): {done.output[-1500:]}"
        raise ActivityFailed(FailureKind.ENVIRONMENTAL, reason)


def _file_hash(workspace: Path, name: str) -> str:
    try:
        return hashlib.sha256(read_plain(workspace / name, LOCK_FILE_MAX)).hexdigest()
    except (OSError, NotPlain) as fault:
        why = str(fault) if isinstance(fault, NotPlain) else type(fault).__name__
        reason = f".outlast.toml: install.lockfiles: {name}: {why}"
        raise ActivityFailed(FailureKind.PERMANENT, reason) from fault
