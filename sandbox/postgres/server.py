"""One embedded PostgreSQL server on one folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy import URL

from sandbox.owner.child import Child
from sandbox.owner.kept import Kept
from sandbox.postgres.errors import InitialiseFailed, WrongMajor
from sandbox.postgres.folder import (
    ADDRESS,
    Lock,
    clear_stale_pid_file,
    keep_password,
    keep_port,
)
from sandbox.postgres.identity import Identity, identify
from sandbox.postgres.locate import Binaries, find_binaries

SUPERUSER = "postgres"
SETTINGS = {
    "listen_addresses": ADDRESS,
    "unix_socket_directories": "",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "max_connections": "200",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
}


class Server:
    """PostgreSQL on `folder`, reached on 127.0.0.1 only, fsync on.

    It keeps its port and its password for as long as the folder lives (the port changes only if
    another program took it between two starts). It dies with this process, by whatever signal;
    what was committed is there at the next start. It is not restarted when it dies: hand
    `child()` to an Owner for that.
    """

    def __init__(self, folder: Path, binaries: Binaries, identity: Identity | None = None) -> None:
        self.folder = folder.resolve()
        self.data = self.folder / "data"
        self.log = self.folder / "log"
        self.binaries = binaries
        self.port = 0
        self._identity = identity
        self._lock: Lock | None = None
        self._kept: Kept | None = None

    @classmethod
    def on(cls, folder: Path) -> Server:
        """Return a server with the programs that settings choose and that fit the data there."""
        return cls(folder, find_binaries(major=read_major(folder.resolve() / "data")))

    def create(self) -> None:
        """Make the database files if there are none. Nothing half-made is ever left as data."""
        made_by = read_major(self.data)
        if made_by and made_by != self.binaries.major:
            raise WrongMajor(self.folder, made_by, self.binaries.version)
        if made_by:
            return
        draft = self.folder / "data.new"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        self.identity.own(draft)
        self._initialise(draft)
        draft.rename(self.data)

    def _initialise(self, draft: Path) -> None:
        password = self.folder / "password"
        keep_password(password)
        self.identity.own(password)
        arguments = ["-A", "scram-sha-256", "-U", SUPERUSER, "-E", "UTF8", "--locale=C"]
        result = subprocess.run(
            [*self._command("initdb"), "-D", draft, *arguments, f"--pwfile={password}"],
            capture_output=True,
            text=True,
            check=False,
            env=self._environment(),
            cwd=self.folder,
        )
        if result.returncode:
            raise InitialiseFailed(self.folder, result.stderr.strip() or result.stdout.strip())

    @property
    def identity(self) -> Identity:
        """Return whom the server runs as; decided once, at first use."""
        if self._identity is None:
            self._identity = identify(self.data)
        return self._identity

    def _command(self, program: str) -> list[str]:
        return [*self.identity.prefix, str(self.binaries.folder / program)]

    def _environment(self) -> dict[str, str]:
        return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}

    def open(self) -> None:
        """Take the folder, make its files, choose its port. Raises FolderInUse, WrongMajor."""
        if self._lock is not None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        self.identity.own(self.folder)
        lock = Lock(self.folder / "lock")
        try:
            self.create()
            clear_stale_pid_file(self.data)
            self.port = keep_port(self.folder / "port")
        except BaseException:
            lock.release()
            raise
        self._lock = lock

    def close(self) -> None:
        """Give the folder back. Needs a server that has ended; again is harmless."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def child(self) -> Child:
        """Return what an owner needs to start, probe and restart this server. Opens the folder."""
        self.open()
        assert self._lock is not None
        options = [word for name, value in self._settings() for word in ("-c", f"{name}={value}")]
        return Child(
            name="postgres",
            argv=[*self._command("postgres"), "-D", str(self.data), *options],
            env=self._environment(),
            log=self.log,
            cwd=self.folder,
            ready=self.is_alive,
            ready_s=60,
            prepare=lambda: clear_stale_pid_file(self.data),
            stop_signal=signal.SIGINT,
            death_signal=signal.SIGINT,
            hold=(self._lock.descriptor,),
            release=self.close,
        )

    def _settings(self) -> list[tuple[str, str]]:
        return [*SETTINGS.items(), ("port", str(self.port))]

    def start(self) -> None:
        """Start it and return once it takes connections; recovery after a kill included."""
        kept = Kept(self.child())
        try:
            kept.wait_ready()
        except BaseException:
            kept.stop()
            raise
        self._kept = kept

    def stop(self) -> None:
        """Stop it, ending open sessions, and give the folder back."""
        if self._kept is not None:
            self._kept.stop()
            self._kept = None

    def is_alive(self) -> bool:
        """Return whether it takes a connection now."""
        try:
            self.connect().close()
        except psycopg.OperationalError:
            return False
        return True

    def connect(self, database: str = "postgres") -> psycopg.Connection:
        """Return a connection of the superuser in autocommit. Closing it is the caller's part."""
        return psycopg.connect(
            host=ADDRESS,
            port=self.port,
            user=SUPERUSER,
            password=keep_password(self.folder / "password"),
            dbname=database,
            connect_timeout=5,
            autocommit=True,
        )

    def postmaster(self) -> int:
        """Return the pid of the server's first process. Raises FileNotFoundError if it is down."""
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def url(self, database: str = "outlast") -> str:
        """Return the DSN for SQLAlchemy, password included: not for logs or command lines."""
        url = URL.create(
            "postgresql+psycopg",
            SUPERUSER,
            keep_password(self.folder / "password"),
            ADDRESS,
            self.port,
            database,
        )
        return url.render_as_string(hide_password=False)

    def create_database(self, name: str = "outlast") -> None:
        """Make a database unless it is there."""
        words = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
        with (
            contextlib.closing(self.connect()) as connection,
            contextlib.suppress(psycopg.errors.DuplicateDatabase),
        ):
            connection.execute(words)


def read_major(data: Path) -> str | None:
    """Return the major version that made these files, or `None` if there are none."""
    file = data / "PG_VERSION"
    return file.read_text().strip() if file.exists() else None
