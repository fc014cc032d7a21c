"""What cannot be done ends with status 2 and one line that says what to do next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.client import ACCESS, ApiRefused, ApiUnreachable, Client
from cli.settings import NotConfigured, Settings
from tests.cli.conftest import Command, Inside
from tests.support.served import TOKENS, Served


def settings(home: Path, url: str | None = None, token: str | None = None) -> Settings:
    """Return settings with these alone."""
    return Settings(home, None, None, url, token, {})


def test_without_settings_it_names_them(command: Command) -> None:
    said = command.refusal("runs")
    assert all(name in said for name in ("OUTLAST_API_URL", "OUTLAST_TOKEN", "outlast up"))


def test_an_api_that_is_not_there_is_named(command: Command) -> None:
    away = command.with_(OUTLAST_API_URL="http://127.0.0.1:1").as_("operator")
    said = away.refusal("runs", "--json")
    assert all(word in said for word in ("http://127.0.0.1:1", "ConnectError", "outlast up"))


def test_a_wrong_token_is_refused(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTLAST_TOKEN", "canary")
    said = inside.refusal("show", "bug-repair-1")
    assert "token-unknown" in said
    assert "ask for a new one" in said
    assert "canary" not in said


def test_a_wrong_role_is_named(inside: Inside, served: Served) -> None:
    run, _ = served.awaiting()
    said = inside.as_("submitter").refusal("approve", run, "--yes")
    assert "needs the role reviewer" in said


def test_a_run_that_is_not_there_is_named(inside: Inside) -> None:
    said = inside.as_("operator").refusal("watch", "bug-repair-999", "--json")
    assert "no run bug-repair-999; list the runs" in said


def test_a_report_that_cannot_be_read_or_is_empty_is_named(inside: Inside, tmp_path: Path) -> None:
    submitter, there = inside.as_("submitter"), ("--repository", "demo/shop")
    assert "name a text file" in submitter.refusal("submit", str(tmp_path / "none.md"), *there)
    empty = tmp_path / "empty.md"
    empty.write_text(" \n")
    assert "body.text" in submitter.refusal("submit", str(empty), *there)


class TestClient:
    """The part that talks, in this process."""

    def test_what_up_left_serves_each_role_at_its_own_api(
        self, served: Served, tmp_path: Path
    ) -> None:
        left = {"api": served.url, "tokens": {"operator": TOKENS["operator"]}}
        (tmp_path / ACCESS).write_text(json.dumps(left))
        for url in (None, served.url):
            client = Client.of(settings(tmp_path, url), "operator")
            assert "runs" in client.get("/v1/runs")
            client.close()

    def test_no_other_address_is_sent_a_token_that_up_left(self, tmp_path: Path) -> None:
        left = {"api": "http://127.0.0.1:1", "tokens": {"operator": TOKENS["operator"]}}
        (tmp_path / ACCESS).write_text(json.dumps(left))
        with pytest.raises(NotConfigured, match="OUTLAST_TOKEN"):
            Client.of(settings(tmp_path, "http://127.0.0.1:2"), "operator")

    def test_what_up_left_may_be_damaged(self, tmp_path: Path) -> None:
        (tmp_path / ACCESS).write_text("{")
        with pytest.raises(NotConfigured, match="outlast up"):
            Client.of(settings(tmp_path), "operator")

    @pytest.mark.parametrize("url", ["127.0.0.1:1", "ftp://127.0.0.1", "http://127.0.0.1:1"])
    def test_an_address_that_cannot_be_asked_is_named(self, url: str) -> None:
        client = Client(url, "token")
        with pytest.raises(ApiUnreachable, match="OUTLAST_API_URL"):
            client.get("/v1/runs")
        client.close()

    @pytest.mark.parametrize("token", ["a\nb", "tökén"])
    def test_a_token_that_no_header_carries_is_refused_unsaid(self, token: str) -> None:
        with pytest.raises(NotConfigured, match="OUTLAST_TOKEN") as refused:
            Client("http://127.0.0.1:1", token)
        assert token not in str(refused.value)

    def test_an_answer_that_is_not_from_the_api_is_said_to_be_so(self, served: Served) -> None:
        client = Client(served.url, TOKENS["operator"])
        with pytest.raises(ApiUnreachable, match="not from this API"):
            client.get("/docs")
        client.close()

    def test_a_typed_run_stays_one_part_of_the_path(self, inside: Inside, served: Served) -> None:
        run = served.submitted()
        said = inside.as_("operator").refusal("show", f"{run}?status=", "--json")
        assert f"no run {run}?status=" in said

    def test_a_download_that_is_refused_is_a_problem(self, served: Served) -> None:
        client = Client(served.url, TOKENS["operator"])
        with pytest.raises(ApiRefused, match="run-not-found") as refused:
            client.download(f"/v1/runs/none/artifacts/{'a' * 64}")
        assert refused.value.status == 404
        client.close()
