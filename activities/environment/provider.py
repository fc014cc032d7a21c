"""Environments of one machine: prepare a workspace, then replay, check or prove it in a sandbox."""

from __future__ import annotations

import hashlib
import platform
import re
import secrets as random
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from activities.artifacts import LARGEST_BYTES, ArtifactStore
from activities.browser.find import browser_folders
from activities.environment.application_file import read_application_file
from activities.environment.command import Sandbox
from activities.environment.dependencies import (
    dependencies_hash,
    install_once,
    resolved_versions,
)
from activities.environment.plain_file import NotPlain, read_plain
from activities.environment.session import Session
from activities.environment.tiers import Tier, choose_tier
from orchestrator.contracts.environment import ApplicationFile, EnvironmentSpec
from orchestrator.contracts.evidence import ArtifactRef, CheckEvidence, ProcedureRun, ReplayEvidence
from orchestrator.contracts.payload import JsonObject
from orchestrator.contracts.procedure import Procedure
from orchestrator.domain.failures import ActivityFailed, FailureKind

Progress = Callable[[JsonObject], None]
Verdict = Literal["passed", "failed", "flaky", "inconclusive"]
TAIL = 4000
HASH = re.compile(r"[0-9a-f]{64}")
TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")


@dataclass(frozen=True)
class Prepared:
    """A workspace with its dependencies in place, and what it was built from."""

    spec: EnvironmentSpec
    workspace: Path
    run_tag: str

    @property
    def application(self) -> ApplicationFile:
        """Return what the repository says of its application."""
        return self.spec.application

    @property
    def environment_sha256(self) -> str:
        """Return the environment's hash, for evidence."""
        return self.spec.fingerprint().removeprefix("sha256:")


