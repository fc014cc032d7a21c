"""Where everything is, from the environment; no secret is ever a setting on a command line."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import OutlastError


class NotConfigured(OutlastError):
    """A setting that this command needs is missing."""


@dataclass(frozen=True)
class Settings:
    """The settings of one process. `home` holds artifacts, caches and environments."""

    home: Path
    dsn: str | None
    host_url: str | None
    api_url: str | None
    token: str | None
    policy: JsonObject

    @classmethod
    def read(cls) -> Settings:
        """Read OUTLAST_HOME, _DSN, _HOST_URL, _API_URL, _TOKEN and _POLICY (a JSON object)."""
        given = os.environ
        return cls(
            home=Path(given.get("OUTLAST_HOME", ".outlast")).absolute(),
            dsn=given.get("OUTLAST_DSN"),
            host_url=given.get("OUTLAST_HOST_URL"),
            api_url=given.get("OUTLAST_API_URL"),
            token=given.get("OUTLAST_TOKEN"),
            policy=_policy(given.get("OUTLAST_POLICY", "{}")),
        )

    def needed_dsn(self) -> str:
        """Return the DSN. Raises NotConfigured."""
        if not self.dsn:
            raise NotConfigured("set OUTLAST_DSN, or run `outlast up`, which brings a database")
        return self.dsn

    def needed_host(self) -> str:
        """Return the git host's address. Raises NotConfigured."""
        if not self.host_url:
            raise NotConfigured("set OUTLAST_HOST_URL to the git host's address")
        return self.host_url


def _policy(raw: str) -> JsonObject:
    try:
        policy = json.loads(raw)
    except ValueError as fault:
        raise NotConfigured(f"OUTLAST_POLICY is no JSON: {fault}") from fault
    if not isinstance(policy, dict):
        raise NotConfigured("OUTLAST_POLICY is no JSON object")
    return policy
