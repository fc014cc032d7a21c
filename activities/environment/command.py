"""The argument list and the environment of a program that runs in a sandbox. Pure but for paths."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from activities.environment.tiers import Tier, as_nobody, find_bwrap

CODE = Path(__file__).parents[2]
LEASH = Path(__file__).with_name("leash.py")
NETWORK_PREFIXES = ("PIP_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy")
NETWORK_NAMES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NPM_CONFIG_REGISTRY")
ALWAYS = ("LANG", "LC_ALL", "OUTLAST_CHROMIUM")


@dataclass(frozen=True)
class Sandbox:
    """Where a program runs: what it may write and read, and whether it has network.

    The home is hidden but for `writable` and `readable`: it holds secrets and others' work.
    """

    tier: Tier
    home: Path
    writable: tuple[Path, ...]
    readable: tuple[Path, ...] = ()
    network: bool = False
    run_tag: str = ""
    extra: Mapping[str, str] = field(default_factory=dict)

    def argv(self, program: Sequence[str], cwd: Path) -> list[str]:
        """Return the whole argument list."""
        match self.tier:
            case Tier.PLAIN:
                return [sys.executable, str(LEASH), *program]
            case Tier.BUBBLEWRAP:
                return [str(find_bwrap()), *self._walls(), "--chdir", str(cwd), *program]

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

    def _walls(self) -> list[str]:
        words = ["--unshare-all", *(["--share-net"] if self.network else []), *as_nobody()]
        words += ["--die-with-parent", "--new-session", "--ro-bind", "/", "/"]
        words += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", str(self.home)]
        for seen in (CODE, Path(sys.prefix), Path(sys.base_prefix)):
            words += ["--ro-bind", str(seen), str(seen)]
        words += ["--tmpfs", str(self.home)] if self.home.is_relative_to(CODE) else []
        for path in self.readable:
            words += ["--ro-bind-try", str(path), str(path)]
        for path in self.writable:
            words += ["--bind", str(path), str(path)]
        return words
