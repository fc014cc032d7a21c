"""Everything that this installation can execute, put together from its home and its host."""

from __future__ import annotations

from pathlib import Path

from activities.artifacts import ArtifactStore
from activities.document import CheckDocument
from activities.environment.mutations import ProvisionEnvironment, TearDownEnvironment
from activities.environment.provider import Environments
from activities.flagship.proposing import ProposeCandidate
from activities.flagship.reading import (
    DeriveProcedure,
    ResolveRevision,
    RevalidatePullRequest,
)
from activities.flagship.verifying import Bench, Reproduce, VerifyCandidate
from activities.git.branches import DeleteBranch, PushBranch
from activities.git.mirror import Remote
from activities.github.client import Host
from activities.github.merge import Merge
from activities.github.pull_requests import (
    AttachEvidence,
    ClosePullRequest,
    CreateDraftPullRequest,
    RequestReview,
)
from activities.github.pull_state import PullStates
from activities.github.readiness import convert_to_draft, mark_ready
from activities.github.tickets import CloseTicket, CreateTicket, UpdateTicket
from activities.registry import Registry
from activities.repair.repairer import OfflineRepairer
from activities.secrets import SecretSource
from activities.workspace.restore import Workspaces


def build(home: Path, host_url: str) -> Registry:
    """Return the registry. Nothing is contacted; secrets are read when they are used."""
    secrets = SecretSource(home / "secrets.toml")
    host, remote = Host(host_url, secrets), Remote(host_url, secrets)
    artifacts, mirrors = ArtifactStore(home / "artifacts"), home / "cache" / "mirrors"
    workspaces = Workspaces(remote, mirrors, home / "environments")
    environments = Environments(home, artifacts)
    bench = Bench(artifacts, workspaces, environments, secrets)
    return Registry(
        [
            CheckDocument(),
            DeriveProcedure(artifacts),
            ResolveRevision(remote),
            Reproduce(bench),
            ProposeCandidate(bench, OfflineRepairer(), home / "cache" / "screening"),
            VerifyCandidate(bench),
            RevalidatePullRequest(PullStates(host, remote)),
        ],
        [
            CreateTicket(host),
            UpdateTicket(host),
            CloseTicket(host),
            ProvisionEnvironment(environments, workspaces),
            TearDownEnvironment(environments),
            PushBranch(remote, artifacts, mirrors),
            DeleteBranch(remote, mirrors),
            CreateDraftPullRequest(host),
            AttachEvidence(host),
            RequestReview(host),
            mark_ready(host),
            convert_to_draft(host),
            Merge(host, remote),
            ClosePullRequest(host),
        ],
    )
