"""Secrets by name, read at the moment of use; a value is never stored or logged."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from orchestrator.domain.failures import ActivityFailed, FailureKind

PREFIX = "OUTLAST_SECRET_"


class SecretSource:
    """Reads `secrets.toml` (name = value) of a folder, then the environment. Holds no value."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def get(self, name: str) -> str:
        """Return a secret's value. Raises ActivityFailed, permanent, naming the secret."""
        value = self._read().get(name) or os.environ.get(PREFIX + name)
        if not value:
            reason = f"secret {name} is not set; put it into {self._file.name} or {PREFIX}{name}"
            raise ActivityFailed(FailureKind.PERMANENT, reason)
        return value

    def some(self, names: tuple[str, ...]) -> dict[str, str]:
        """Return several secrets by name."""
        return {name: self.get(name) for name in names}

    def _read(self) -> dict[str, str]:
        try:
            return {key: str(value) for key, value in tomllib.loads(self._file.read_text()).items()}
        except FileNotFoundError:
            return {}
