"""Screen candidates in a scratch workspace: compile, play lightly, then run the checks."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from activities.model.provider import ScreeningSession, Workbench
from activities.repair.edits import identity
from activities.repair.light import LightClient, NotExpressible, Played
from activities.repair.ranking import Ranked, Trail
from orchestrator.domain.failures import ActivityFailed, FailureKind

Play = Callable[[LightClient, Callable[[], None]], Played]
TRACER = Path(__file__).with_name("tracer")
DIGITS = re.compile(r"\d+")
TELL_EVERY = 8
IDENTITY_LENGTH = 20


class Screened(StrEnum):
    """What screening found of a candidate."""

    GOOD = "passes the procedure and the checks"
    AGAINST_CHECKS = "passes the procedure, against the checks"
    BETTER = "comes closer than the base"
    CHANGED = "changes what is seen"
    SAME = "changes nothing that is seen"
    DEAD = "does not start, or breaks a step"


@dataclass
class Screening:
    """Verdicts by candidate, and what the base itself showed. Resumed from its own verdicts."""

    bench: Workbench
    verdicts: dict[str, Screened] = field(default_factory=dict)
    base: Played = field(default_factory=Played)
    base_checks: str | None = None
    is_blind: bool = False
    screened: int = 0

    def resume(self) -> None:
        """Take up what an earlier attempt, or an earlier proposal on this base, found."""
        known: dict[str, str] = {}
        if self.bench.memo is not None and self.bench.memo.exists():
            known |= _read(self.bench.memo)
        known |= (self.bench.substate or {}).get("verdicts", {})
        names = {str(verdict.name): verdict for verdict in Screened}
        self.verdicts = {key: names[name] for key, name in known.items() if name in names}

    def keep(self) -> None:
        """Report progress with a substate from which the next attempt goes on."""
        kept = {key: verdict.name for key, verdict in self.verdicts.items()}
        self.bench.progress({"screened": len(kept), "verdicts": kept})
        if self.bench.memo is not None:
            draft = self.bench.memo.with_suffix(f".{secrets.token_hex(4)}")
            draft.write_text(json.dumps(kept))
            draft.replace(self.bench.memo)

    def look_at_base(self, session: ScreeningSession, client: LightClient, play: Play) -> Trail:
        """Play the base under the line tracer; return where the failing procedure went."""
        file = self.bench.workspace / f".trace-{secrets.token_hex(6)}"
        before = self.bench.application.start.env.get("PYTHONPATH", "")
        session.start_app(
            {
                "PYTHONPATH": os.pathsep.join(part for part in (str(TRACER), before) if part),
                "OUTLAST_TRACE_ROOT": str(self.bench.workspace),
                "OUTLAST_TRACE_FILE": str(file),
            }
        )
        ends = [_size(file)]
        try:
            self.base = play(client, lambda: ends.append(_size(file)))
            self.is_blind = self.base.passed
        except NotExpressible:
            self.is_blind = True
        finally:
            session.stop_app()
            trail = _trail(file, ends)
        if self.is_blind:
            self.base_checks = self._failing_checks(session)
        return trail

    def screen(self, session: ScreeningSession, ranked: Ranked, play: Play) -> Screened | None:
        """Return what becomes of one candidate; None when it is no candidate at all."""
        edit = ranked.edit
        original = (self.bench.workspace / edit.path).read_bytes()
        changed = edit.apply(original)
        key = candidate_key(edit.path, original, changed)
        if key is None:
            return None
        if key in self.verdicts:
            return self.verdicts[key]
        with self._edited(session, edit.path, original, changed):
            verdict = self._judge(session, play)
        self.verdicts[key] = verdict
        self.screened += 1
        if self.screened % TELL_EVERY == 0:
            self.keep()
        return verdict

    def keeps_checks(self, session: ScreeningSession, ranked: Ranked) -> bool:
        """Run the checks under a candidate that was not good enough to have them run before."""
        original = (self.bench.workspace / ranked.edit.path).read_bytes()
        changed = ranked.edit.apply(original)
        with self._edited(session, ranked.edit.path, original, changed):
            return self.passes_checks(session)

    @contextmanager
    def _edited(
        self, session: ScreeningSession, path: str, original: bytes, changed: bytes
    ) -> Iterator[None]:
        session.write(path, changed.decode())
        try:
            yield
        finally:
            session.write(path, original.decode())

    def _judge(self, session: ScreeningSession, play: Play) -> Screened:
        if self.is_blind:
            return self._judge_by_checks(session)
        try:
            session.start_app()
            played = play(LightClient(session, self.bench.secrets), lambda: None)
        except (ActivityFailed, NotExpressible) as fault:
            self._stop_if_told(fault)
            return Screened.DEAD
        finally:
            session.stop_app()
        reach, base_reach = len(played.texts), len(self.base.texts)
        if played.broke and (reach < base_reach or not self.base.broke):
            return Screened.DEAD
        if played.passed:
            return Screened.GOOD if self.passes_checks(session) else Screened.AGAINST_CHECKS
        if (reach, sum(played.holds)) > (base_reach, sum(self.base.holds)):
            return Screened.BETTER
        return Screened.CHANGED if played.texts != self.base.texts else Screened.SAME

    def _judge_by_checks(self, session: ScreeningSession) -> Screened:
        """Without a light replay: what breaks checks is dead, what mends them is better."""
        failing = self._failing_checks(session)
        if self.base_checks is None:
            return Screened.CHANGED if failing is None else Screened.DEAD
        if failing is None:
            return Screened.BETTER
        return Screened.SAME if failing == self.base_checks else Screened.CHANGED

    def passes_checks(self, session: ScreeningSession) -> bool:
        """Run the application's own checks; the first that fails ends it."""
        return self._failing_checks(session) is None

    def _failing_checks(self, session: ScreeningSession) -> str | None:
        """Return what the first failing check printed, without its digits; None if none fails."""
        checks = self.bench.application.check
        for command in checks.commands:
            ended = session.run(list(command), checks.timeout_s)
            if ended.returncode != 0:
                return DIGITS.sub("", ended.output)
        return None

    def _stop_if_told(self, fault: Exception) -> None:
        if self.bench.stop.is_set():
            raise ActivityFailed(FailureKind.TRANSIENT, "stopped as told") from fault


def candidate_key(path: str, original: bytes, changed: bytes) -> str | None:
    """Return a short name of a candidate's meaning, or None when it changes or parses not."""
    key = identity(path, changed)
    if key is None or key == identity(path, original):
        return None
    return key[:IDENTITY_LENGTH]


def _trail(file: Path, ends: list[int]) -> Trail:
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return Trail(frozenset(), frozenset())
    file.unlink()
    late_from = ends[-3] if len(ends) >= 3 else ends[0]
    return Trail(_places(data[ends[0] :]), _places(data[late_from:]))


def _places(data: bytes) -> frozenset[tuple[str, int]]:
    found = set()
    for line in data.decode(errors="replace").splitlines():
        path, _, number = line.rpartition(":")
        if number.isdigit():
            found.add((path, int(number)))
    return frozenset(found)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _read(file: Path) -> dict[str, str]:
    try:
        read = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}
