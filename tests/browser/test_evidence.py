"""What a run leaves behind: pictures, a trace, what page and application said; and no secret."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from activities.browser.fence import Fence
from activities.browser.masking import mask, mask_trace
from activities.environment.provider import Environments, Prepared
from orchestrator.contracts.evidence import ArtifactRef, ReplayEvidence
from orchestrator.contracts.procedure import Procedure
from orchestrator.domain.failures import ActivityFailed, FailureKind
from tests.support.sentences import click, fill, fill_secret, go, shows

Replay = Callable[..., ReplayEvidence]
PASSWORD = 'pass&word "canary" 5e1f'
SESSION = "session-14133"
SIGN_IN = [
    go("/sign-in"),
    fill("Username", "ada"),
    fill_secret("Password", "SITE_PASSWORD"),
    click("Sign in"),
    click("On"),
]


def members(environments: Environments, ref: ArtifactRef) -> dict[str, bytes]:
    """Return the members of a stored trace."""
    with zipfile.ZipFile(io.BytesIO(environments.artifacts.read(ref.sha256))) as trace:
        return {name: trace.read(name) for name in trace.namelist()}


def test_every_step_has_a_picture_and_every_run_a_trace(
    replay: Replay, environments: Environments
) -> None:
    run = replay([go("/form"), click("Order")], [shows("never")]).runs[0]
    pictures = [environments.artifacts.read(s.screenshot.sha256) for s in run.steps if s.screenshot]
    assert len(pictures) == len(run.steps) == 3
    assert all(picture.startswith(b"\x89PNG") for picture in pictures)
    assert [ref.kind for ref in run.artifacts] == ["trace"]
    assert {"trace.trace", "trace.network"} <= set(members(environments, run.artifacts[0]))


def test_what_page_and_application_say_is_kept(replay: Replay) -> None:
    run = replay([go("/noisy"), go("/noisy")], [shows("Noise")]).runs[0]
    assert "error: a complaint" in run.console
    assert "log: fenced" in run.console
    assert any("boom" in line for line in run.page_errors)
    assert "GET /missing 404" in run.bad_responses
    assert "GET /noisy 200" in run.requests
    assert run.page_text == "Noise"
    assert "log: serving" in run.application_log_tail
    assert not any("elsewhere" in line or "pixel" in line for line in run.requests)


def test_a_sign_in_by_a_secrets_name_leaves_neither_the_secret_nor_the_session(
    replay: Replay, environments: Environments
) -> None:
    evidence = replay(SIGN_IN, [shows("Hello ada")], secrets={"SITE_PASSWORD": PASSWORD})
    assert evidence.verdict == "passed"
    run = evidence.runs[0]
    assert "[secret]" in " ".join(run.console)
    assert "[secret]" in run.application_log_tail
    trace = members(environments, run.artifacts[0])
    assert b"Sign in" in trace["trace.trace"]
    kept = b"\0".join(trace.values()) + evidence.model_dump_json().encode() + _files(environments)
    for canary in (PASSWORD, "pass%26word", r"pass&word \"canary\"", "canary", SESSION):
        at = kept.find(canary.encode())
        assert at < 0, (canary, kept[max(0, at - 150) : at + 60])


def test_a_secret_that_was_not_given_is_named_before_anything_is_played(
    environments: Environments, prepared: Prepared
) -> None:
    procedure = Procedure.model_validate(
        {
            "title": "t",
            "steps": [{"id": "s", **fill_secret("Password", "SITE_PASSWORD")}],
            "expectations": [{"id": "e", **shows("x")}],
            "secrets": ["SITE_PASSWORD"],
        }
    )
    with pytest.raises(ActivityFailed, match="SITE_PASSWORD") as failed:
        environments.replay(prepared, procedure, {})
    assert failed.value.kind is FailureKind.PERMANENT


def test_progress_is_told_while_it_plays_and_a_wish_to_stop_is_obeyed(
    environments: Environments, prepared: Prepared
) -> None:
    stop, told = threading.Event(), []

    def progress(said: dict[str, object]) -> None:
        told.append(said)
        if said.get("run") == 2:
            stop.set()

    procedure = Procedure.model_validate(
        {
            "title": "t",
            "steps": [{"id": "s", **go("/form")}],
            "expectations": [{"id": "e", **shows("Order desk")}],
        }
    )
    with pytest.raises(ActivityFailed, match="stopped as told"):
        environments.replay(prepared, procedure, {}, progress=progress, stop=stop)
    assert {"run": 1, "of": 3} in told
    assert {"run": 2, "of": 3} in told


@pytest.mark.parametrize(
    ("url", "passes"),
    [
        ("http://127.0.0.1:8000/x", True),
        ("ws://127.0.0.1:8000/x", True),
        ("data:text/plain,x", True),
        ("http://127.0.0.1:80001/x", False),
        ("http://127.0.0.1:8000@elsewhere.test/", False),
        ("http://127.0.0.1/", False),
        ("https://elsewhere.test/", False),
    ],
)
def test_only_the_applications_own_address_is_let_through(url: str, passes: bool) -> None:
    assert Fence("http://127.0.0.1:8000").lets_through(url) is passes


def test_a_secret_is_masked_in_every_form_and_short_words_stay() -> None:
    assert mask("a=p%26q&b=p&q", ["p&q"]) == "a=[secret]&b=[secret]"
    assert mask("an ox", ["x"]) == "an ox"


def test_a_trace_without_secrets_still_loses_cookies_and_authorisations(tmp_path: Path) -> None:
    line = (
        '{"headers": [{"name": "Authorization", "value": "Bearer abc"},'
        ' {"name": "Accept", "value": "all"}], "cookies": [{"name": "s", "value": "abc"}]}'
    )
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as made:
        made.writestr("trace.network", line + "\n")
    masked = mask_trace((tmp_path / "t.zip").read_bytes(), [])
    with zipfile.ZipFile(io.BytesIO(masked)) as read:
        content = read.read("trace.network").decode()
    assert "abc" not in content
    assert '"value": "all"' in content


def _files(environments: Environments) -> bytes:
    """Return every byte that lies in the data folder."""
    return b"\0".join(path.read_bytes() for path in environments.home.rglob("*") if path.is_file())
