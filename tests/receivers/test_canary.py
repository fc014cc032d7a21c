"""The host's token: in the header of a request and in git's environment, and nowhere else (P19)."""

from __future__ import annotations

import base64
import contextlib
import logging
import traceback
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from activities.git import command
from activities.git.mirror import Remote, mirrored, read_ref
from activities.github.client import Host, HostUnreadable
from activities.github.tickets import CreateTicket
from activities.mutation import Applied
from activities.secrets import SecretSource
from orchestrator import seam
from orchestrator.domain.failures import ActivityFailed
from tests.support.canned import Said, answering
from tests.support.desk import REPOSITORY, TICKET, Desk, call

PUSH = {"method": "POST", "path": "git-receive-pack$"}
FAULTS = ("cut_before", "drop_after", "error_after", "refuse")


def forms(token: str) -> tuple[str, ...]:
    """Return the token as it is and as git is told it."""
    return token, base64.b64encode(f"x-access-token:{token}".encode()).decode()


def texts_of(fault: BaseException) -> str:
    """Return all that a log would show of a fault, with its causes and their words."""
    return "".join(traceback.format_exception(fault)) + repr(fault)


def everything_below(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield every file that may not hold the token."""
    allowed = {"secrets.toml", "tokens.json"}
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in allowed:
            yield path, path.read_bytes()


@pytest.mark.parametrize("action", FAULTS)
def test_no_fault_of_the_host_makes_anybody_say_the_token(
    desk: Desk, action: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    said: list[str] = []
    seam.watch(lambda *crossed: said.append(repr(crossed)))
    push = desk.push_request(f"repair/canary-{action.replace('_', '-')}")
    try:
        desk.fault(action, "POST", "/issues$")
        said.append(repr(CreateTicket(desk.host).perform(TICKET, call(action))))
        desk.fault(action, **PUSH)
        said.append(repr(desk.push().perform(push, call(action))))
        desk.fault(action, "GET", "/user$")
        with pytest.raises(HostUnreadable) as unread:
            desk.host.read("/user")
        desk.fault(action, "GET", "/info/refs")
        with pytest.raises(ActivityFailed) as failed:
            read_ref(desk.remote, REPOSITORY, "refs/heads/main")
        said += [texts_of(unread.value), texts_of(failed.value)]
    finally:
        seam.watch(None)
    for form in forms(desk.token):
        assert form not in "".join(said) + caplog.text
    assert repr(desk.host).find(desk.token) == repr(desk.remote).find(desk.token) == -1


@pytest.mark.parametrize("token", ["kanari token", "kanari\\nvalue", "kanäri"])
def test_a_token_that_no_header_carries_is_not_quoted(
    desk: Desk, tmp_path: Path, token: str
) -> None:
    (tmp_path / "s.toml").write_text(f'HOST_TOKEN = "{token}"\n', encoding="utf-8")
    host = Host(desk.process.url, SecretSource(tmp_path / "s.toml"))
    outcome = CreateTicket(host).perform(TICKET, call("q"))
    with pytest.raises(HostUnreadable) as raised:
        host.read("/user")
    assert "kan" not in repr(outcome) + texts_of(raised.value)


def test_no_command_line_carries_the_token_while_git_pushes(desk: Desk) -> None:
    push = desk.push_request("repair/argv")
    fault = desk.fault("hold_before", **PUSH)
    seen: list[list[str]] = []
    with desk.aside(lambda: desk.push().perform(push, call("argv"))):
        desk.admin("GET", f"/outlast/faults/{fault}?wait=fired")
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                seen.append(process.cmdline())
        desk.admin("POST", f"/outlast/faults/{fault}/release")
    words = "\n".join(" ".join(line) for line in seen)
    assert "push --porcelain" in words
    assert "remote-http" in words
    for form in forms(desk.token):
        assert form not in words


def test_no_file_of_ours_or_of_the_host_holds_the_token(desk: Desk) -> None:
    push = desk.push_request("repair/files")
    assert isinstance(desk.push().perform(push, call("files")), Applied)
    assert isinstance(CreateTicket(desk.host).perform(TICKET, call("files")), Applied)
    looked = 0
    for path, content in everything_below(desk.folder):
        looked += 1
        for form in forms(desk.token):
            assert form.encode() not in content, path
    assert looked > 50


def test_git_does_not_show_the_token_to_where_it_is_sent_on(desk: Desk, tmp_path: Path) -> None:
    there: list[str] = []

    def elsewhere(_method: str, path: str) -> Said:
        there.append(path)
        return Said(404, "")

    with answering(elsewhere) as other:

        def leads_on(_method: str, path: str) -> Said:
            return Said(302, "", {"Location": f"{other}{path}"})

        with answering(leads_on) as url:
            remote = Remote(url, desk.remote.secrets)
            with pytest.raises(ActivityFailed):
                read_ref(remote, REPOSITORY, "refs/heads/main")
            with pytest.raises(ActivityFailed), mirrored(remote, REPOSITORY, tmp_path):
                pass
    assert there == []


def test_the_environment_of_git_has_nothing_of_ours_but_the_header(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OUTLAST_SECRET_OTHER", "GIT_TRACE_CURL", "GIT_ASKPASS", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "canary")
    assert "canary" not in command.environment(command.with_token("t")).values()
