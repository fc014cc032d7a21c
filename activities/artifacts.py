"""Stored files by their hash: written aside, made durable, then named. Checked on every read."""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

from orchestrator.contracts.evidence import ArtifactRef
from orchestrator.domain.failures import OutlastError

LARGEST_BYTES = 64 * 1024 * 1024


class ArtifactUnreadable(OutlastError):
    """A recorded file is gone or its bytes no longer match its hash."""

    def __init__(self, sha256: str, why: str) -> None:
        super().__init__(f"artifact {sha256}: {why}; restore the artifact folder from a backup")
        self.sha256 = sha256


class ArtifactTooLarge(OutlastError):
    """A file is over the limit; nothing was stored."""

    def __init__(self, name: str, size: int) -> None:
        super().__init__(f"{name} has {size} bytes, at most {LARGEST_BYTES} are stored")
        self.name, self.size = name, size


class ArtifactStore:
    """A content-addressed folder. Threads and processes may share it; a file is never changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._staging = folder / "staging"
        self._staging.mkdir(parents=True, exist_ok=True)

    def put(self, data: bytes, kind: str, name: str) -> ArtifactRef:
        """Store bytes and return their reference; equal bytes are stored once.

        A file that was damaged since is made whole by storing the same bytes again.
        """
        if len(data) > LARGEST_BYTES:
            raise ArtifactTooLarge(name, len(data))
        sha256 = hashlib.sha256(data).hexdigest()
        if self.checked_path(sha256) is None:
            self._write(self._place(sha256), data)
        return ArtifactRef(sha256=sha256, kind=kind, name=name, size=len(data))

    def read(self, sha256: str) -> bytes:
        """Return the bytes. Raises ArtifactUnreadable when they are gone or damaged."""
        try:
            data = self._place(sha256).read_bytes()
        except OSError as fault:
            raise ArtifactUnreadable(sha256, type(fault).__name__) from fault
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ArtifactUnreadable(sha256, "its bytes do not match its hash")
        return data

    def checked_path(self, sha256: str) -> Path | None:
        """Return the file of a hash after checking it, or None when it cannot be served."""
        try:
            self.read(sha256)
        except ArtifactUnreadable:
            return None
        return self._place(sha256)

    def _place(self, sha256: str) -> Path:
        if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
            raise ArtifactUnreadable(sha256[:80], "that is no hash")
        return self._folder / sha256[:2] / sha256

    def _write(self, target: Path, data: bytes) -> None:
        """Make the bytes durable before they get their name, and the name after them."""
        target.parent.mkdir(exist_ok=True)
        staged = self._staging / secrets.token_hex(12)
        with staged.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        staged.replace(target)
        for changed in (target.parent, self._folder):
            _make_durable(changed)


def _make_durable(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
