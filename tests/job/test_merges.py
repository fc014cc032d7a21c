"""Repairable reports, whole, to a merge; heads and bases that move; secrets that stay put."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from sqlalchemy.engine import make_url

from cli.outside import shown_head
from sandbox.acceptance.check import check
from sandbox.host import tokens
from sandbox.reports import DEMO_SECRETS, REPORTS
from tests.support.whole import Whole

pytestmark = [pytest.mark.job, pytest.mark.timeout(600)]


def expect_merged(whole: Whole, run: str, report: str, folder: Path) -> None:
    """Assert the article's final assertions on a merged run, from the outside."""
    outside, tag = whole.outside(), whole.tag(run)
    [ticket] = outside.tickets(tag)
    assert (ticket["state"], len(outside.branches(tag))) == ("closed", 1)
    [pull] = outside.pulls(tag)
    assert pull["merged"] is True
    assert pull["head"]["sha"] == shown_head(pull)
    assert outside.environments(tag) == []
    clone = folder / report
    outside.clone(clone, pull["merge_commit_sha"])
    assert check(clone, report) == []


def test_a_fault_behind_a_sign_in_is_merged_although_the_answer_of_its_push_was_lost(
    whole: Whole, tmp_path: Path
) -> None:
    with whole.fault({"action": "drop_after", "method": "POST", "path": "git-receive-pack$"}):
        run = whole.submit(REPORTS["address"])
        shown = whole.end_approving(run)
    [push] = [each for each in whole.part(run, "operations") if each["activity"] == "push-branch"]
    assert push["settled_by"].startswith(("reconciler:", "worker:"))
    assert (shown["outcome"], shown["cleanup"]) == ("merged", "clean")
    expect_merged(whole, run, "address", tmp_path)


def test_nothing_waits_with_a_worker_while_a_person_decides(whole: Whole) -> None:
    run = whole.submit(REPORTS["total"])
    whole.wait_phase(run, "awaiting-review")
    assert whole.show(run)["status"] == "waiting"
    assert {step["status"] for step in whole.part(run, "steps")} == {"succeeded"}
    [approval] = whole.pending(run)
    scope = approval["scope"]
    state = whole.show(run)["state"]
    assert scope["head"] == state["publication"]["head"]
    assert scope["manifest_sha256"] == state["publication"]["manifest_sha256"]
    whole.decide(run, approval, "reject")
    assert whole.wait_ended(run)["outcome"] == "rejected"
    [pull] = whole.outside().pulls(whole.tag(run))
    assert (pull["state"], pull["merged"]) == ("closed", False)
    assert len(whole.outside().branches(whole.tag(run))) == 1


def test_a_base_that_moves_after_the_approval_leads_to_a_new_request_and_then_a_merge(
    whole: Whole, tmp_path: Path
) -> None:
    run = whole.submit(REPORTS["paging"])
    whole.wait_phase(run, "awaiting-review")
    [first] = whole.pending(run)
    moved = whole.move("main", "NEWS.md", "Somebody else was here.\n")
    whole.decide(run, first, "approve")
    whole.wait_phase(run, "awaiting-review")
    shown = whole.end_approving(run)
    assert shown["outcome"] == "merged"
    approvals = whole.part(run, "approvals")
    assert [each["status"] for each in approvals] == ["superseded", "used"]
    assert approvals[1]["scope"]["base_revision"] == moved
    expect_merged(whole, run, "paging", tmp_path)


def test_a_head_that_somebody_else_moves_is_never_merged_on_the_old_approval(
    whole: Whole,
) -> None:
    run = whole.submit(REPORTS["total"])
    whole.wait_phase(run, "awaiting-review")
    [first] = whole.pending(run)
    branch = whole.show(run)["state"]["publication"]["branch"]
    moved = whole.move(branch, "NOTES.md", "A person pushed this.\n")
    whole.decide(run, first, "approve")
    whole.wait_phase(run, "verifying-fix")
    whole.wait_phase(run, "awaiting-review")
    [second] = whole.pending(run)
    assert second["scope"]["head"] == moved
    assert whole.end_approving(run)["outcome"] == "merged"
    [pull] = whole.outside().pulls(whole.tag(run))
    assert pull["head"]["sha"] == moved


def test_the_canary_secrets_are_nowhere_but_where_they_belong(whole: Whole) -> None:
    """P19: the host's token and the sign-in's password."""
    canaries = [whole.where.host_tokens.of(tokens.BOT), *DEMO_SECRETS.values()]
    dump = everything_in_the_database(whole.where.dsn)
    for canary in canaries:
        assert canary.encode() not in dump
    allowed = {whole.home / "secrets.toml", whole.home / "host" / "tokens.json"}
    for file in whole.home.rglob("*"):
        if file.is_file() and file not in allowed and "postgres" not in file.parts:
            data = file.read_bytes()
            for canary in canaries:
                assert canary.encode() not in data, file


def everything_in_the_database(dsn: str) -> bytes:
    """Return the text of every row of every table."""
    url = make_url(dsn)
    rows: list[bytes] = []
    with psycopg.connect(
        host=url.host, port=url.port, user=url.username, password=url.password, dbname=url.database
    ) as connection:
        names = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        ).fetchall()
        for (name,) in names:
            found = connection.execute(f'SELECT t::text FROM "{name}" t').fetchall()
            rows += [str(row[0]).encode() for row in found]
    return b"\n".join(rows)
