"""The definitions that this release knows, by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from orchestrator.domain.failures import OutlastError
from orchestrator.workflows.decision import Definition


class UnknownDefinition(OutlastError):
    """A run names a definition that this release does not have."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"no definition {name}; this release has {', '.join(sorted(known))}")
        self.name = name


class Definitions:
    """A closed set of definitions."""

    def __init__(self, definitions: Iterable[Definition[Any]]) -> None:
        self._by_name = {definition.name: definition for definition in definitions}

    def get(self, name: str) -> Definition[Any]:
        """Return the definition. Raises UnknownDefinition."""
        try:
            return self._by_name[name]
        except KeyError:
            raise UnknownDefinition(name, self._by_name) from None

    def names(self) -> tuple[str, ...]:
        """Return every name, sorted."""
        return tuple(sorted(self._by_name))
