"""What is answered is kept: SIGKILL, restart, and changes that the kill cut in two."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from orchestrator.clock import wait_for
from sandbox.host.bare import Bare
from sandbox.host.seed import CannotSeed, seed
from sandbox.host.server import FolderInUse, serve
from sandbox.host.store import Store
from sandbox.host.tokens import BOT, LOGINS, UnreadableTokens, ensure
from tests.host.conftest import client_of, commit, git
from tests.support.host import Host, running_host

API = "/repos/demo/shop"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a git folder with two branches, one commit apart."""
    folder = tmp_path / "source"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=trunk")
    commit(folder, "page.txt", "first\n")
    git(folder, "checkout", "--quiet", "-b", "topic")
    commit(folder, "page.txt", "second\n")
    git(folder, "checkout", "--quiet", "trunk")
    return folder


@pytest.fixture
def shop_host(tmp_path: Path, source: Path) -> Iterator[Host]:
    """Yield a host of this test alone, its repository seeded before the start."""
    folder = tmp_path / "host"
    seed(folder, "demo/shop", source)
    with running_host(folder) as host:
        yield host


def restart(host: Host) -> None:
    """Kill the host and start it again at the same address."""
    host.kill()
    host.start()


def read(host: Host, path: str) -> Any:
    """Return what the bot reads."""
    with client_of(host, BOT) as bot:
        return bot.get(path).json()


def cut_in_two(host: Host, stage: str, method: str, path: str, body: dict[str, str]) -> None:
    """Kill the host while git is at that stage of the ref's change; git ends afterwards.

    At `prepared` git then gives up, at `committed` the ref has moved.
    """
    bare = Bare(host.folder / "repositories" / "demo" / "shop.git")
    pipe = host.folder / "pipe"
    os.mkfifo(pipe)
    hook = bare.path / "hooks" / "reference-transaction"
    code = 1 if stage == "prepared" else 0
    hook.write_text(f'#!/bin/sh\n[ "$1" = {stage} ] || exit 0\nread _ < "{pipe}"\nexit {code}\n')
    hook.chmod(0o755)
    with ThreadPoolExecutor(1) as pool, client_of(host, BOT, judged=False) as bot:
        headers = {"Idempotency-Key": "cut"}
        answer: Future[httpx.Response] = pool.submit(
            bot.request, method, path, json=body, headers=headers
        )
        with pipe.open("w"):  # opens once the hook waits
            host.kill()
        with pytest.raises(httpx.HTTPError):
            answer.result(30)
    hook.unlink()
    host.start()


def test_everything_answered_is_there_after_a_kill(shop_host: Host) -> None:
    with client_of(shop_host, BOT) as bot:
        issue = bot.post(f"{API}/issues", json={"title": "kept"}).json()
        bot.post(f"{API}/issues/1/comments", json={"body": "kept too"})
        body = {"title": "t", "head": "topic", "base": "trunk", "draft": True}
        headers = {"Idempotency-Key": "one"}
        pull = bot.post(f"{API}/pulls", json=body, headers=headers).json()
        before = len(journal(shop_host))
        restart(shop_host)
    with client_of(shop_host, BOT) as bot:
        assert bot.get(f"{API}/issues/1").json()["id"] == issue["id"]
        assert bot.get(f"{API}/issues/1/comments").json()[0]["body"] == "kept too"
        assert bot.get(f"{API}/pulls/2").json()["node_id"] == pull["node_id"]
        assert bot.post(f"{API}/pulls", json=body, headers=headers).json() == pull
    entries = journal(shop_host)
    assert [one["ordinal"] for one in entries] == list(range(1, len(entries) + 1))
    assert len(entries) == before + 4


