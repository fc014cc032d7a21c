"""The sandbox host as a real process of its own, started, killed and started again by tests."""

from __future__ import annotations

import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sandbox.host.tokens import Tokens, ensure

READY_S = 30.0
END_S = 10.0


@dataclass
class Host:
    """One folder and the process that serves it, if any."""

    folder: Path
    keys: bool = True
    port: int = 0
    url: str = ""
    process: subprocess.Popen[str] | None = None

    @property
    def tokens(self) -> Tokens:
        """Return the tokens of the folder."""
        return ensure(self.folder)

    def start(self) -> None:
        """Start the process and return once it listens; later starts keep the first port."""
        argv = (sys.executable, "-m", "sandbox.host", "--folder", str(self.folder))
        options = ("--port", str(self.port), "--keys", "on" if self.keys else "off")
        self.process = subprocess.Popen((*argv, *options), stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        readable, _, _ = select.select([self.process.stdout], [], [], READY_S)
        line = self.process.stdout.readline() if readable else ""
        if not line.startswith("ready "):
            self.kill()
            raise RuntimeError(f"the host did not come up: {line!r}")
        self.url = line.split()[1]
        self.port = int(self.url.rsplit(":", 1)[1])

    def kill(self) -> None:
        """End the process with SIGKILL, if there is one, and reap it."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(END_S)
            if self.process.stdout is not None:
                self.process.stdout.close()
            self.process = None


@contextmanager
def running_host(folder: Path, keys: bool = True) -> Iterator[Host]:
    """Yield a host that listens on a free port; its process is gone afterwards."""
    host = Host(folder, keys)
    host.start()
    try:
        yield host
    finally:
        host.kill()
