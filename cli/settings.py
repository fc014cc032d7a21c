"""Where everything is, from the environment; no secret is ever a setting on a command line."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from activities.secrets import SecretSource
from orchestrator.contracts.checkpoint import WorkContract
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import ActivityFailed, OutlastError

ANY_REPOSITORY = "owner/name"


class NotConfigured(OutlastError):
    """A setting that this command needs is missing or says something wrong."""


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
        """Read OUTLAST_HOME, _DSN, _HOST_URL, _API_URL, _TOKEN and _POLICY (a JSON object).

        Raises NotConfigured, naming the field, for a policy that no run could be started with.
        """
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

    def direct_dsn(self) -> str | None:
        """Return how to reach the database without a pooler, or None where that cannot be.

        OUTLAST_DIRECT_DSN says it; `none` says that there is no such way. Unset, the DSN itself.
        """
        direct = os.environ.get("OUTLAST_DIRECT_DSN", self.dsn)
        return None if direct == "none" else direct

    def require_readable_secrets(self) -> None:
        """Raise NotConfigured, naming the secret, for a secrets.toml that no step could use."""
        try:
            SecretSource(self.home / "secrets.toml").check()
        except ActivityFailed as failed:
            raise NotConfigured(failed.reason) from failed


def _policy(raw: str) -> JsonObject:
    try:
        policy = json.loads(raw)
    except ValueError as fault:
        raise NotConfigured(f"OUTLAST_POLICY is no JSON: {fault}") from fault
    if not isinstance(policy, dict):
        raise NotConfigured("OUTLAST_POLICY is no JSON object")
    if "repository" in policy:
        raise NotConfigured("OUTLAST_POLICY: repository: every report names its own; take it out")
    _require_contract(policy)
    return policy


def _require_contract(policy: JsonObject) -> None:
    """Refuse what is no work contract. Types are strict: "false" in quotes is not false."""
    endless = [n for n, v in policy.items() if isinstance(v, float) and not math.isfinite(v)]
    if endless:
        raise NotConfigured(f"OUTLAST_POLICY: {', '.join(endless)}: no finite number")
    whole = json.dumps({**policy, "repository": ANY_REPOSITORY})
    try:
        WorkContract.model_validate_json(whole, strict=True)
    except ValidationError as fault:
        fields = "; ".join(
            f"{'.'.join(str(part) for part in error['loc'])}: {error['msg']}"
            for error in fault.errors(include_url=False, include_input=False)
        )
        raise NotConfigured(f"OUTLAST_POLICY: {fields}") from fault