def test_a_kill_amid_many_creations_leaves_one_issue_for_each_key(shop_host: Host) -> None:
    answered: dict[str, int] = {}

    def create(key: str) -> None:
        with client_of(shop_host, BOT) as bot, contextlib.suppress(httpx.TransportError):
            made = bot.post(f"{API}/issues", json={"title": key}, headers={"Idempotency-Key": key})
            assert answered.setdefault(key, made.json()["number"]) == made.json()["number"]

    keys = [f"key-{number}" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        storm = pool.map(create, keys)
        wait_for(lambda: len(answered) >= 10, 30, "some answers")
        shop_host.kill()
        list(storm)
    assert 10 <= len(answered) < len(keys)
    shop_host.start()
    for key in keys:
        create(key)
    found = read(shop_host, f"{API}/issues?per_page=100")
    assert {one["title"]: one["number"] for one in found} == answered
    assert len(found) == len(keys)


def journal(host: Host) -> list[dict[str, Any]]:
    """Return the host's whole journal."""
    with client_of(host, "host-admin", judged=False) as admin:
        entries: list[dict[str, Any]] = admin.get("/outlast/journal").json()
        return entries


def test_a_ref_that_git_made_before_the_kill_is_the_keys_own(shop_host: Host) -> None:
    tip = read(shop_host, f"{API}/branches/trunk")["commit"]["sha"]
    body = {"ref": "refs/heads/new", "sha": tip}
    cut_in_two(shop_host, "committed", "POST", f"{API}/git/refs", body)
    with client_of(shop_host, BOT) as bot:
        again = bot.post(f"{API}/git/refs", json=body, headers={"Idempotency-Key": "cut"})
        assert again.status_code == 201
    assert [one["applied"] for one in journal(shop_host) if one["method"] == "POST"] == [
        True,
        False,
    ]


def test_a_ref_that_git_did_not_make_before_the_kill_is_not_there(shop_host: Host) -> None:
    tip = read(shop_host, f"{API}/branches/trunk")["commit"]["sha"]
    body = {"ref": "refs/heads/new", "sha": tip}
    cut_in_two(shop_host, "prepared", "POST", f"{API}/git/refs", body)
    with client_of(shop_host, BOT) as bot:
        assert bot.get(f"{API}/git/ref/heads/new").status_code == 404
        again = bot.post(f"{API}/git/refs", json=body, headers={"Idempotency-Key": "cut"})
        assert again.status_code == 201


@pytest.mark.parametrize(("stage", "merged"), [("committed", True), ("prepared", False)])
def test_a_merge_is_recorded_exactly_if_the_base_moved(
    shop_host: Host, stage: str, merged: bool
) -> None:
    with client_of(shop_host, BOT) as bot:
        pull = bot.post(
            f"{API}/pulls", json={"title": "t", "head": "topic", "base": "trunk"}
        ).json()
    cut_in_two(shop_host, stage, "PUT", f"{API}/pulls/1/merge", {"sha": pull["head"]["sha"]})
    shown = read(shop_host, f"{API}/pulls/1")
    tip = read(shop_host, f"{API}/branches/trunk")["commit"]
    assert shown["merged"] is merged
    assert (tip["sha"] == shown["merge_commit_sha"]) is merged
    assert (len(tip["parents"]) == 2) is merged


def test_a_terminated_host_ends_also_while_it_holds_an_answer(shop_host: Host) -> None:
    assert shop_host.process is not None
    with (
        client_of(shop_host, "host-admin", judged=False) as admin,
        client_of(shop_host, BOT, judged=False) as bot,
        ThreadPoolExecutor(1) as pool,
    ):
        fault = admin.post("/outlast/faults", json={"action": "hold_after"}).json()["id"]
        answer = pool.submit(bot.post, f"{API}/issues", json={"title": "t"})
        assert admin.get(f"/outlast/faults/{fault}?wait=fired").json()["fired"] == 1
        shop_host.process.terminate()
        shop_host.process.wait(30)
        assert answer.exception(30) is not None or answer.result().is_error
    restart(shop_host)
    assert len(read(shop_host, f"{API}/issues")) == 1
    assert [one["delivered"] for one in journal(shop_host) if one["method"] == "POST"] == [False]


def test_a_second_host_does_not_serve_the_same_folder(shop_host: Host) -> None:
    with pytest.raises(FolderInUse):
        serve(shop_host.folder, 0)


def test_the_journal_can_only_grow(shop_host: Host) -> None:
    read(shop_host, API)
    for statement in (
        "UPDATE journal SET path = ''",
        "DELETE FROM journal",
        "UPDATE journal_notes SET content = ''",
        "DELETE FROM journal_notes",
    ):
        with pytest.raises(sqlite3.IntegrityError), Store(shop_host.folder).write() as db:
            db.execute(statement)


def test_tokens_are_made_once_for_their_owner_alone(tmp_path: Path) -> None:
    tokens = ensure(tmp_path)
    assert ensure(tmp_path) == tokens
    assert len({tokens.of(login) for login in LOGINS}) == len(LOGINS)
    assert stat.S_IMODE((tmp_path / "tokens.json").stat().st_mode) == 0o600
    assert not [token for token in tokens.by_login.values() if token in repr(tokens)]
    assert [path.name for path in tmp_path.iterdir()] == ["tokens.json"]
    (tmp_path / "tokens.json").write_text("[]")
    with pytest.raises(UnreadableTokens):
        ensure(tmp_path)


def test_a_seed_takes_a_folder_or_a_bundle_and_keeps_what_is_held(
    tmp_path: Path, source: Path
) -> None:
    git(source, "bundle", "create", "--quiet", str(tmp_path / "all.bundle"), "--all", "HEAD")
    folder = tmp_path / "host"
    made = [
        seed(folder, f"demo/{name}", origin, strict=False)
        for name, origin in (("one", source), ("two", tmp_path / "all.bundle"))
    ]
    assert {one.default_branch for one in made} == {"trunk"}
    assert made[0].revision == made[1].revision == git(source, "rev-parse", "trunk").stdout.strip()
    commit(source, "page.txt", "later\n")
    assert seed(folder, "demo/one", source) == made[0]


def test_a_seed_that_fails_leaves_nothing(tmp_path: Path, source: Path) -> None:
    folder = tmp_path / "host"
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "--quiet")
    for name, origin in (("demo/x", tmp_path / "none"), ("demo/x", empty), ("../x", source)):
        with pytest.raises(CannotSeed):
            seed(folder, name, origin)
    with pytest.raises(CannotSeed):
        seed(folder, "demo/x", source, collaborators={"somebody": "everything"})
    assert not list((folder / "repositories").rglob("*.git"))
    assert not list((folder / "repositories").rglob("HEAD"))
