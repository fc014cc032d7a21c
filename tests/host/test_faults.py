"""Every fault of the switchboard, as an HTTP client and as git see it."""

from __future__ import annotations

import json
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from orchestrator.clock import wait_for
from sandbox.host.bare import environment
from sandbox.host.tokens import BOT
from tests.host.conftest import Shop, client_of

ISSUE = {"title": "t"}
AFTER = ("drop_after", "error_after")


@pytest.fixture
def issues(shop: Shop) -> Any:
    """Yield a client that nobody judges: faults answer as no host should."""
    with client_of(shop.host, BOT, judged=False) as client:
        yield client


def on_issues(shop: Shop, action: str, **more: Any) -> dict[str, Any]:
    """Set a fault on the creation of issues."""
    return shop.set_fault(action=action, method="POST", path=f"^{shop.api}/issues$", **more)


def on_push(shop: Shop, action: str, **more: Any) -> dict[str, Any]:
    """Set a fault on pushes."""
    return shop.set_fault(
        action=action, method="POST", path=f"/{shop.name}.git/git-receive-pack", **more
    )


def wait_fired(shop: Shop, fault: dict[str, Any]) -> dict[str, Any]:
    """Return the fault once it has hit."""
    shown: dict[str, Any] = shop.admin.get(f"/outlast/faults/{fault['id']}?wait=fired").json()
    assert shown["fired"] >= 1, shown
    return shown


def count_issues(shop: Shop) -> int:
    """Count the repository's issues."""
    return len(shop.bot.get(f"{shop.api}/issues?state=all").json())


def last_entry(shop: Shop) -> dict[str, Any]:
    """Return the journal's last entry that changes something here."""
    return [one for one in shop.journal() if one["method"] == "POST"][-1]


def test_a_dropped_answer_is_a_lost_connection_after_the_effect(
    shop: Shop, issues: httpx.Client
) -> None:
    on_issues(shop, "drop_after")
    with pytest.raises(httpx.RemoteProtocolError):
        issues.post(f"{shop.api}/issues", json=ISSUE)
    entry = last_entry(shop)
    assert (entry["applied"], entry["delivered"], entry["fault"]) == (True, False, "drop_after")
    assert count_issues(shop) == 1


def test_a_cut_request_is_a_lost_connection_without_effect(
    shop: Shop, issues: httpx.Client
) -> None:
    on_issues(shop, "cut_before")
    with pytest.raises(httpx.RemoteProtocolError):
        issues.post(f"{shop.api}/issues", json=ISSUE)
    entry = last_entry(shop)
    assert (entry["applied"], entry["delivered"], entry["status"]) == (False, False, None)
    assert count_issues(shop) == 0


def test_an_error_after_the_effect_is_a_502_that_lies(shop: Shop, issues: httpx.Client) -> None:
    on_issues(shop, "error_after")
    assert issues.post(f"{shop.api}/issues", json=ISSUE).status_code == 502
    entry = last_entry(shop)
    assert (entry["applied"], entry["status"]) == (True, 502)
    assert count_issues(shop) == 1


def test_a_refusal_says_when_to_come_back_and_applies_nothing(
    shop: Shop, issues: httpx.Client
) -> None:
    on_issues(shop, "refuse", status=429, retry_after=7)
    refused = issues.post(f"{shop.api}/issues", json=ISSUE)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "7")
    assert count_issues(shop) == 0
    assert issues.post(f"{shop.api}/issues", json=ISSUE).status_code == 201


def test_a_held_answer_arrives_when_released(shop: Shop, issues: httpx.Client) -> None:
    fault = on_issues(shop, "hold_after")
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(issues.post, f"{shop.api}/issues", json=ISSUE)
        shown = wait_fired(shop, fault)
        entry = last_entry(shop)
        assert shown["held"] == [entry["ordinal"]]
        assert (entry["applied"], entry["delivered"], answer.done()) == (True, False, False)
        assert count_issues(shop) == 1
        shop.admin.post(f"/outlast/faults/{fault['id']}/release")
        assert answer.result(30).status_code == 201
    assert last_entry(shop)["delivered"] is True