class Environments:
    """Builds and uses environments under `home/environments/<tag>`; nothing runs between uses."""

    def __init__(self, home: Path, artifacts: ArtifactStore, tier: Tier | None = None) -> None:
        self.home, self.artifacts = home, artifacts
        self.tier = tier or choose_tier()

    def folder(self, run_tag: str) -> Path:
        """Return where everything of a run lies on this machine. A tag is one plain name."""
        if not TAG.fullmatch(run_tag):
            raise ActivityFailed(FailureKind.PERMANENT, f"{run_tag!r} is no tag of a run")
        return self.home / "environments" / run_tag

    def prepare(
        self,
        workspace: Path,
        revision: str,
        repository: str,
        run_tag: str,
        stop: threading.Event | None = None,
    ) -> Prepared:
        """Read the repository's file and bring its dependencies in. Raises ActivityFailed."""
        application = read_application_file(workspace)
        wanted = dependencies_hash(application, workspace, self.tier)
        cache = self.home / "cache" / "dependencies" / wanted
        cache.parent.mkdir(parents=True, exist_ok=True)
        with self._scratch(run_tag) as scratch:
            sandbox = self._sandbox(run_tag, scratch, workspace)
            install_once(application.install, workspace, cache, sandbox, stop)
        spec = EnvironmentSpec(
            repository=repository,
            revision=revision,
            application=application,
            dependencies_hash=wanted,
            resolved=resolved_versions(application.install, cache),
            python=platform.python_version(),
            tier=self.tier,
        )
        return Prepared(spec, workspace, run_tag)

    @contextmanager
    def session(self, prepared: Prepared, stop: threading.Event | None = None) -> Iterator[Session]:
        """Yield a sandbox with the prepared application in it; its scratch goes with it."""
        with self._scratch(prepared.run_tag) as scratch:
            sandbox = self._sandbox(prepared.run_tag, scratch, prepared.workspace)
            application, revision = prepared.application, prepared.spec.revision
            with Session(
                application, prepared.workspace, scratch, revision, sandbox, stop
            ) as session:
                yield session

    def prove_ready(self, prepared: Prepared, stop: threading.Event | None = None) -> None:
        """Start, seed and probe once, then stop. Raises ActivityFailed with the log's end."""
        with self.session(prepared, stop) as session:
            session.start_app()
            session.stop_app()

    def check(
        self,
        prepared: Prepared,
        candidate_sha256: str | None = None,
        stop: threading.Event | None = None,
    ) -> CheckEvidence:
        """Run the application's own checks, all of them, without network."""
        checks = prepared.application.check
        outputs, passed = [], True
        with self.session(prepared, stop) as session:
            for command in checks.commands:
                done = session.run(command, checks.timeout_s)
                outputs.append(f"$ {' '.join(command)}\n{done.output}\n({done.returncode})\n")
                passed = passed and done.returncode == 0
        whole = "\n".join(outputs)
        return CheckEvidence(
            passed=passed,
            revision=prepared.spec.revision,
            candidate_sha256=candidate_sha256,
            environment_sha256=prepared.environment_sha256,
            commands=tuple(" ".join(command) for command in checks.commands),
            output_tail=whole[-TAIL:],
            log=self.artifacts.put(whole.encode(), "check-log", "checks.log"),
        )

    def replay(
        self,
        prepared: Prepared,
        procedure: Procedure,
        secrets: Mapping[str, str],
        candidate_sha256: str | None = None,
        progress: Progress = lambda _: None,
        stop: threading.Event | None = None,
    ) -> ReplayEvidence:
        """Play the procedure n times in a browser beside the application.

        Raises ActivityFailed, environmental, when a run could not be judged for a cause that is
        neither the application's nor the procedure's.
        """
        seen: dict[str, str] = {}

        def note(said: JsonObject) -> None:
            seen.update({"browser": said["browser"]} if "browser" in said else {})
            progress(said)

        with self.session(prepared, stop) as session:
            runs = session.replay(procedure, secrets, note)
            self._keep(session, runs)
        lost = [run for run in runs if run.verdict == "infrastructure"]
        if lost:
            why = next((step.observed for step in lost[0].steps if step.status != "ok"), "")
            reason = f"a run could not be judged: {why}"[:600]
            raise ActivityFailed(FailureKind.ENVIRONMENTAL, reason)
        return ReplayEvidence(
            verdict=judge(runs),
            revision=prepared.spec.revision,
            candidate_sha256=candidate_sha256,
            procedure_sha256=procedure.fingerprint().removeprefix("sha256:"),
            environment_sha256=prepared.environment_sha256,
            browser=seen.get("browser", "unknown"),
            tier=self.tier,
            runs=tuple(runs),
        )

    def _keep(self, session: Session, runs: list[ProcedureRun]) -> None:
        for run in runs:
            pictures = [step.screenshot for step in run.steps if step.screenshot]
            for ref in (*pictures, *run.artifacts):
                self.artifacts.put(made_inside(session.scratch, ref), ref.kind, ref.name)

    @contextmanager
    def _scratch(self, run_tag: str) -> Iterator[Path]:
        """Yield a folder for one sandbox: HOME, temporary files, data and logs lie in it."""
        scratch = self.folder(run_tag) / "scratch" / random.token_hex(6)
        for name in ("home", "tmp"):
            (scratch / name).mkdir(parents=True, exist_ok=True)
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _sandbox(self, run_tag: str, scratch: Path, workspace: Path) -> Sandbox:
        return Sandbox(
            tier=self.tier,
            home=self.home,
            writable=(scratch, workspace),
            readable=(self.home / "cache" / "dependencies", *browser_folders(self.home)),
            run_tag=run_tag,
        )


def made_inside(scratch: Path, ref: ArtifactRef) -> bytes:
    """Return a file that the inside wrote. The application could write there too: trust nothing."""
    try:
        if not HASH.fullmatch(ref.sha256):
            raise NotPlain(f"{ref.name} has no proper hash")
        data = read_plain(scratch / ref.sha256, LARGEST_BYTES)
    except (OSError, NotPlain) as fault:
        reason = f"{ref.name} could not be kept: {type(fault).__name__}"
        raise ActivityFailed(FailureKind.ENVIRONMENTAL, reason) from fault
    if hashlib.sha256(data).hexdigest() != ref.sha256:
        reason = f"{ref.name} could not be kept: it was changed in the sandbox"
        raise ActivityFailed(FailureKind.ENVIRONMENTAL, reason)
    return data


def judge(runs: list[ProcedureRun]) -> Verdict:
    """Return what n runs come to: all alike, mixed, or no answer at all."""
    match sorted({run.verdict for run in runs}):
        case ["passed"]:
            return "passed"
        case ["failed"]:
            return "failed"
        case ["failed", "passed"]:
            return "flaky"
        case _:
            return "inconclusive"
