"""Start an application from a folder as its `.outlast.toml` says, for the time of one check."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from orchestrator.clock import WaitedTooLong, wait_for

INHERITED = ("PATH", "HOME", "LANG", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")
FOR_INSTALLING = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
LOG_TAIL_CHARS = 2_000
GRACE_S = 5.0


class CannotStart(RuntimeError):
    """The application was not brought up. `phase` says in which step; `log` ends with why."""

    def __init__(self, phase: str, log: str) -> None:
        super().__init__(f"{phase} failed; see the end of its output:\n{log[-LOG_TAIL_CHARS:]}")
        self.phase, self.log = phase, log


@dataclass(frozen=True)
class Recipe:
    """The parts of `.outlast.toml` that bring an application up."""

    folder: Path
    install: tuple[tuple[str, ...], ...]
    produces: tuple[str, ...]
    install_timeout_s: float
    seed: tuple[tuple[str, ...], ...]
    seed_timeout_s: float
    start: tuple[str, ...]
    env: Mapping[str, str]
    ready_path: str
    ready_timeout_s: float
    check: tuple[tuple[str, ...], ...] = field(default=())
    check_timeout_s: float = 120


def read_recipe(folder: Path) -> Recipe:
    """Read `.outlast.toml`; `{python}` becomes this interpreter. Raises CannotStart."""
    try:
        told = tomllib.loads((folder / ".outlast.toml").read_text(encoding="utf-8"))
        return _recipe(folder, told)
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        raise CannotStart("reading .outlast.toml", repr(error)) from error


def _recipe(folder: Path, told: dict[str, Any]) -> Recipe:
    install, seed, check = told.get("install", {}), told.get("seed", {}), told["check"]
    return Recipe(
        folder=folder,
        install=_commands(install.get("commands", [])),
        produces=tuple(install.get("produces", [])),
        install_timeout_s=install.get("timeout_s", 300),
        seed=_commands(seed.get("commands", [])),
        seed_timeout_s=seed.get("timeout_s", 60),
        start=_argv(told["start"]["command"]),
        env=told["start"].get("env", {}),
        ready_path=told["ready"]["path"],
        ready_timeout_s=told["ready"].get("timeout_s", 20),
        check=_commands(check["commands"]),
        check_timeout_s=check.get("timeout_s", 120),
    )


def _commands(raw: list[list[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(_argv(argv) for argv in raw)


def _argv(raw: list[str]) -> tuple[str, ...]:
    return tuple(part.replace("{python}", sys.executable) for part in raw)


def install(recipe: Recipe) -> None:
    """Bring the dependencies in, unless all that installing produces is there already."""
    if recipe.produces and all((recipe.folder / made).exists() for made in recipe.produces):
        return
    env = _environment(installing=True)
    for argv in recipe.install:
        _run("installing", argv, recipe.folder, env, recipe.install_timeout_s)


def run_own_checks(recipe: Recipe) -> str:
    """Run the application's own checks. Returns "" if all pass, else what the red one printed."""
    for argv in recipe.check:
        try:
            _run("own checks", argv, recipe.folder, _environment(), recipe.check_timeout_s)
        except CannotStart as red:
            return red.log
    return ""


@contextlib.contextmanager
def running(recipe: Recipe) -> Iterator[str]:
    """Seed an empty DATA_DIR, start, wait until ready; yield the address, then stop it all.

    Needs installed dependencies. Raises CannotStart. What the application wrote is gone afterwards.
    """
    with tempfile.TemporaryDirectory(prefix="outlast-acceptance-") as scratch:
        data = Path(scratch) / "data"
        data.mkdir()
        log = Path(scratch) / "log"
        nonce = secrets.token_hex(8)
        env = {
            **_environment(),
            **recipe.env,
            "PORT": str(_free_port()),
            "DATA_DIR": str(data),
            "OUTLAST_NONCE": nonce,
            "OUTLAST_REVISION": "under-acceptance",
        }
        for argv in recipe.seed:
            _run("seeding", argv, recipe.folder, env, recipe.seed_timeout_s)
        with log.open("wb") as sink, _started(recipe, env, sink) as process:
            address = f"http://127.0.0.1:{env['PORT']}"
            _await_ready(process, recipe, address, nonce, log)
            yield address


@contextlib.contextmanager
def _started(
    recipe: Recipe, env: Mapping[str, str], sink: Any
) -> Iterator[subprocess.Popen[bytes]]:
    leash = Path(__file__).with_name("leash.py")
    process = subprocess.Popen(
        [sys.executable, "-I", str(leash), str(os.getpid()), *recipe.start],
        cwd=recipe.folder,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=sink,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        _stop(process)


def _await_ready(
    process: subprocess.Popen[bytes], recipe: Recipe, address: str, nonce: str, log: Path
) -> None:
    def ready() -> bool:
        if process.poll() is not None:
            raise CannotStart("starting", log.read_text(errors="replace"))
        try:
            answer = httpx.get(address + recipe.ready_path, timeout=2, trust_env=False)
            return answer.status_code == 200 and answer.json().get("nonce") == nonce
        except (httpx.HTTPError, ValueError):
            return False

    try:
        wait_for(ready, recipe.ready_timeout_s, "the application to be ready", every=0.05)
    except WaitedTooLong as late:
        raise CannotStart("getting ready", log.read_text(errors="replace")) from late


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the process and its group: asked first, forced after GRACE_S."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _run(
    phase: str, argv: tuple[str, ...], folder: Path, env: Mapping[str, str], timeout_s: float
) -> None:
    try:
        done = subprocess.run(
            argv,
            cwd=folder,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise CannotStart(phase, f"it took longer than {timeout_s:g} s") from late
    if done.returncode:
        raise CannotStart(phase, done.stdout)


def _environment(installing: bool = False) -> dict[str, str]:
    """Return the few variables that a child needs; no token of ours is among them."""
    names = INHERITED + (FOR_INSTALLING if installing else ())
    kept = {name: os.environ[name] for name in names if name in os.environ}
    if installing:
        kept |= {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    return kept


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
