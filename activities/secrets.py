"""Secrets by name, read at the moment of use; a value is never stored or logged."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

from orchestrator.domain.failures import ActivityFailed, FailureKind

PREFIX = "OUTLAST_SECRET_"
AT = re.compile(r"\(at (?:line \d+, column \d+|end of document)\)$")


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

    def check(self) -> None:
        """Raise ActivityFailed, permanent, for a file that cannot be read; none is no fault."""
        self._read()

    def _read(self) -> dict[str, str]:
        try:
            said = tomllib.loads(self._file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
            reason = f"{self._file.name} cannot be read: {_place_of(fault)}"
            raise ActivityFailed(FailureKind.PERMANENT, reason) from None
        wrong = [name for name, value in said.items() if type(value) not in (str, int)]
        if wrong:
            reason = f'{self._file.name}: {", ".join(wrong)}: no text; write NAME = "..."'
            raise ActivityFailed(FailureKind.PERMANENT, reason)
        return {name: str(value) for name, value in said.items()}


def _place_of(fault: Exception) -> str:
    """Return what kind of fault it is and where; its own words may quote a secret."""
    where = AT.search(str(fault)) if isinstance(fault, tomllib.TOMLDecodeError) else None
    return f"{type(fault).__name__} {where[0] if where else ''}".strip()
