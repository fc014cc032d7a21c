"""What the application under test cannot see, write or reach."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable

import pytest

from activities.environment.provider import Environments, Prepared
from activities.environment.tiers import Tier

Prepare = Callable[..., Prepared]
CANARY = "canary-9f2c71"
bubblewrap_only = pytest.mark.parametrize("tier", [Tier.BUBBLEWRAP], indirect=True)


def ask(environments: Environments, prepared: Prepared, program: str) -> str:
    """Return what a piece of Python prints in the sandbox."""
    with environments.session(prepared) as session:
        return session.run(["{python}", "-c", program], 20).output.strip()


def test_the_environment_is_built_from_nothing(
    environments: Environments, prepare: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUTLAST_SECRET_HOST_TOKEN", CANARY)
    monkeypatch.setenv("SOME_TOKEN", CANARY)
    monkeypatch.setenv("PIP_INDEX_URL", f"https://user:{CANARY}@index.test/simple")
    program = "import json, os; print(json.dumps(dict(os.environ)))"
    seen = json.loads(ask(environments, prepare(), program))
    assert CANARY not in json.dumps(seen)
    assert "PYTHONPATH" not in seen
    assert {"PATH", "HOME", "CI", "OUTLAST_RUN_TAG"} <= set(seen)


def test_the_applications_modules_are_never_mistaken_for_ours(
    environments: Environments, prepare: Prepare
) -> None:
    prepared = prepare()
    for name in ("secrets", "json", "activities", "orchestrator"):
        (prepared.workspace / f"{name}.py").write_text("raise RuntimeError('imported')")
    with environments.session(prepared) as session:
        assert session.log_tail() == ""


@bubblewrap_only
def test_the_hosts_loopback_and_network_are_not_there(
    environments: Environments, prepare: Prepare
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        program = f"""
import socket
for place in (("127.0.0.1", {port}), ("192.0.2.1", 80)):
    try:
        socket.create_connection(place, timeout=5)
        print("reached")
    except OSError as fault:
        print("refused", end=" ")
"""
        assert ask(environments, prepare(), program) == "refused refused"


@bubblewrap_only
def test_nothing_but_the_attempts_own_folders_can_be_written_or_seen(
    environments: Environments, prepare: Prepare, run_tag: str
) -> None:
    prepared = prepare()
    (prepared.workspace / ".git").mkdir()
    (environments.home / "secrets.toml").write_text(f'HOST_TOKEN = "{CANARY}"')
    (environments.folder(run_tag) / "receipt.json").write_text("{}")
    program = f"""
from pathlib import Path
home, workspace = Path({str(environments.home)!r}), Path({str(prepared.workspace)!r})
def written(place):
    try:
        place.write_text("x")
        return True
    except OSError:
        return False
print((home / "secrets.toml").exists(), (home / "environments/{run_tag}/receipt.json").exists())
print(written(workspace / "own.txt"), written(Path.home() / "x"), written(Path("/tmp/x")))
print(written(workspace / ".git/config"), written(Path("/etc/x")), written(Path("/x")))
print(sorted(entry.name for entry in Path("/run").iterdir()))
"""
    lines = ask(environments, prepared, program).splitlines()
    assert lines == ["False False", "True True True", "False False False", "[]"]
    assert (environments.folder(run_tag) / "receipt.json").read_text() == "{}"


@bubblewrap_only
def test_other_processes_are_not_visible_and_no_power_is_left(
    environments: Environments, prepare: Prepare
) -> None:
    program = """
from pathlib import Path
pids = [int(e.name) for e in Path("/proc").iterdir() if e.name.isdigit()]
status = Path("/proc/self/status").read_text()
powers = [line.split()[1] for line in status.splitlines() if line.startswith("CapEff")]
print(len(pids) < 10, powers)
"""
    assert ask(environments, prepare(), program) == "True ['0000000000000000']"
