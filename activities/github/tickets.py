"""Tickets: create, set our section, close."""

from __future__ import annotations

from dataclasses import dataclass

from activities.github import sections
from activities.github.client import Host, HostUnreadable, Parsed, created, refusal
from activities.mutation import (
    Absent,
    Applied,
    Call,
    Conflicting,
    Found,
    Observed,
    Outcome,
    Refused,
    Unsettled,
)
from orchestrator.contracts import requests
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import FailureKind
from orchestrator.domain.operations import Guarantee

SECTION = "ending"


@dataclass
class CreateTicket:
    """Open an issue. GitHub itself enforces nothing; a host that announces keys does."""

    host: Host
    name: str = "create-ticket"
    queue: str = "tracker"

    @property
    def guarantee(self) -> Guarantee:
        """What this host enforces, as it announces itself."""
        return Guarantee.IDEMPOTENCY_KEY if self.host.has_keys() else Guarantee.NONE

    def perform(self, request: JsonObject, call: Call) -> Outcome:
        """Create it with the marker in its body: labels may be dropped silently, the body not."""
        wanted = requests.CreateTicket.model_validate(request)
        body = {
            "title": wanted.title,
            "body": sections.marked(wanted.body, call.marker),
        }
        path = f"/repos/{wanted.repository}/issues"
        answer = self.host.send("POST", path, body, name=self.name, key=call.marker)
        if not isinstance(answer, Parsed):
            return answer
        return created(answer, self.name) if answer.is_ok else refusal(answer, self.name)

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Look for the marker in all our issues, open and closed, every page."""
        wanted = requests.CreateTicket.model_validate(request)
        try:
            issues = self.host.read_all(
                f"/repos/{wanted.repository}/issues",
                state="all",
                creator=self.host.login(),
                sort="created",
                direction="desc",
            )
        except HostUnreadable as fault:
            return fault.as_observed()
        # A set: while pages are read, a new issue moves the last of one page onto the next.
        ours = {
            int(issue["number"])
            for issue in issues
            if "pull_request" not in issue and sections.carries(issue.get("body"), call.marker)
        }
        if len(ours) > 1:
            return Conflicting(f"{len(ours)} tickets carry the marker", {"numbers": sorted(ours)})
        for number in ours:
            return Found(str(number), {"number": number})
        return Absent("no ticket of ours carries the marker", conclusive=False)


@dataclass
class UpdateTicket:
    """Set our section of the ticket's body; what others wrote around it stays."""

    host: Host
    name: str = "update-ticket"
    queue: str = "tracker"
    guarantee: Guarantee = Guarantee.NATURAL

    def perform(self, request: JsonObject, call: Call) -> Outcome:
        """Read the body, set the section, write the body."""
        wanted = requests.UpdateTicket.model_validate(request)
        path = f"/repos/{wanted.repository}/issues/{wanted.number}"
        try:
            issue = self.host.read(path)
        except HostUnreadable as fault:
            return fault.before_sending()
        if issue is None:
            return Refused(FailureKind.PERMANENT, f"{wanted.repository} has no #{wanted.number}")
        text = sections.put(issue.get("body"), SECTION, wanted.section)
        answer = self.host.send("PATCH", path, {"body": text}, name=self.name)
        if not isinstance(answer, Parsed):
            return answer
        if not answer.is_ok:
            return refusal(answer, self.name)
        if not sections.says(answer.body.get("body"), SECTION, wanted.section):
            return Unsettled(f"{self.name}: the answer shows another section")
        return Applied(str(wanted.number))

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Compare our section with what was to be set."""
        wanted = requests.UpdateTicket.model_validate(request)
        try:
            issue = self.host.read(f"/repos/{wanted.repository}/issues/{wanted.number}")
        except HostUnreadable as fault:
            return fault.as_observed()
        if issue is not None and sections.says(issue.get("body"), SECTION, wanted.section):
            return Found(str(wanted.number))
        return Absent("the section says something else", conclusive=False)


@dataclass
class CloseTicket:
    """Set the ticket to closed, with a reason."""

    host: Host
    name: str = "close-ticket"
    queue: str = "tracker"
    guarantee: Guarantee = Guarantee.NATURAL

    def perform(self, request: JsonObject, call: Call) -> Outcome:
        """Close it."""
        wanted = requests.CloseTicket.model_validate(request)
        path = f"/repos/{wanted.repository}/issues/{wanted.number}"
        body = {"state": "closed", "state_reason": wanted.reason}
        answer = self.host.send("PATCH", path, body, name=self.name)
        if not isinstance(answer, Parsed):
            return answer
        return Applied(str(wanted.number)) if answer.is_ok else refusal(answer, self.name)

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Read its state."""
        wanted = requests.CloseTicket.model_validate(request)
        try:
            issue = self.host.read(f"/repos/{wanted.repository}/issues/{wanted.number}")
        except HostUnreadable as fault:
            return fault.as_observed()
        if issue and issue.get("state") == "closed":
            return Found(str(wanted.number))
        return Absent("the ticket is open", conclusive=False)
