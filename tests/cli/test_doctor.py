"""`outlast doctor`: each finding has a state, and what is missing says what to do."""

from __future__ import annotations

import json
from pathlib import Path

from cli.doctor import State, examine
from cli.settings import Settings
from tests.cli.conftest import Command
from tests.support.database import Databases, render
from tests.support.served import Served


def finding(what: str, home: Path, **given: str) -> tuple[State, str, str]:
    """Return state, detail and advice of one finding."""
    names = ("dsn", "host_url", "api_url")
    known = {name: given.get(name) for name in names}
    settings = Settings(home=home, token=None, policy={}, **known)
    [found] = [one for one in examine(settings) if one.what == what]
    return found.state, found.detail, found.advice


def test_it_prints_a_state_for_each_finding(command: Command) -> None:
    done = command.run("doctor", "--json")
    findings = json.loads(done.stdout)
    assert [one["what"] for one in findings] == [
        "Python",
        "PostgreSQL",
        "git",
        "browser",
        "sandbox",
        "data folder",
    ]
    states = {one["state"] for one in findings}
    assert states <= set(State)
    assert done.returncode == (1 if State.MISSING in states else 0)
    assert all(one["advice"] for one in findings if one["state"] != State.FOUND)


def test_what_is_missing_is_shown_with_advice_and_status_1(command: Command) -> None:
    done = command.with_(PATH="/nowhere", OUTLAST_API_URL="http://127.0.0.1:1").run("doctor")
    assert done.returncode == 1
    assert "install git" in done.stdout
    assert "correct OUTLAST_API_URL" in done.stdout


def test_a_data_folder_that_is_a_file_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    state, _, advice = finding("data folder", tmp_path / "file")
    assert (state, advice) == (State.MISSING, "set OUTLAST_HOME")


def test_a_database_is_found_bare_or_away(
    databases: Databases, template: str, tmp_path: Path
) -> None:
    with databases.lend("doctor", template) as whole, databases.lend("doctor") as bare:
        assert finding("database", tmp_path, dsn=render(whole))[0] is State.FOUND
        state, _, advice = finding("database", tmp_path, dsn=render(bare))
        assert (state, advice) == (State.MISSING, "`outlast db upgrade`")
        gone = render(bare)
    for dsn in (gone, "no dsn", "strange://x"):
        state, detail, advice = finding("database", tmp_path, dsn=dsn)
        assert state is State.MISSING
        assert "correct OUTLAST_DSN" in advice
        assert dsn not in detail


def test_an_api_or_host_is_found_or_away(served: Served, tmp_path: Path) -> None:
    assert finding("API", tmp_path, api_url=served.url)[0] is State.FOUND
    for what, name in (("API", "api_url"), ("git host", "host_url")):
        state, _, advice = finding(what, tmp_path, **{name: "http://127.0.0.1:1"})
        assert state is State.MISSING
        assert f"OUTLAST_{name.upper()}" in advice
