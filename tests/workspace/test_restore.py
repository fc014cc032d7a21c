"""Workspaces are made anew from a revision and a patch; the same inputs make the same commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from activities.git import command
from activities.workspace.policy import PatchLimits
from activities.workspace.restore import Commit, Workspaces, apply_patch, build_commit
from orchestrator.domain.failures import ActivityFailed, FailureKind
from tests.support.repository import DATE, publish, remote_of

LIMITS = PatchLimits(("src",), 3, 5_000)
PATCH = "--- a/src/x.txt\n+++ b/src/x.txt\n@@ -1 +1 @@\n-one\n+two\n"


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """Return a folder of bare repositories with `demo/tiny.git` in it."""
    work = tmp_path / "work"
    (work / "src").mkdir(parents=True)
    (work / "src" / "x.txt").write_text("one\n")
    (work / "top.txt").write_text("top\n")
    publish(work, tmp_path / "host", "demo/tiny")
    return tmp_path / "host"


@pytest.fixture
def revision(origin: Path) -> str:
    """Return the head of main."""
    return command.must(["rev-parse", "main"], folder=origin / "demo" / "tiny.git").strip()


@pytest.fixture
def workspaces(origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspaces:
    """Return workspaces that are restored from the origin."""
    monkeypatch.setenv("OUTLAST_SECRET_HOST_TOKEN", "token")
    remote = remote_of(origin, tmp_path / "secrets.toml")
    return Workspaces(remote, tmp_path / "cache", tmp_path / "environments")


def committed(workspaces: Workspaces, revision: str, name: str, patch: str = PATCH) -> Commit:
    """Return the commit of a patch, built in a workspace of its own."""
    with workspaces.checkout("demo/tiny", revision, "run-1", name) as place:
        apply_patch(place, patch, LIMITS)
        return build_commit(place, "Mend it", DATE)


def test_a_checkout_is_exactly_the_revision_and_goes_away(
    workspaces: Workspaces, revision: str
) -> None:
    with workspaces.checkout("demo/tiny", revision, "run-1", "a") as place:
        assert (place / "src" / "x.txt").read_text() == "one\n"
        assert command.must(["rev-parse", "HEAD"], folder=place).strip() == revision
        assert command.must(["status", "--porcelain"], folder=place) == ""
    assert not place.exists()


def test_a_half_patched_checkout_is_never_trusted(workspaces: Workspaces, revision: str) -> None:
    place = workspaces.folder / "run-1" / "work" / "a"
    (place / "src").mkdir(parents=True)
    (place / "src" / "x.txt").write_text("half patched")
    (place / "stray.txt").write_text("left by an earlier attempt")
    with workspaces.checkout("demo/tiny", revision, "run-1", "a") as place:
        assert (place / "src" / "x.txt").read_text() == "one\n"
        assert not (place / "stray.txt").exists()


def test_a_revision_that_does_not_exist_is_named(workspaces: Workspaces) -> None:
    with pytest.raises(ActivityFailed, match="no revision") as failed:
        workspaces.restore("demo/tiny", "b" * 40, workspaces.folder / "x")
    assert failed.value.kind is FailureKind.PERMANENT


def test_an_unknown_repository_is_named(workspaces: Workspaces, revision: str) -> None:
    with pytest.raises(ActivityFailed, match="demo/absent"):
        workspaces.restore("demo/absent", revision, workspaces.folder / "x")


def test_equal_inputs_make_the_equal_commit_and_its_bundle_is_enough(
    workspaces: Workspaces, revision: str, origin: Path, tmp_path: Path
) -> None:
    first, second = committed(workspaces, revision, "a"), committed(workspaces, revision, "b")
    assert first.revision == second.revision != revision
    bundle, elsewhere = tmp_path / "c.bundle", tmp_path / "elsewhere"
    bundle.write_bytes(first.bundle)
    command.must(["clone", "--quiet", str(origin / "demo" / "tiny.git"), str(elsewhere)])
    command.must(["fetch", "--quiet", str(bundle), "refs/heads/candidate"], folder=elsewhere)
    shown = command.must(["show", f"{first.revision}:src/x.txt"], folder=elsewhere)
    assert shown == "two\n"
    who = command.must(
        ["show", "-s", "--format=%an %ae %aI %cI %P", first.revision], folder=elsewhere
    )
    assert who.strip() == f"Outlast outlast@localhost {DATE} {DATE} {revision}"


def test_another_patch_makes_another_commit(workspaces: Workspaces, revision: str) -> None:
    other = committed(workspaces, revision, "b", PATCH.replace("two", "three"))
    assert committed(workspaces, revision, "a").revision != other.revision


@pytest.mark.parametrize(
    ("patch", "kind", "words"),
    [
        (PATCH.replace("-one", "-other"), FailureKind.DOMAIN_NEGATIVE, "does not apply"),
        (PATCH.replace("src/x.txt", "top.txt"), FailureKind.POLICY_BOUND, "outside of src"),
        (
            "--- src/top.txt\n+++ src/top.txt\n@@ -1 +1 @@\n-top\n+changed\n",
            FailureKind.POLICY_BOUND,
            "not of the form",
        ),
        ("no patch at all", FailureKind.POLICY_BOUND, "changes no file"),
    ],
)
def test_a_patch_that_may_not_or_cannot_be_applied_changes_no_file(
    workspaces: Workspaces, revision: str, patch: str, kind: FailureKind, words: str
) -> None:
    with workspaces.checkout("demo/tiny", revision, "run-1", "a") as place:
        with pytest.raises(ActivityFailed, match=words) as failed:
            apply_patch(place, patch, LIMITS)
        assert failed.value.kind is kind
        assert command.must(["status", "--porcelain"], folder=place) == ""


def test_hooks_and_settings_of_the_machine_have_no_say(
    workspaces: Workspaces, revision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "pre-commit", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (hooks / name).chmod(0o755)
    (tmp_path / ".gitconfig").write_text(f"[core]\n\thooksPath = {hooks}\n[user]\n\tname = me\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "me")
    probe = ["git", "-C", str(tmp_path / "probe")]
    subprocess.run(["git", "init", "--quiet", probe[2]], check=True)
    wild = [*probe, "-c", "user.email=me@here", "commit", "--quiet", "--allow-empty", "-m", "x"]
    subprocess.run(wild, check=True)
    assert (tmp_path / "ran").exists()
    (tmp_path / "ran").unlink()
    committed(workspaces, revision, "a")
    assert not (tmp_path / "ran").exists()
