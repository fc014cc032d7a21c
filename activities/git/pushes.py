"""What a push came to. Over HTTP a lost answer, a cut and a 502 print the same words, even `Done`.

So success needs an end without fault, a line for every ref, and the refs read back; a rejection is
compared with the refs; everything else is unsettled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from activities.git import command
from activities.git.mirror import Remote, read_refs
from activities.mutation import Applied, NotSent, Outcome, Refused, Unsettled
from orchestrator.domain.failures import ActivityFailed, FailureKind

DONE_FLAGS = (" ", "+", "*", "=", "-")
STALE = ("(stale info)", "(failed to update ref)")


@dataclass(frozen=True)
class Move:
    """One ref's move under a lease; None stands for absence, before or after."""

    ref: str
    expected: str | None
    wanted: str | None

    @property
    def lease(self) -> str:
        """Return the option that makes the host refuse the push from any other revision."""
        return f"--force-with-lease={self.ref}:{self.expected or ''}"

    @property
    def refspec(self) -> str:
        """Return what is pushed."""
        return f"{self.wanted or ''}:{self.ref}"


@dataclass(frozen=True)
class Push:
    """Moves of several refs, all or none of them; `goal` are the refs whose state is the effect."""

    remote: Remote
    repository: str
    moves: tuple[Move, ...]
    goal: Mapping[str, str | None]

    def arguments(self) -> list[str]:
        """Return git's arguments; the address carries no credential."""
        return [
            "push",
            "--porcelain",
            "--atomic",
            *(move.lease for move in self.moves),
            self.remote.address(self.repository),
            *(move.refspec for move in self.moves),
        ]

    def settle(self, done: command.Completed) -> Outcome:
        """Say what became of it, from git's own lines and from the refs as they stand after it."""
        lines = [_line(done.output, move.ref) for move in self.moves]
        if done.is_ok and all(line[:1] in DONE_FLAGS for line in lines if line) and all(lines):
            return self._read_back()
        refusals = [line[1:].strip() for line in lines if line and line.startswith("!")]
        if refusals:
            return self._rejected("; ".join(refusals)[:400])
        if not any(lines) and done.is_denied:
            reason = f"the host does not let us push to {self.repository}"
            return Refused(FailureKind.PERMANENT, reason)
        return Unsettled(f"push of {self._names}: no word on it (git ended {done.returncode})")

    def _read_back(self) -> Outcome:
        """Read the refs: there are servers that report success for an update that was lost."""
        try:
            found = self._found()
        except ActivityFailed as failed:
            return Unsettled(f"pushed, and not read back: {failed.reason}")
        if found != self.goal:
            return Unsettled(f"pushed, and now reads {found}")
        return self._applied()

    def _rejected(self, why: str) -> Outcome:
        """Look before believing a rejection.

        The transport may have sent our own push twice by itself; the second is then rejected
        because the first has landed. A stale lease alone may be an earlier attempt's doing: looked
        at anew, the refs say whether we may try again.
        """
        try:
            found = self._found()
        except ActivityFailed as failed:
            return Unsettled(f"rejected ({why}), and not read back: {failed.reason}")
        if found == self.goal:
            return self._applied()
        reason = f"push of {self._names} rejected: {why}; it stands on {found}"
        may_move = {move.ref: (move.expected, move.wanted) for move in self.moves}
        is_ours = all(found[ref] in may_move.get(ref, (found[ref],)) for ref in self.goal)
        if is_ours and any(word in why for word in STALE):
            return NotSent(FailureKind.TRANSIENT, reason)
        return Refused(FailureKind.POLICY_BOUND, reason, {"refs": found})

    def _found(self) -> dict[str, str | None]:
        return read_refs(self.remote, self.repository, *self.goal)

    def _applied(self) -> Applied:
        ref, revision = next(iter(self.goal.items()))
        return Applied(revision or ref.removeprefix("refs/heads/"), {"revision": revision})

    @property
    def _names(self) -> str:
        return " and ".join(move.ref for move in self.moves)


def _line(output: str, ref: str) -> str | None:
    """Return git's own line on a ref, whose first character is its verdict."""
    for line in output.splitlines():
        columns = line.split("\t")
        if len(columns) >= 2 and columns[1].split(":")[-1] == ref:
            return line
    return None
