"""The embedded default model: an offline search for a small edit. Honest about what it found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from activities.model.provider import ScreeningSession, Workbench
from activities.repair.edits import applied, places_of, unified
from activities.repair.light import LightClient, Played
from activities.repair.ranking import Ranked, candidates, elsewhere_first
from activities.repair.screening import Play, Screened, Screening, candidate_key
from orchestrator.contracts.payload import fingerprint
from orchestrator.contracts.proposal import Proposal, ProposalRequest
from orchestrator.domain.failures import ActivityFailed, FailureKind

MOST_SCREENED = 90
MOST_BLIND = 25
MOST_CHECKED = 5
WORTH = (
    Screened.GOOD,
    Screened.AGAINST_CHECKS,
    Screened.BETTER,
    Screened.CHANGED,
)


@dataclass(frozen=True)
class Judged:
    """A screened candidate with its patch."""

    ranked: Ranked
    verdict: Screened
    patch: str
    remark: str = ""


class OfflineRepairer:
    """Searches the files of the application for an edit under which the procedure passes.

    Deterministic: the same base, request and earlier candidates give the same proposal. It finds
    single edits that its operators make, and says so when it proposes less than a repair.
    """

    name = "offline-repairer"
    version = "1"

    def __init__(self, most_screened: int = MOST_SCREENED) -> None:
        self._most_screened = most_screened

    def propose(self, request: ProposalRequest, bench: Workbench) -> Proposal:
        """Return the best candidate that was not tried before. Raises ActivityFailed."""
        screening = Screening(_with_memo(request, bench))
        screening.resume()

        def play(client: LightClient, after_step: Callable[[], None]) -> Played:
            return client.play(request.procedure, after_step)

        with bench.open_session() as session:
            trail = screening.look_at_base(session, LightClient(session, bench.secrets), play)
            ranked = candidates(bench.workspace, request, bench.application.source, trail)
            ordered = elsewhere_first(ranked, request, bench.workspace)
            judged = self._search(request, screening, session, ordered, play)
            best = _chosen(sorted(judged, key=_worth), screening, session)
        screening.keep()
        if best is None:
            said = f"no different candidate is left after {len(screening.verdicts)} were screened"
            raise ActivityFailed(FailureKind.DOMAIN_NEGATIVE, said)
        return self._proposal(best, screening)

    def _search(
        self,
        request: ProposalRequest,
        screening: Screening,
        session: ScreeningSession,
        ranked: list[Ranked],
        play: Play,
    ) -> list[Judged]:
        """Screen in order until one passes everything, or the limit is reached."""
        judged: list[Judged] = []
        tried = _tried(request, screening.bench.workspace)
        seen: set[str] = set()
        most = MOST_BLIND if screening.is_blind else self._most_screened
        for each in ranked:
            if screening.bench.stop.is_set():
                raise ActivityFailed(FailureKind.TRANSIENT, "stopped as told")
            original = (screening.bench.workspace / each.edit.path).read_bytes()
            changed = each.edit.apply(original)
            key = candidate_key(each.edit.path, original, changed)
            if key is None or key in seen or key in tried:
                continue
            seen.add(key)
            patch = unified(each.edit.path, original, changed)
            if len(patch.encode()) > request.max_patch_bytes:
                continue
            verdict = screening.screen(session, each, play)
            if verdict in WORTH:
                judged.append(Judged(each, verdict, patch))
            if verdict is Screened.GOOD or len(seen) >= most:
                break
        return judged

    def _proposal(self, judged: Judged, screening: Screening) -> Proposal:
        edit = judged.ranked.edit
        return Proposal(
            patch=judged.patch,
            hypothesis=(
                f"A small edit ({edit.operator}) of {edit.path} line {edit.line}. "
                f"{_said(judged, screening)}. "
                f"{len(screening.verdicts)} candidates were screened."
            ),
            provider=f"{self.name} {self.version}",
            operator=edit.operator,
            screened=len(screening.verdicts),
            places=(f"{edit.path}:{edit.line}",),
        )


def _tried(request: ProposalRequest, workspace: Path) -> frozenset[str]:
    """Return the meanings of earlier candidates, however they were spelled."""
    keys: set[str] = set()
    for prior in request.prior:
        paths = {path for path, _ in places_of(prior.patch)}
        if len(paths) == 1 and (workspace / (path := paths.pop())).is_file():
            original = (workspace / path).read_bytes()
            key = candidate_key(path, original, applied(prior.patch, original))
            keys |= set() if key is None else {key}
    return frozenset(keys)


def _worth(each: Judged) -> tuple[int, float]:
    return WORTH.index(each.verdict), -each.ranked.score


def _chosen(
    ordered: list[Judged], screening: Screening, session: ScreeningSession
) -> Judged | None:
    """Return the best; among those that do not pass the procedure, one that keeps the checks."""
    if not ordered or ordered[0].verdict in (Screened.GOOD, Screened.AGAINST_CHECKS):
        return ordered[0] if ordered else None
    if screening.is_blind:
        return ordered[0]
    for each in ordered[:MOST_CHECKED]:
        if screening.keeps_checks(session, each.ranked):
            return replace(each, remark=", and the checks pass")
    return replace(ordered[0], remark=", against the checks")


def _said(judged: Judged, screening: Screening) -> str:
    """Say what screening found, and no more than it could find."""
    if not screening.is_blind:
        return f"Screened by requests: it {judged.verdict.value}{judged.remark}"
    found = "keeps them passing, which does not show that it repairs anything"
    if screening.base_checks is not None:
        mends = judged.verdict is Screened.BETTER
        found = "makes those pass that fail" if mends else "makes them fail in another way"
    return f"Screened by the application's checks alone: it {found}"


def _with_memo(request: ProposalRequest, bench: Workbench) -> Workbench:
    """Give the screening a file of its own for this base and procedure."""
    if bench.memo is None:
        return bench
    bench.memo.mkdir(parents=True, exist_ok=True)
    about = fingerprint([request.reproduction.revision, request.procedure.to_json()])
    file: Path = bench.memo / f"{about.removeprefix('sha256:')[:32]}.json"
    return replace(bench, memo=file)
