"""The recovery input of an environment: enough to build the same one on another machine."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from orchestrator.contracts.payload import Payload, Shape


class Install(Shape):
    """How dependencies come in: the one phase with network. Cached by the lock files' hash."""

    commands: tuple[tuple[str, ...], ...] = ()
    lockfiles: tuple[str, ...] = ()
    produces: tuple[str, ...] = ()
    timeout_s: int = Field(default=300, ge=1, le=3600)


class Start(Shape):
    """How the application starts. It gets PORT, DATA_DIR, OUTLAST_NONCE and OUTLAST_REVISION."""

    command: tuple[str, ...] = Field(min_length=1)
    env: dict[str, str] = {}


class Seed(Shape):
    """How fixtures get into DATA_DIR before each start."""

    commands: tuple[tuple[str, ...], ...] = ()
    fixtures: tuple[str, ...] = ()
    timeout_s: int = Field(default=60, ge=1, le=600)


class Ready(Shape):
    """A path that answers 200 with JSON that shows the given `nonce` and `revision`."""

    path: str = Field(pattern=r"^/")
    timeout_s: int = Field(default=20, ge=1, le=600)


class Checks(Shape):
    """The application's own tests; all must exit 0. Run without network."""

    commands: tuple[tuple[str, ...], ...] = Field(min_length=1)
    timeout_s: int = Field(default=120, ge=1, le=3600)


class ApplicationFile(Shape):
    """What `.outlast.toml` in a repository says."""

    schema_: int = Field(alias="schema", ge=1, le=1)
    name: str = Field(min_length=1, max_length=100)
    install: Install = Install()
    start: Start
    seed: Seed = Seed()
    ready: Ready
    check: Checks
    source: tuple[str, ...] = Field(min_length=1)


class EnvironmentSpec(Payload):
    """Everything an environment was built from; its fingerprint is the environment hash."""

    KIND: ClassVar[str] = "environment-spec"

    repository: str
    revision: str = Field(pattern=r"^[0-9a-f]{40}$")
    application: ApplicationFile
    dependencies_hash: str
    resolved: tuple[str, ...] = ()
    python: str
    tier: str
