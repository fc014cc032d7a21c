"""A pull request as the host shows it, read in one place. What it does not show is not guessed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from activities.github.client import Host, HostUnreadable
from orchestrator.contracts.payload import JsonObject


class _Repository(BaseModel):
    full_name: str


class _End(BaseModel):
    ref: str
    sha: str
    repo: _Repository | None


class _Shown(BaseModel):
    """The fields that we go by; a host shows many more."""

    model_config = ConfigDict(strict=True)

    number: int
    node_id: str
    state: Literal["open", "closed"]
    draft: bool
    body: str | None
    head: _End
    base: _End
    merged_at: str | None
    merge_commit_sha: str | None


@dataclass(frozen=True)
class Pull:
    """What one read of a pull request said. `head` and `base` may lag behind the branches."""

    number: int
    node_id: str
    state: Literal["open", "closed"]
    is_draft: bool
    is_merged: bool
    body: str | None
    head: str
    head_branch: str
    head_repository: str | None
    base_branch: str
    merge_commit: str | None


def read_pull(host: Host, repository: str, number: int) -> Pull | None:
    """Read one pull request; None for one that the host does not show. Raises HostUnreadable."""
    path = f"/repos/{repository}/pulls/{number}"
    shown = host.read(path)
    return None if shown is None else parse_pull(shown, path)


def parse_pull(shown: JsonObject, where: str) -> Pull:
    """Return the pull request that an answer shows. Raises HostUnreadable for a lack of fields."""
    try:
        pull = _Shown.model_validate(shown)
    except ValidationError as fault:
        lacks = ", ".join(_place(error["loc"]) for error in fault.errors()[:5])
        raise HostUnreadable(f"{where}: no pull request as GitHub shows it ({lacks})") from fault
    return Pull(
        number=pull.number,
        node_id=pull.node_id,
        state=pull.state,
        is_draft=pull.draft,
        is_merged=pull.merged_at is not None,
        body=pull.body,
        head=pull.head.sha,
        head_branch=pull.head.ref,
        head_repository=pull.head.repo.full_name if pull.head.repo else None,
        base_branch=pull.base.ref,
        merge_commit=pull.merge_commit_sha,
    )


def _place(location: tuple[Any, ...]) -> str:
    return ".".join(map(str, location))
