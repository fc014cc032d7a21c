"""Git over HTTP: real pushes by real git, with leases, permissions and a protected branch."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sandbox.host.bare import ZERO
from sandbox.host.tokens import REVIEWER
from tests.host.conftest import Shop, commit, git


def test_a_create_only_push_is_idempotent_and_refuses_another_commit(shop: Shop) -> None:
    sha = shop.branch("topic")
    lease = "--force-with-lease=refs/heads/new:"
    pushes = [shop.push(lease, f"{sha}:refs/heads/new") for _ in range(2)]
    pushes.append(shop.push(lease, f"{shop.main}:refs/heads/new"))
    assert [one.returncode for one in pushes] == [0, 0, 1]
    assert "[new branch]" in pushes[0].stdout
    assert "[up to date]" in pushes[1].stdout
    assert "(stale info)" in pushes[2].stdout
    assert shop.bare.tip("new") == sha


def test_an_atomic_push_with_one_stale_lease_changes_nothing(shop: Shop) -> None:
    sha = shop.branch("topic")
    pushed = shop.push(
        "--atomic",
        f"--force-with-lease=refs/outlast/fence:{sha}",
        f"{sha}:refs/heads/new",
        f"{sha}:refs/outlast/fence",
    )
    assert pushed.returncode == 1
    assert shop.bare.tip("new") is None


def test_the_default_branch_declines_a_direct_push(shop: Shop) -> None:
    sha = shop.branch("topic")
    pushed = shop.push(f"{sha}:refs/heads/main", f"{sha}:refs/heads/other")
    assert pushed.returncode == 1
    assert "[remote rejected] (hook declined)" in pushed.stdout
    assert (shop.bare.tip("main"), shop.bare.tip("other")) == (shop.main, sha)
    results = {one["ref"]: one["result"] for one in shop.journal()[-1]["refs"]}
    assert results == {"refs/heads/main": "hook declined", "refs/heads/other": "ok"}


def test_the_journal_names_what_a_push_changed(shop: Shop) -> None:
    sha = shop.branch("topic")
    entry = shop.journal()[-1]
    assert (entry["method"], entry["login"]) == ("POST", "outlast-bot")
    assert (entry["status"], entry["applied"], entry["delivered"]) == (200, True, True)
    assert entry["refs"] == [{"ref": "refs/heads/topic", "old": ZERO, "new": sha, "result": "ok"}]


def test_a_repository_is_cloned_with_a_token_only(shop: Shop, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", shop.remote(REVIEWER), "copy")
    assert (tmp_path / "copy" / "page.txt").read_text() == "first\n"
    address = f"{shop.host.url}/demo/{shop.name}.git"
    for remote, words in (
        (address, "could not read Username"),
        (address.replace("//", "//outlast-bot:wrong@"), "Authentication failed"),
        (shop.remote().replace(shop.name, "nothing"), "not found"),
    ):
        refused = git(tmp_path, "ls-remote", remote, check=False)
        assert (refused.returncode, words in refused.stderr) == (128, True), refused.stderr


def test_files_of_the_repository_are_not_served(shop: Shop) -> None:
    for path in ("HEAD", "config", "objects/info/packs", "info/refs?service=git-evil"):
        assert shop.admin.get(f"/demo/{shop.name}.git/{path}").status_code == 404


def test_a_large_push_in_chunks_arrives_whole(shop: Shop) -> None:
    git(shop.folder, "checkout", "--quiet", "-B", "large")
    lines = "".join(f"{number * 7919 % 1000003}\n" for number in range(60_000))
    sha = commit(shop.folder, "numbers.txt", lines)
    pushed = git(
        shop.folder,
        "-c",
        "http.postBuffer=65536",
        "-c",
        "core.compression=0",
        "push",
        shop.remote(),
        "large",
    )
    assert pushed.returncode == 0
    assert shop.bare.tip("large") == sha
    assert shop.bare.run("show", "large:numbers.txt") == lines
    assert [one["new"] for one in shop.journal()[-1]["refs"]] == [sha]


def test_of_pushers_with_the_same_lease_exactly_one_wins(shop: Shop) -> None:
    revisions = [shop.branch(f"topic{number}", f"{number}\n") for number in range(4)]
    lease = "--force-with-lease=refs/heads/prize:"

    def push(sha: str) -> int:
        return shop.push(lease, f"{sha}:refs/heads/prize").returncode

    with ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(push, revisions))
    assert sorted(codes) == [0, 1, 1, 1]
    assert shop.bare.tip("prize") == revisions[codes.index(0)]
