"""The acceptance check itself: what it notices, and what it leaves behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from orchestrator.clock import wait_for
from sandbox.acceptance import running as running_module
from sandbox.acceptance.check import NoAcceptance, check, read_acceptance
from sandbox.acceptance.running import CannotStart, install, read_recipe, running
from sandbox.acceptance.visiting import AcceptanceFile, ReadPage
from sandbox.reports import DEMO_SECRETS, REPORTS, UnknownReport

SERVING = """
import http.server, json, os

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"nonce": os.environ["OUTLAST_NONCE"]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Answer).serve_forever()
"""
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)" + SERVING

HOLDER = """
import sys
from pathlib import Path
from sandbox.acceptance.running import read_recipe, running

with running(read_recipe(Path(sys.argv[1]))) as address:
    print(address, flush=True)
    sys.stdin.read()
"""


def is_listening(address: str) -> bool:
    parts = urlsplit(address)
    with socket.socket() as probe:
        return probe.connect_ex((parts.hostname, parts.port)) == 0


def make_application(folder: Path, serve: str, more: str = "") -> Path:
    folder.mkdir()
    (folder / "serve.py").write_text(serve)
    (folder / ".outlast.toml").write_text(
        f"""
        {more}
        [start]
        command = ["{{python}}", "serve.py"]
        [ready]
        path = "/ready"
        timeout_s = 10
        [check]
        commands = [["{{python}}", "-c", "pass"]]
        """
    )
    return folder


def test_every_report_with_steps_has_an_acceptance_check() -> None:
    for name in REPORTS:
        if name == "vague":
            with pytest.raises(NoAcceptance):
                read_acceptance(name)
        else:
            assert read_acceptance(name).visits


def test_an_unknown_report_is_told_with_the_known_ones() -> None:
    with pytest.raises(UnknownReport, match="address, delivery, limit"):
        read_acceptance("nonsense")


def test_the_application_is_gone_afterwards(shop: Path) -> None:
    with running(read_recipe(shop)) as address:
        assert is_listening(address)
    assert not is_listening(address)


def test_an_application_that_ignores_being_asked_is_forced_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_module, "GRACE_S", 0.2)
    folder = make_application(tmp_path / "stubborn", STUBBORN)
    with running(read_recipe(folder)) as address:
        assert is_listening(address)
    assert not is_listening(address)


@pytest.mark.skipif(sys.platform != "linux", reason="the leash is Linux's parent-death signal")
def test_the_application_dies_with_its_starter(shop: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(shop)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert holder.stdout
    assert holder.stdin
    with holder.stdin, holder.stdout:
        address = holder.stdout.readline().strip()
        assert is_listening(address)
        holder.kill()
        assert holder.wait() == -signal.SIGKILL
    wait_for(lambda: not is_listening(address), 5, "the application to die with its starter")


def test_an_application_that_ends_at_once_is_a_problem_with_its_last_words(shop: Path) -> None:
    (shop / "shop" / "serve.py").write_text("raise SystemExit('no lamp oil')\n")
    problems = check(shop, "search")
    assert len(problems) == 1
    assert "starting failed" in problems[0]
    assert "no lamp oil" in problems[0]


def test_an_application_that_answers_for_another_start_is_not_ready(tmp_path: Path) -> None:
    served = SERVING.replace('os.environ["OUTLAST_NONCE"]', '"of yesterday"')
    folder = make_application(tmp_path / "stale", served)
    (folder / ".outlast.toml").write_text(
        (folder / ".outlast.toml").read_text().replace("timeout_s = 10", "timeout_s = 1")
    )
    assert "getting ready failed" in check(folder, "search")[0]


def test_a_failing_seed_is_a_problem(tmp_path: Path) -> None:
    more = '[seed]\ncommands = [["{python}", "-c", "raise SystemExit(\'no fixtures\')"]]'
    folder = make_application(tmp_path / "bare", SERVING, more)
    assert "seeding failed" in check(folder, "search")[0]
    assert "no fixtures" in check(folder, "search")[0]


def test_a_folder_without_an_outlast_file_is_a_problem(tmp_path: Path) -> None:
    assert ".outlast.toml" in check(tmp_path, "search")[0]


def test_an_install_that_runs_too_long_is_stopped(tmp_path: Path) -> None:
    waits = "import threading; threading.Event().wait()"
    more = f'[install]\ncommands = [["{{python}}", "-c", "{waits}"]]\ntimeout_s = 1'
    folder = make_application(tmp_path / "slow", SERVING, more)
    with pytest.raises(CannotStart, match="longer than 1 s"):
        install(read_recipe(folder))


def test_no_token_of_ours_reaches_the_application(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUTLAST_CANARY_TOKEN", "canary-7c1f")
    monkeypatch.setenv("PYTHONPATH", os.getcwd())
    more = (
        '[seed]\ncommands = [["{python}", "-c", "import os; '
        "raise SystemExit(' '.join(sorted(os.environ)))\"]]"
    )
    folder = make_application(tmp_path / "nosy", SERVING, more)
    told = check(folder, "search")[0]
    assert "DATA_DIR" in told
    assert "CANARY" not in told
    assert "PYTHONPATH" not in told


def test_a_wrong_secret_is_noticed(shop: Path) -> None:
    problems = check(shop, "address", {"SHOP_PASSWORD": "a guess"})
    assert any("status 401" in problem for problem in problems)
    assert not any("a guess" in problem for problem in problems)


def test_the_secrets_value_is_not_in_the_shops_repository(shop: Path) -> None:
    (value,) = DEMO_SECRETS.values()
    for file in shop.rglob("*"):
        if file.is_file() and ".deps" not in file.parts:
            assert value.encode() not in file.read_bytes()


def test_a_page_is_read_as_a_visitor_sees_it() -> None:
    page = ReadPage(
        "<title>no</title><p>Sum:\n <b>3&nbsp;&euro;</b></p><script>no()</script>"
        '<a href="/x?a=1&amp;b=2"> Go <i>on</i> </a><input name="city" value="A&amp;B">'
    )
    assert page.text == "Sum: 3 € Go on"
    assert page.links == {"Go on": "/x?a=1&b=2"}
    assert page.fields == {"city": "A&B"}


def test_a_step_with_two_requests_is_refused() -> None:
    step = {"open": "/", "send": "/"}
    with pytest.raises(ValueError, match="exactly one"):
        AcceptanceFile.model_validate(
            {"schema": 1, "about": "x", "visits": [{"name": "x", "steps": [step]}]}
        )
