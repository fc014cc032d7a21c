"""Read a file that a stranger may have put there: never through a link, never without a limit."""

from __future__ import annotations

import os
import stat
from pathlib import Path


class NotPlain(Exception):
    """What stands there is a link, a device or a pipe, or larger than allowed."""


def read_plain(path: Path, limit: int) -> bytes:
    """Return the file's bytes. Raises NotPlain, or OSError when it cannot be opened.

    Only the last part of the path is looked at; the folder above is the caller's to know.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        opened = os.open(path, flags)
    except OSError as fault:
        if path.is_symlink():
            raise NotPlain(f"{path.name} is no ordinary file") from fault
        raise
    with os.fdopen(opened, "rb") as file:
        seen = os.fstat(opened)
        if not stat.S_ISREG(seen.st_mode):
            raise NotPlain(f"{path.name} is no ordinary file")
        if seen.st_size > limit:
            raise NotPlain(f"{path.name} is too large: {seen.st_size} bytes of at most {limit}")
        return file.read(limit)
