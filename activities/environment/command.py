"""The argument list and the environment of a program that runs in a sandbox. Pure but for paths."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from activities.environment.tiers import Tier, as_nobody, find_bwrap

CODE = Path(__file__).parents[2]
LEASH = Path(__file__).with_name("leash.py")
NETWORK_PREFIXES = ("PIP_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy")
NETWORK_NAMES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NPM_CONFIG_REGISTRY", "no_proxy")
NETWORK_FILES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "PIP_CONFIG_FILE")
PRIVATE_FILES = ("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-")
RESOLVER = "/run/systemd/resolve"
ALWAYS = ("LANG", "LC_ALL", "OUTLAST_CHROMIUM")


@dataclass(frozen=True)
class Sandbox:
    """Where a program runs: what it may write and read, and whether it has network.

    The first of `writable` holds HOME. Hidden are the data folder but for `writable` and
    `readable` (it holds secrets and others' work), the user's home, the machine's passwords and its
    sockets in /run. With network the host's own loopback can be reached: only installations get it.
    """

    tier: Tier
    home: Path
    writable: tuple[Path, ...]
    readable: tuple[Path, ...] = ()
    network: bool = False
    run_tag: str = ""
    extra: Mapping[str, str] = field(default_factory=dict)

    def argv(self, program: Sequence[str], cwd: Path) -> list[str]:
        """Return the whole argument list; of the working folder, `.git` cannot be written."""
        match self.tier:
            case Tier.PLAIN:
                return [sys.executable, "-I", str(LEASH), *program]
            case Tier.BUBBLEWRAP:
                walls = [word for words in self._walls(cwd) for word in words]
                return [str(find_bwrap()), *walls, "--chdir", str(cwd), *program]

    def environment(self) -> dict[str, str]:
        """Return the whole environment: built from nothing, with what is needed and no more."""
        kept = {name: os.environ[name] for name in ALWAYS if name in os.environ}
        if self.network:
            kept |= {
                name: value
                for name, value in os.environ.items()
                if name in NETWORK_NAMES or name.startswith(NETWORK_PREFIXES)
            }
        fixed = {
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.writable[0] / "home"),
            "TMPDIR": "/tmp" if self.tier is Tier.BUBBLEWRAP else str(self.writable[0] / "tmp"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
            "CI": "1",
        }
        tag = {"OUTLAST_RUN_TAG": self.run_tag} if self.run_tag else {}
        return {**kept, **fixed, **tag, **self.extra}

    def _walls(self, cwd: Path) -> Iterator[Sequence[str]]:
        """Yield bubblewrap's words; each mount covers what was mounted before it."""
        yield "--unshare-all", *(("--share-net",) if self.network else ()), *as_nobody()
        yield "--die-with-parent", "--new-session", "--ro-bind", "/", "/"
        yield "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run"
        for place in _private_folders():
            yield "--tmpfs", str(place)
        for seen in (CODE, Path(sys.prefix), Path(sys.base_prefix)):
            yield "--ro-bind", str(seen), str(seen)
        for file in PRIVATE_FILES:
            if Path(file).is_file():
                yield "--ro-bind", "/dev/null", file
        yield "--tmpfs", str(self.home)
        if Path(sys.prefix).is_relative_to(self.home):
            yield "--ro-bind", sys.prefix, sys.prefix
        for path in (*self.readable, *self._network_files()):
            yield "--ro-bind-try", str(path), str(path)
        for path in self.writable:
            yield "--bind", str(path), str(path)
        yield "--ro-bind-try", str(cwd / ".git"), str(cwd / ".git")

    def _network_files(self) -> Iterator[str]:
        if self.network:
            yield RESOLVER
            yield from (os.environ[name] for name in NETWORK_FILES if os.environ.get(name))


def _private_folders() -> Iterator[Path]:
    user = Path(os.path.expanduser("~"))
    if user.is_absolute() and user.is_dir() and user != Path("/"):
        yield user
