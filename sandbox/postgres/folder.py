"""The folder of one embedded server: who may use it, its port, its password."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import socket
from pathlib import Path

import psutil

from orchestrator.clock import WaitedTooLong, wait_for
from sandbox.postgres.errors import FolderInUse

ADDRESS = "127.0.0.1"
PORTS = range(20_000, 32_000)  # below the ports that outgoing connections take
PREDECESSOR_SECONDS = 15.0


class Lock:
    """The right to run a server on a folder. Freed by `release` or by the end of every holder.

    The keeper of the server holds it too, so that it lasts until the server itself is gone, even
    if the owner was killed.
    """

    def __init__(self, file: Path) -> None:
        """Take it. Waits for a server whose owner died; raises FolderInUse where one lives."""
        self.file = file
        self.descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            wait_for(self._try, PREDECESSOR_SECONDS, f"the end of the server on {file.parent}")
        except WaitedTooLong as error:
            os.close(self.descriptor)
            raise FolderInUse(file.parent, self._holder()) from error
        except FolderInUse:
            os.close(self.descriptor)
            raise
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, str(os.getpid()).encode(), 0)

    def _try(self) -> bool:
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = self._holder()
            if is_alive(holder):
                raise FolderInUse(self.file.parent, holder) from error
            return False
        return True

    def _holder(self) -> int:
        written = os.pread(self.descriptor, 32, 0)
        return int(written) if written.isdigit() else 0

    def release(self) -> None:
        """Give our part of it back. Calling it again is harmless."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def is_alive(pid: int) -> bool:
    """Return whether a process runs; one that ended and was not collected does not."""
    try:
        return pid > 0 and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def occupants(data: Path) -> list[int]:
    """Return the processes that work in this data folder, as every part of a server does."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.name() == "postgres" and process.cwd() == str(data):
                found.append(process.pid)
    return found


def clear_stale_pid_file(data: Path) -> None:
    """Remove what a killed server left. Needs the lock; raises FolderInUse if one still works here.

    PostgreSQL's own check is fooled when another process got the old number.
    """
    try:
        wait_for(lambda: not occupants(data), PREDECESSOR_SECONDS, "the end of the last server")
    except WaitedTooLong as error:
        raise FolderInUse(data, occupants(data)[0]) from error
    (data / "postmaster.pid").unlink(missing_ok=True)


def is_free(port: int) -> bool:
    """Return whether a server could listen on the port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, port))
        except OSError:
            return False
    return True


def keep_port(file: Path) -> int:
    """Return the folder's port, kept from the last time unless somebody else took it."""
    kept = int(file.read_text()) if file.exists() else 0
    while not kept or not is_free(kept):
        kept = PORTS[secrets.randbelow(len(PORTS))]
    file.write_text(str(kept))
    return kept


def keep_password(file: Path) -> str:
    """Return the superuser's password, made once and readable by its owner only."""
    if not file.exists():
        draft = file.with_suffix(".new")
        draft.touch(0o600)
        draft.write_text(secrets.token_hex(16))
        draft.rename(file)
    return file.read_text()
