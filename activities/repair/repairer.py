"""The embedded default model: an offline search for a small edit. Honest about what it found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from activities.model.provider import ScreeningSession, Workbench
from activities.repair.edits import unified
from activities.repair.light import LightClient, Played
from activities.repair.ranking import Ranked, candidates
from activities.repair.screening import Play, Screened, Screening, candidate_key
from orchestrator.contracts.payload import fingerprint
from orchestrator.contracts.proposal import Proposal, ProposalRequest
from orchestrator.domain.failures import ActivityFailed, FailureKind

MOST_SCREENED = 120
MOST_BLIND = 25
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
            judged = self._search(request, screening, session, ranked, play)
        screening.keep()
        if not judged:
            said = f"no different candidate is left after {len(screening.verdicts)} were screened"
            raise ActivityFailed(FailureKind.DOMAIN_NEGATIVE, said)
        return self._proposal(_best(judged, request), screening)

    def _search(
        self,
        request: ProposalRequest,
        screening: Screening,
        session: ScreeningSession,
        ranked: list[Ranked],
        play: Play,
    ) -> list[Judged]:
        """Screen in order until one passes everything, or the limit is reached."""
        tried = {prior.patch for prior in request.prior}
        judged: list[Judged] = []
        seen: set[str] = set()
        most = MOST_BLIND if screening.is_blind else self._most_screened
        for each in ranked:
            if screening.bench.stop.is_set():
                raise ActivityFailed(FailureKind.TRANSIENT, "stopped as told")
            original = (screening.bench.workspace / each.edit.path).read_bytes()
            changed = each.edit.apply(original)
            key = candidate_key(each.edit.path, original, changed)
            if key is None or key in seen:
                continue
            seen.add(key)
            patch = unified(each.edit.path, original, changed)
            if patch in tried or len(patch.encode()) > request.max_patch_bytes:
                continue
            verdict = screening.screen(session, each, play)
            if verdict in WORTH:
                judged.append(Judged(each, verdict, patch))
            if verdict is Screened.GOOD or len(seen) >= most:
                break
        return judged

    def _proposal(self, judged: Judged, screening: Screening) -> Proposal:
        edit = judged.ranked.edit
        how = "by the application's checks alone" if screening.is_blind else "by requests"
        return Proposal(
            patch=judged.patch,
            hypothesis=(
                f"A small edit ({edit.operator}) of {edit.path} line {edit.line}. Screened {how}: "
                f"it {judged.verdict.value}. {len(screening.verdicts)} candidates were screened."
            ),
            provider=f"{self.name} {self.version}",
            operator=edit.operator,
            screened=len(screening.verdicts),
            places=(f"{edit.path}:{edit.line}",),
        )


def _best(judged: list[Judged], request: ProposalRequest) -> Judged:
    """Return the most promising; after failures, another place comes before the same one."""
    tried_places = {line for prior in request.prior for line in _hunks(prior.patch)}

    def order(each: Judged) -> tuple[int, bool, float]:
        is_same_place = bool(_hunks(each.patch) & tried_places)
        return WORTH.index(each.verdict), is_same_place, -each.ranked.score

    return min(judged, key=order)


def _hunks(patch: str) -> set[str]:
    """Return the places that a patch changes, as file and hunk."""
    path, found = "", set()
    for line in patch.splitlines():
        if line.startswith("+++ "):
            path = line[6:]
        elif line.startswith("@@"):
            found.add(f"{path} {line.split('@@')[1].strip()}")
    return found


def _with_memo(request: ProposalRequest, bench: Workbench) -> Workbench:
    """Give the screening a file of its own for this base and procedure."""
    if bench.memo is None:
        return bench
    bench.memo.mkdir(parents=True, exist_ok=True)
    about = fingerprint([request.reproduction.revision, request.procedure.to_json()])
    file: Path = bench.memo / f"{about.removeprefix('sha256:')[:32]}.json"
    return replace(bench, memo=file)