def test_a_held_answer_can_be_dropped_instead(shop: Shop, issues: httpx.Client) -> None:
    fault = on_issues(shop, "hold_after")
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(issues.post, f"{shop.api}/issues", json=ISSUE)
        wait_fired(shop, fault)
        shop.admin.post(f"/outlast/faults/{fault['id']}/release", json={"how": "drop"})
        with pytest.raises(httpx.RemoteProtocolError):
            answer.result(30)
    assert last_entry(shop)["delivered"] is False


def test_a_request_in_flight_lands_after_its_client_has_left(shop: Shop) -> None:
    fault = on_issues(shop, "hold_before")
    body = json.dumps(ISSUE)
    head = (
        f"POST {shop.api}/issues HTTP/1.1\r\nHost: host\r\n"
        f"Authorization: Bearer {shop.host.tokens.of(BOT)}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", shop.host.port)) as client:
        client.sendall((head + body).encode())
        wait_fired(shop, fault)
    assert count_issues(shop) == 0
    shop.admin.post(f"/outlast/faults/{fault['id']}/release")
    wait_for(lambda: count_issues(shop) == 1, 30, "the issue of a client that left")
    wait_for(lambda: last_entry(shop)["status"] == 201, 30, "the answer that nobody takes")
    assert last_entry(shop)["delivered"] is False


def test_a_delayed_request_is_applied_after_all(shop: Shop, issues: httpx.Client) -> None:
    on_issues(shop, "delay", seconds=0.05)
    assert issues.post(f"{shop.api}/issues", json=ISSUE).status_code == 201
    assert (last_entry(shop)["fault"], last_entry(shop)["applied"]) == ("delay", True)


def test_a_stale_list_lacks_what_came_after_for_so_many_polls(shop: Shop) -> None:
    shop.branch("topic")
    shop.bot.post(f"{shop.api}/issues", json={"title": "before"})
    shop.set_fault(action="stale_list", method="GET", path=f"^{shop.api}/issues$", polls=2)
    shop.set_fault(action="stale_list", method="GET", path=f"^{shop.api}/pulls$")
    shop.bot.post(f"{shop.api}/issues", json={"title": "after"})
    shop.open_pull("topic")
    counts = [count_issues(shop) for _ in range(3)]
    pulls = [len(shop.bot.get(f"{shop.api}/pulls?state=all").json()) for _ in range(2)]
    assert (counts, pulls) == ([1, 1, 3], [0, 1])


def test_a_fault_hits_the_nth_request_and_so_many_after_it(
    shop: Shop, issues: httpx.Client
) -> None:
    fault = on_issues(shop, "refuse", nth=2, times=2, contains="wanted")
    codes = [
        issues.post(f"{shop.api}/issues", json={"title": title}).status_code
        for title in ("other", "wanted", "wanted", "other", "wanted", "wanted")
    ]
    assert codes == [201, 201, 503, 201, 503, 201]
    shown = shop.admin.get(f"/outlast/faults/{fault['id']}").json()
    assert (shown["seen"], shown["fired"]) == (4, 2)


def test_a_fault_is_waited_for_before_it_hits(shop: Shop, issues: httpx.Client) -> None:
    fault = on_issues(shop, "refuse")
    with ThreadPoolExecutor(1) as pool, client_of(shop.host, "host-admin", False) as admin:
        waiting = pool.submit(admin.get, f"/outlast/faults/{fault['id']}?wait=fired")
        issues.post(f"{shop.api}/issues", json=ISSUE)
        assert waiting.result(30).json()["fired"] == 1
    early = shop.admin.get(f"/outlast/faults/{on_issues(shop, 'refuse')['id']}")
    assert early.json()["fired"] == 0


def test_a_removed_fault_hits_nothing_and_lets_go_what_it_held(
    shop: Shop, issues: httpx.Client
) -> None:
    fault = on_issues(shop, "hold_after", times=9)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(issues.post, f"{shop.api}/issues", json=ISSUE)
        wait_fired(shop, fault)
        assert shop.admin.delete("/outlast/faults").json() == {"removed": 1}
        assert answer.result(30).status_code == 201
    assert issues.post(f"{shop.api}/issues", json=ISSUE).status_code == 201
    assert shop.admin.get("/outlast/faults").json() == []
    assert shop.admin.get(f"/outlast/faults/{fault['id']}").status_code == 404


