"""Dependencies: the one phase with network. Built once for equal inputs, then only linked."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import threading
from dataclasses import replace
from pathlib import Path

from activities.environment.application_file import resolve
from activities.environment.bounded import run_bounded
from activities.environment.command import Sandbox
from orchestrator.contracts.environment import ApplicationFile, Install
from orchestrator.contracts.payload import fingerprint
from orchestrator.domain.failures import ActivityFailed, FailureKind


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
        if not (workspace / name).exists():
            reason = f"the installation ended well and made no {name}; see [install] produces"
            raise ActivityFailed(FailureKind.PERMANENT, reason)
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


def _run(
    argv: list[str],
    workspace: Path,
    sandbox: Sandbox,
    timeout_s: float,
    stop: threading.Event | None,
) -> None:
    done = run_bounded(
        sandbox.argv(argv, workspace), workspace, sandbox.environment(), timeout_s, stop
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
        return hashlib.sha256((workspace / name).read_bytes()).hexdigest()
    except OSError as fault:
        reason = f".outlast.toml: install.lockfiles: {name}: {type(fault).__name__}"
        raise ActivityFailed(FailureKind.PERMANENT, reason) from fault
