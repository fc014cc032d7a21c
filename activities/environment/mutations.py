"""Provision and tear down an environment: a unique folder with a receipt, and a tombstone after."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from activities.environment.provider import Environments
from activities.environment.sweep import end_processes, list_processes
from activities.mutation import (
    Absent,
    Applied,
    Call,
    Conflicting,
    Found,
    Observed,
    Outcome,
    Refused,
    Unreadable,
)
from activities.workspace.restore import Workspaces
from orchestrator.clock import WaitedTooLong, wait_for
from orchestrator.contracts import requests
from orchestrator.contracts.payload import JsonObject, canonical
from orchestrator.contracts.work import ProvisionedEnvironment
from orchestrator.domain.failures import ActivityFailed, FailureKind
from orchestrator.domain.operations import Guarantee

RECEIPT = "receipt.json"
LETS_GO_S = 60.0


@dataclass
class ProvisionEnvironment:
    """Build an environment under the run's tag and prove once that it gets ready.

    The folder of the tag is the unique key; its receipt names the operation and is written last,
    so that a receipt proves a whole environment.
    """

    environments: Environments
    workspaces: Workspaces
    name: str = "provision-environment"
    queue: str = "environment"
    guarantee: Guarantee = Guarantee.UNIQUE_KEY

    def perform(self, request: JsonObject, call: Call) -> Outcome:
        """Build it; a tag that was torn down is refused for ever (R21)."""
        wanted = requests.ProvisionEnvironment.model_validate(request)
        with _locked(self.environments.home, wanted.tag):
            if tombstone(self.environments.home, wanted.tag).exists():
                return Refused(FailureKind.POLICY_BOUND, f"{wanted.tag} was torn down before")
            before = self.observe(request, call)
            if isinstance(before, Found):
                return Applied(before.reference, before.facts)
            if isinstance(before, Conflicting):
                return Refused(FailureKind.POLICY_BOUND, before.reason, before.facts)
            try:
                facts = self._build(wanted, call)
            except ActivityFailed as failed:
                return Refused(failed.kind, failed.reason)
        return Applied(wanted.tag, facts)

    def _build(self, wanted: requests.ProvisionEnvironment, call: Call) -> JsonObject:
        store = self.environments.artifacts
        with self.workspaces.checkout(
            wanted.repository, wanted.revision, wanted.tag, f"provision-{call.fence}"
        ) as workspace:
            prepared = self.environments.prepare(
                workspace, wanted.revision, wanted.repository, wanted.tag, call.stop
            )
            self.environments.prove_ready(prepared, call.stop)
        spec = store.put(canonical(prepared.spec.to_json()), "environment", "environment.json")
        facts = ProvisionedEnvironment(
            spec_sha256=spec.sha256,
            environment_sha256=prepared.environment_sha256,
            tier=self.environments.tier,
        ).model_dump(mode="json")
        receipt = {"operation": call.operation_id, "fence": call.fence, "facts": facts}
        _write(self.environments.folder(wanted.tag) / RECEIPT, receipt)
        return facts

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Read the receipt. Without one nothing whole stands there, and building again is safe."""
        wanted = requests.ProvisionEnvironment.model_validate(request)
        try:
            raw = (self.environments.folder(wanted.tag) / RECEIPT).read_text()
            receipt = json.loads(raw)
        except FileNotFoundError:
            return Absent("the environment has no receipt", conclusive=False)
        except OSError as fault:
            return Unreadable(f"receipt: {type(fault).__name__}", FailureKind.ENVIRONMENTAL)
        except ValueError as fault:
            return Unreadable(f"receipt: {type(fault).__name__}", FailureKind.PERMANENT)
        match receipt:
            case {"operation": call.operation_id, "facts": {**facts}}:
                return Found(wanted.tag, {str(name): fact for name, fact in facts.items()})
            case {"operation": str(other), "facts": {}}:
                return Conflicting(f"the tag belongs to {other}", {})
            case _:
                reason = "receipt: it says neither whose it is nor what was built"
                return Unreadable(reason, FailureKind.PERMANENT)


@dataclass
class TearDownEnvironment:
    """End every process and remove every file that carries the tag, and only those (P13)."""

    environments: Environments
    name: str = "tear-down-environment"
    queue: str = "environment"
    guarantee: Guarantee = Guarantee.NATURAL

    def perform(self, request: JsonObject, call: Call) -> Outcome:
        """Leave the tombstone first, so that nothing is built anew behind us."""
        wanted = requests.TearDownEnvironment.model_validate(request)
        folder = self.environments.folder(wanted.tag)
        stone = tombstone(self.environments.home, wanted.tag)
        stone.parent.mkdir(parents=True, exist_ok=True)
        _write(stone, {"operation": call.operation_id, "fence": call.fence})
        try:
            with _locked(self.environments.home, wanted.tag, ending=True):
                shutil.rmtree(folder, ignore_errors=True)
        except WaitedTooLong as late:
            return Refused(FailureKind.ENVIRONMENTAL, str(late))
        left = end_processes(wanted.tag)
        if left or folder.exists():
            reason = f"processes {left} or files of {wanted.tag} would not go"
            return Refused(FailureKind.ENVIRONMENTAL, reason, {"processes": left})
        return Applied(wanted.tag, {"removed": True})

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Look for the tombstone, and for anything that still carries the tag."""
        wanted = requests.TearDownEnvironment.model_validate(request)
        there = self.environments.folder(wanted.tag).exists() or list_processes(wanted.tag)
        if tombstone(self.environments.home, wanted.tag).exists() and not there:
            return Found(wanted.tag, {"removed": True})
        return Absent("something still carries the tag", conclusive=True)


def tombstone(home: Path, tag: str) -> Path:
    """Return the file that says for ever that this tag was torn down."""
    return home / "environments" / ".gone" / tag


@contextmanager
def _locked(home: Path, tag: str, ending: bool = False) -> Iterator[None]:
    """Keep overlapping attempts on one tag apart; the lock dies with its holder.

    With `ending`, whatever the holder starts under the tag is killed until it lets go. Raises
    WaitedTooLong.
    """
    folder = home / "environments" / ".locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / tag).open("w") as lock:
        if ending:
            wait_for(lambda: _taken(lock, tag), LETS_GO_S, f"who builds {tag} to let go", every=0.2)
        else:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _taken(lock: IO[str], tag: str) -> bool:
    """Take the lock now if nobody has it, after killing what its holder would wait for."""
    end_processes(tag)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write(file: Path, said: JsonObject) -> None:
    draft = file.with_name(f"{file.name}.new")
    with draft.open("w") as opened:
        json.dump(said, opened)
        opened.flush()
        os.fsync(opened.fileno())
    draft.replace(file)
