"""Read a pull request, its branch and its base; where two sources differ, nothing is known."""

from __future__ import annotations

from dataclasses import dataclass

from activities.git.mirror import Remote, read_ref
from activities.github.client import Host, HostUnreadable
from activities.github.pull import read_pull
from orchestrator.contracts.work import Revalidate, Revalidated
from orchestrator.domain.failures import ActivityFailed, FailureKind


@dataclass(frozen=True)
class PullStates:
    """Reads the outside as it stands now."""

    host: Host
    remote: Remote

    def read(self, asked: Revalidate) -> Revalidated:
        """Return what stands there. Raises ActivityFailed, transient, while sources differ.

        After a push the host's own object of the pull request may lag behind the branch; the
        branch is read from the repository itself, and a difference passes nothing.
        """
        try:
            pull = read_pull(self.host, asked.repository, asked.number)
        except HostUnreadable as fault:
            raise ActivityFailed(
                fault.kind, str(fault), retry_after_s=fault.retry_after_s
            ) from fault
        if pull is None:
            reason = f"{asked.repository} has no pull request #{asked.number}"
            raise ActivityFailed(FailureKind.PERMANENT, reason)
        head = read_ref(self.remote, asked.repository, f"refs/heads/{asked.branch}")
        base = read_ref(self.remote, asked.repository, f"refs/heads/{asked.base}")
        if base is None:
            raise ActivityFailed(FailureKind.PERMANENT, f"{asked.base} no longer exists")
        if pull.state == "open" and head is not None and pull.head != head:
            reason = f"#{asked.number} says head {pull.head}, the branch says {head}"
            raise ActivityFailed(FailureKind.TRANSIENT, reason)
        return Revalidated(
            state=pull.state,
            merged=pull.is_merged,
            draft=pull.is_draft,
            head=head,
            base=pull.base_branch,
            base_revision=base,
        )