def test_only_the_admin_uses_the_switchboard(shop: Shop, issues: httpx.Client) -> None:
    order = {"action": "drop_after"}
    assert issues.post("/outlast/faults", json=order).status_code == 403
    assert issues.get("/outlast/journal").status_code == 403
    assert issues.post("/outlast/move", json={}).status_code in (403, 422)
    nobody = httpx.get(f"{shop.host.url}/outlast/journal", trust_env=False)
    assert nobody.status_code == 401


def test_a_mistaken_order_is_refused_with_its_fault(shop: Shop) -> None:
    for order in (
        {"action": "none"},
        {"action": "refuse", "path": "("},
        {"action": "delay", "x": 1},
    ):
        assert shop.admin.post("/outlast/faults", json=order).status_code == 422


@pytest.mark.parametrize("action", AFTER)
def test_a_push_whose_answer_is_lost_has_landed(shop: Shop, action: str) -> None:
    sha = shop.branch("topic")
    on_push(shop, action)
    pushed = shop.push(f"{sha}:refs/heads/new")
    assert (pushed.returncode, "refs/heads/new" in pushed.stdout) == (1, False), pushed.stdout
    assert shop.bare.tip("new") == sha
    entry = last_entry(shop)
    assert (entry["applied"], entry["fault"], entry["refs"][0]["result"]) == (True, action, "ok")
    again = shop.push("--force-with-lease=refs/heads/new:", f"{sha}:refs/heads/new")
    assert (again.returncode, "[up to date]" in again.stdout) == (0, True)


@pytest.mark.parametrize("action", ["cut_before", "refuse"])
def test_a_push_that_was_not_applied_looks_the_same_to_git(shop: Shop, action: str) -> None:
    sha = shop.branch("topic")
    on_push(shop, action)
    pushed = shop.push(f"{sha}:refs/heads/new")
    assert (pushed.returncode, "refs/heads/new" in pushed.stdout) == (1, False), pushed.stdout
    assert shop.bare.tip("new") is None
    assert (last_entry(shop)["applied"], last_entry(shop)["refs"]) == (False, [])


def test_a_held_push_has_landed_before_git_hears_of_it(shop: Shop) -> None:
    sha = shop.branch("topic")
    fault = on_push(shop, "hold_after")
    argv = ("git", "push", "--porcelain", shop.remote(), f"{sha}:refs/heads/new")
    with subprocess.Popen(
        argv, cwd=shop.folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as pushing:
        wait_fired(shop, fault)
        assert (shop.bare.tip("new"), pushing.poll()) == (sha, None)
        shop.admin.post(f"/outlast/faults/{fault['id']}/release")
        output, _ = pushing.communicate(timeout=30)
    assert (pushing.returncode, b"[new branch]" in output) == (0, True)


def test_a_push_in_flight_lands_after_git_was_killed(shop: Shop) -> None:
    sha = shop.branch("topic")
    fault = on_push(shop, "hold_before")
    argv = ("git", "push", "--quiet", shop.remote(), f"{sha}:refs/heads/new")
    with subprocess.Popen(argv, cwd=shop.folder, env=environment()) as pushing:
        wait_fired(shop, fault)
        pushing.kill()
    assert shop.bare.tip("new") is None
    shop.admin.post(f"/outlast/faults/{fault['id']}/release")
    wait_for(lambda: shop.bare.tip("new") == sha, 30, "the push whose sender is dead")


def test_a_delayed_push_lands_after_all(shop: Shop) -> None:
    sha = shop.branch("topic")
    on_push(shop, "delay", seconds=0.05)
    assert shop.push(f"{sha}:refs/heads/new").returncode == 0
    assert (last_entry(shop)["fault"], shop.bare.tip("new")) == ("delay", sha)
