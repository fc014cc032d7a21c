"""Runs that are cancelled, and runs that cannot work: each ends honestly and leaves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.client import ApiRefused
from orchestrator.clock import wait_for
from orchestrator.contracts.payload import JsonObject
from sandbox.app_repository import build
from sandbox.reports import REPORTS
from tests.support.whole import Whole

pytestmark = [pytest.mark.job, pytest.mark.timeout(600)]

NEVER_READY = """
[outlast]
schema = 1
name = "never ready"
[start]
command = ["{python}", "-c", "import threading; threading.Event().wait()"]
[ready]
path = "/ready"
timeout_s = 2
[check]
commands = [["{python}", "-c", "pass"]]
[source]
paths = ["app"]
"""


def seed(whole: Whole, folder: Path, name: str, files: dict[str, str]) -> str:
    """Put a repository of these files on the host; return its name."""
    source, built = folder / f"{name}-source", folder / name
    source.mkdir()
    for path, text in files.items():
        (source / path).write_text(text)
    build(source, built)
    repository = f"demo/{name}"
    whole.admin("POST", "/outlast/repositories", {"repository": repository, "source": str(built)})
    return repository


def submit_to(whole: Whole, repository: str) -> JsonObject:
    """Submit a report with steps for a repository and wait for its end."""
    return whole.wait_ended(whole.submit(REPORTS["search"], repository=repository))


def test_a_cancel_in_the_middle_of_a_browser_run_ends_its_processes_and_cleans(
    whole: Whole,
) -> None:
    run = whole.submit(REPORTS["total"])

    def is_playing() -> bool:
        return any(
            step["name"] == "reproduce" and step["status"] == "leased" and step["substate"]
            for step in whole.part(run, "steps")
        )

    wait_for(is_playing, 120, "the browser to play", every=0.1)
    assert whole.outside().environments(whole.tag(run)) != []
    said = whole.client("operator").post(f"/v1/runs/{run}/cancel", {"reason": "a test"})
    assert said["result"] == "accepted"
    shown = whole.wait_ended(run)
    assert (shown["outcome"], shown["cleanup"]) == ("cancelled", "clean")
    assert whole.outside().environments(whole.tag(run)) == []
    [ticket] = whole.outside().tickets(whole.tag(run))
    assert "cancelled" in ticket["body"]
    assert {each["status"] for each in whole.part(run, "resources")} == {"gone"}


def test_a_cancel_during_the_review_closes_the_draft_and_keeps_the_branch(whole: Whole) -> None:
    run = whole.submit(REPORTS["total"])
    whole.wait_phase(run, "awaiting-review")
    whole.client("operator").post(f"/v1/runs/{run}/cancel", {})
    shown = whole.wait_ended(run)
    assert (shown["outcome"], shown["cleanup"]) == ("cancelled", "clean")
    [pull] = whole.outside().pulls(whole.tag(run))
    assert (pull["state"], pull["merged"]) == ("closed", False)
    assert len(whole.outside().branches(whole.tag(run))) == 1


def test_an_approval_after_the_end_is_refused_and_changes_nothing(whole: Whole) -> None:
    run = whole.submit(REPORTS["total"])
    whole.wait_phase(run, "awaiting-review")
    [approval] = whole.pending(run)
    whole.client("operator").post(f"/v1/runs/{run}/cancel", {})
    whole.wait_ended(run)
    with pytest.raises(ApiRefused, match="superseded"):
        whole.decide(run, approval, "approve")
    [pull] = whole.outside().pulls(whole.tag(run))
    assert pull["merged"] is False


def test_an_unknown_repository_ends_in_a_persons_hands_and_says_why(whole: Whole) -> None:
    shown = submit_to(whole, "demo/nowhere")
    assert shown["outcome"] == "needs-human-review"
    assert "404" in shown["reason"]


def test_a_repository_without_its_file_is_told_what_to_write(whole: Whole, tmp_path: Path) -> None:
    repository = seed(whole, tmp_path, "plain", {"README.md": "nothing\n"})
    shown = submit_to(whole, repository)
    assert shown["outcome"] == "needs-human-triage"
    assert "no .outlast.toml" in shown["reason"]


def test_an_application_that_never_gets_ready_ends_honestly_with_nothing_left_running(
    whole: Whole, tmp_path: Path
) -> None:
    repository = seed(whole, tmp_path, "sleepy", {".outlast.toml": NEVER_READY})
    shown = submit_to(whole, repository)
    assert shown["outcome"] == "needs-human-triage"
    assert "did not get ready" in shown["reason"]
    assert whole.outside().environments(whole.tag(shown["id"])) == []


def test_a_lost_artifact_is_a_named_error_and_not_an_empty_file(whole: Whole) -> None:
    run = whole.wait_ended(whole.submit(REPORTS["vague"], text=REPORTS["search"].text))["id"]
    row = whole.part(run, "evidence")[0]
    (whole.home / "artifacts" / row["sha256"][:2] / row["sha256"]).write_bytes(b"damaged")
    with pytest.raises(ApiRefused, match="artifact-unreadable"):
        whole.client("operator").download(f"/v1/runs/{run}/artifacts/{row['sha256']}")


def test_no_process_or_folder_of_any_run_is_left(whole: Whole) -> None:
    runs = whole.client("operator").get("/v1/runs")["runs"]
    assert len(runs) >= 6
    outside = whole.outside()
    assert [outside.environments(whole.tag(run["id"])) for run in runs] == [[]] * len(runs)
