"""The envelope of every persisted shape: a kind, a version, and nothing unknown."""

from __future__ import annotations

import hashlib
import json
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict

JsonObject = dict[str, Any]


class UnreadablePayload(ValueError):
    """A stored payload names a kind or version that this code cannot read."""

    def __init__(self, wanted: str, found: str) -> None:
        super().__init__(f"expected {wanted}, found {found}; run a worker that reads it")
        self.wanted, self.found = wanted, found


class Shape(BaseModel):
    """A frozen record with no unknown fields. Not persisted by itself; part of a Payload."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Payload(Shape):
    """A persisted record. Its JSON names `kind` and `version` beside its fields."""

    KIND: ClassVar[str]
    VERSION: ClassVar[int] = 1

    def to_json(self) -> JsonObject:
        """Return the JSON form with kind and version; equal records give equal JSON."""
        return {"kind": self.KIND, "version": self.VERSION, **self.model_dump(mode="json")}

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        """Read the JSON form. Raises UnreadablePayload for another kind or version."""
        found = (raw.get("kind"), raw.get("version"))
        if found != (cls.KIND, cls.VERSION):
            raise UnreadablePayload(f"{cls.KIND} v{cls.VERSION}", f"{found[0]} v{found[1]}")
        body = {key: value for key, value in raw.items() if key not in ("kind", "version")}
        return cls.model_validate(body)

    def fingerprint(self) -> str:
        """Return the hash of the canonical JSON form, as `sha256:<hex>`."""
        return fingerprint(self.to_json())


def canonical(value: Any) -> bytes:
    """Return the one byte form of a JSON value: sorted keys, no spaces, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def fingerprint(value: Any) -> str:
    """Return `sha256:<hex>` of the canonical form; equal meaning, equal fingerprint."""
    return "sha256:" + hashlib.sha256(canonical(value)).hexdigest()
