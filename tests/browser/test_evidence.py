"""What a run leaves behind: pictures, a trace, what page and application said; and no secret."""

from __future__ import annotations

import hashlib
import io
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from activities.browser.fence import Fence
from activities.browser.masking import mask, mask_trace
from activities.environment.provider import Environments, Prepared, made_inside
from orchestrator.contracts.evidence import ArtifactRef, ReplayEvidence
from orchestrator.contracts.procedure import Procedure
from orchestrator.domain.failures import ActivityFailed, FailureKind
from tests.support.sentences import click, fill, fill_secret, go, shows

Replay = Callable[..., ReplayEvidence]
PASSWORD = 'pass&word "canary" 5e1f'
ODD_PASSWORD = "pass it's ~a/b+c\\ü 100% canary"
SESSION = "session-14133"
SEED_THAT_REMEMBERS = """
import pathlib, sys
server = pathlib.Path("server.py")
if pathlib.Path("remembered").exists():
    sys.exit("." * 990 + pathlib.Path("remembered").read_text())
source = server.read_text().replace(
    'log("." *', 'Path("remembered").write_text(form["password"]); log("." *'
)
server.write_text(source)
"""
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


@pytest.mark.parametrize("password", [PASSWORD, ODD_PASSWORD])
def test_a_sign_in_by_a_secrets_name_leaves_neither_the_secret_nor_the_session(
    replay: Replay, environments: Environments, password: str
) -> None:
    evidence = replay(SIGN_IN, [shows("Hello ada")], secrets={"SITE_PASSWORD": password})
    assert evidence.verdict == "passed"
    run = evidence.runs[0]
    assert "[secret]" in " ".join(run.console)
    assert "[secret]" in run.application_log_tail
    trace = members(environments, run.artifacts[0])
    assert b"Sign in" in trace["trace.trace"]
    kept = b"\0".join(trace.values()) + evidence.model_dump_json().encode() + _files(environments)
    for canary in (password[:6], "pass%26word", "pass&amp;", "canary", SESSION):
        at = kept.find(canary.encode())
        assert at < 0, (canary, kept[max(0, at - 150) : at + 60])


def test_a_secret_is_taken_out_before_a_text_is_cut(
    replay: Replay, environments: Environments
) -> None:
    evidence = replay(SIGN_IN[:-1], [shows("never")], secrets={"SITE_PASSWORD": PASSWORD})
    observed = evidence.runs[0].steps[-1].observed
    assert observed.startswith("....")
    kept = evidence.model_dump_json().encode() + _files(environments)
    for part in (PASSWORD[:6], "canary", PASSWORD[-4:]):
        assert part.encode() not in kept


def test_an_application_that_remembers_a_secret_and_dies_of_it_does_not_tell_it(
    environments: Environments, prepared: Prepared
) -> None:
    (prepared.workspace / "seed.py").write_text(SEED_THAT_REMEMBERS)
    sign_in = {"id": "s", **go("/sign-in")}, {"id": "u", **fill("Username", "ada")}
    secret = {"id": "p", **fill_secret("Password", "SITE_PASSWORD")}
    procedure = Procedure.model_validate(
        {
            "title": "t",
            "steps": [*sign_in, secret, {"id": "c", **click("Sign in")}],
            "expectations": [{"id": "e", **shows("You are ada")}],
            "secrets": ["SITE_PASSWORD"],
            "repeat": 2,
        }
    )
    with pytest.raises(ActivityFailed, match="seeding failed") as failed:
        environments.replay(prepared, procedure, {"SITE_PASSWORD": PASSWORD})
    assert "[secret]" in failed.value.reason
    assert "canary" not in failed.value.reason


@pytest.mark.parametrize("harm", ["link", "other", "gone"])
def test_a_picture_that_was_changed_in_the_sandbox_is_not_kept(
    environments: Environments, prepared: Prepared, harm: str
) -> None:
    (environments.home / "secrets.toml").write_text("canary")
    sha256 = hashlib.sha256(b"picture").hexdigest()
    made = prepared.workspace / sha256
    if harm == "link":
        made.symlink_to(environments.home / "secrets.toml")
    if harm == "other":
        made.write_bytes(b"another picture")
    ref = ArtifactRef(sha256=sha256, kind="screenshot", name="run-1-s.png", size=7)
    with pytest.raises(ActivityFailed, match=r"run-1-s\.png could not be kept") as failed:
        made_inside(prepared.workspace, ref)
    assert failed.value.kind is FailureKind.ENVIRONMENTAL


@pytest.mark.parametrize("named", ["../secrets.toml", "/etc/hostname", ""])
def test_a_picture_is_named_by_its_hash_alone(prepared: Prepared, named: str) -> None:
    ref = ArtifactRef(sha256=named, kind="screenshot", name="run-1-s.png", size=7)
    with pytest.raises(ActivityFailed, match="could not be kept"):
        made_inside(prepared.workspace, ref)


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


@pytest.mark.parametrize(
    ("secret", "written"),
    [
        ("a b/c", "a%20b%2Fc"),
        ("a b/c", "a+b%2fc"),
        ("it's ~a", "it's%20~a"),
        ("it's ~a", "it%27s+%7Ea"),
        ('say "it\'s"', "say &#34;it&#39;s&#34;"),
        ('say "it"', "say &quot;it&quot;"),
        ("a\\b", "a\\\\b"),
        ("two  spaces", "two spaces"),
        ("first line\nsecond line", "> second line"),
        ("first line\nsecond line", "first line second line"),
    ],
)
def test_a_secret_is_masked_however_it_was_written(secret: str, written: str) -> None:
    assert mask(f"[{written}]", [secret]) in ("[[secret]]", "[> [secret]]")


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
