"""The whole thing on this machine: database, host, API, workers, reconciler, under one owner."""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from cli.client import ACCESS
from cli.schema import upgrade
from cli.settings import NotConfigured
from orchestrator.contracts.payload import JsonObject
from orchestrator.engine.database import Database
from orchestrator.store import principals
from sandbox.app_repository import APP, build
from sandbox.host import seed, tokens
from sandbox.host.tokens import Tokens
from sandbox.owner.child import Child
from sandbox.owner.owner import Owner
from sandbox.postgres.server import Server
from sandbox.reports import DEMO_SECRETS, REPOSITORY

ROLES = {
    "submitter": ("demo-submitter", ["submitter"]),
    "reviewer": ("demo-reviewer", ["reviewer"]),
    "operator": ("demo-operator", ["operator"]),
}
PASSED = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE", "OUTLAST_CHROMIUM")
PASSED_PREFIXES = ("PIP_",)
POLICY: JsonObject = {"reviewers": ["demo-reviewer"], "repair_attempts": 4}


@dataclass(frozen=True)
class Addresses:
    """Where the started parts listen, and the callers' tokens by role."""

    api: str
    host: str
    dsn: str
    tokens: Mapping[str, str]
    host_tokens: Tokens


class Stack:
    """Starts every part under an owner; what ends is started again, what it owns dies with it."""

    def __init__(
        self, home: Path, owner: Owner, *, keys: bool = True, hidden: Path | None = None
    ) -> None:
        """`hidden` is a folder that no worker is to see; see `out_of_sight`."""
        self.home, self.owner, self.keys, self.hidden = home, owner, keys, hidden
        self.home.mkdir(parents=True, exist_ok=True)
        self._ports = {name: free_port() for name in ("api", "host")}

    def start(self, workers: int = 2) -> Addresses:
        """Start everything and return where it is; returns when all of it answers.

        Raises NotConfigured or UnreadableTokens for a damaged file of tokens, before any start.
        """
        given, host_tokens = self._tokens(), tokens.ensure(self.home / "host")
        dsn = self._start_database()
        self._start_host()
        self._write_secrets(host_tokens)
        database = Database(dsn)
        with database.commit("principals") as tx:
            for role, (name, roles) in ROLES.items():
                principals.put(tx, name, roles, given[role])
        database.close()
        api = f"http://127.0.0.1:{self._ports['api']}"
        host = f"http://127.0.0.1:{self._ports['host']}"
        env = self._environment(dsn, host)
        self._start("api", ["api", "--port", str(self._ports["api"])], env, f"{api}/ready")
        for number in range(1, workers + 1):
            self._start(f"worker-{number}", ["worker"], env, hidden=self.hidden)
        self._start("reconciler", ["reconciler"], env)
        where = Addresses(api, host, dsn, given, host_tokens)
        write_private(self.home / ACCESS, json.dumps({"api": api, "host": host, "tokens": given}))
        return where

    def forget(self) -> None:
        """Take back the addresses and tokens that other commands find in the home."""
        (self.home / ACCESS).unlink(missing_ok=True)

    def _start_database(self) -> str:
        server = Server.on(self.home / "postgres")
        self.owner.start(server.child())
        server.create_database("outlast")
        dsn = server.url("outlast")
        upgrade(dsn)
        return dsn

    def _start_host(self) -> None:
        folder = self.home / "host"
        if not (self.home / "shop").exists():
            build(APP, self.home / "shop")
        seed.seed(folder, REPOSITORY, self.home / "shop", strict=True)
        port = str(self._ports["host"])
        argv = ["sandbox", "--folder", str(folder), "--port", port]
        argv += [] if self.keys else ["--no-keys"]
        self._start("host", argv, self._plain(), f"http://127.0.0.1:{port}/outlast/extensions")

    def _start(
        self,
        name: str,
        argv: list[str],
        env: dict[str, str],
        probe: str | None = None,
        hidden: Path | None = None,
    ) -> None:
        program = [sys.executable, "-m", "cli.main", *argv]
        child = Child(
            name=name,
            argv=program if hidden is None else out_of_sight(hidden, program),
            env=env,
            log=self.home / "logs" / f"{name}.log",
            cwd=Path(__file__).parents[1],
            ready=(lambda: answers(probe)) if probe else (lambda: True),
        )
        child.log.parent.mkdir(exist_ok=True)
        self.owner.start(child)

    def _environment(self, dsn: str, host: str) -> dict[str, str]:
        ours = {
            "OUTLAST_DSN": dsn,
            "OUTLAST_HOST_URL": host,
            "OUTLAST_POLICY": json.dumps(POLICY),
        }
        return {**self._plain(), **ours}

    def _plain(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if name in PASSED or name.startswith(PASSED_PREFIXES)
        }
        return {**kept, "OUTLAST_HOME": str(self.home), "PYTHONUNBUFFERED": "1"}

    def _write_secrets(self, host_tokens: Tokens) -> None:
        """Give workers their secrets in a file of their own, and no process's environment."""
        every = {"HOST_TOKEN": host_tokens.of(tokens.BOT), **DEMO_SECRETS}
        lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in every.items())
        write_private(self.home / "secrets.toml", lines)

    def _tokens(self) -> dict[str, str]:
        file = self.home / "tokens.json"
        if file.exists():
            return _read_tokens(file)
        made = {role: f"outlast_{role}_{secrets.token_urlsafe(24)}" for role in ROLES}
        write_private(file, json.dumps(made))
        return made


def _read_tokens(file: Path) -> dict[str, str]:
    """Return the callers' tokens by role. Raises NotConfigured, naming what is wrong."""
    advice = "delete it to have new tokens made"
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise NotConfigured(f"{file} is unreadable ({type(fault).__name__}); {advice}") from fault
    lacking = [role for role in ROLES if not isinstance(said, dict) or not _is_token(said, role)]
    if lacking:
        raise NotConfigured(f"{file}: {', '.join(lacking)}: no token; {advice}")
    return {role: said[role] for role in ROLES}


def _is_token(said: JsonObject, role: str) -> bool:
    return isinstance(said.get(role), str) and bool(said[role])


def out_of_sight(folder: Path, program: list[str]) -> list[str]:
    """Return the program's argument list under which it sees an empty folder there.

    It keeps its pid. Needs mount namespaces, by a user namespace for others than root.
    """
    who = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    cover = 'mount -t tmpfs none "$0" && exec "$@"'
    return ["unshare", "--mount", *who, "sh", "-c", cover, str(folder), *program]


def answers(url: str) -> bool:
    """Return whether the address answers with success."""
    try:
        return httpx.get(url, timeout=2.0, trust_env=False).is_success
    except httpx.HTTPError:
        return False


def free_port() -> int:
    """Return a port on loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        name: Any = probe.getsockname()
        return int(name[1])


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner may read, at once and whole."""
    draft = file.with_name(f".{file.name}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as opened:
        opened.write(text)
    draft.replace(file)
