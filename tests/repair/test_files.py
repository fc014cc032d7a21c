"""What the search reads and writes: files it cannot read are left alone, diffs are git's."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from activities.repair.edits import Edit, applied, identity, places_of, unified
from activities.repair.ranking import Trail, candidates, elsewhere_first
from orchestrator.contracts.evidence import ReplayEvidence
from orchestrator.contracts.procedure import Procedure
from orchestrator.contracts.proposal import PriorCandidate, ProposalRequest

FINE = b"a = b < c\n"
NOWHERE = Trail(frozenset(), frozenset())
STRANGE = {
    "broken.py": b"def (:\n",
    "null.py": b"a\0 = 1\n",
    "latin.py": b"# -*- coding: latin-1 -*-\na = '\xe9' if b < c else 1\n",
    "latin.html": b'<p>\xe9</p><input name="postcode"><input name="post_code">',
}
PROCEDURE = Procedure.model_validate(
    {
        "title": "any",
        "steps": [{"do": "navigate", "id": "a", "path": "/"}],
        "expectations": [{"expect": "text", "id": "b", "contains": "x"}],
    }
)


def request_of(**more: Any) -> ProposalRequest:
    """Return a request that allows every source file."""
    evidence = ReplayEvidence(
        verdict="failed",
        revision="a" * 40,
        procedure_sha256="-",
        environment_sha256="-",
        browser="-",
        tier="-",
        runs=(),
    )
    fields: dict[str, Any] = {"allowed_paths": (), **more}
    return ProposalRequest(
        ordinal=1,
        report_title="t",
        report_text="t",
        procedure=PROCEDURE,
        reproduction=evidence,
        **fields,
    )


def edits_of(workspace: Path, **more: Any) -> list[Edit]:
    """Return every candidate in the folder `app` of a workspace."""
    found = candidates(workspace, request_of(**more), ["app"], NOWHERE)
    return [ranked.edit for ranked in found]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a workspace with one file that can be edited."""
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "fine.py").write_bytes(FINE)
    return tmp_path


@pytest.mark.parametrize("name", STRANGE)
def test_a_file_that_cannot_be_read_does_not_end_the_search(workspace: Path, name: str) -> None:
    (workspace / "app" / name).write_bytes(STRANGE[name])
    assert {edit.path for edit in edits_of(workspace)} == {"app/fine.py"}


@pytest.mark.parametrize("outside", ["/etc", "../", "app/../.."])
def test_a_path_outside_of_the_workspace_offers_nothing(workspace: Path, outside: str) -> None:
    (workspace.parent / "other.py").write_bytes(FINE)
    assert edits_of(workspace, allowed_paths=(outside,)) == []


def test_a_link_out_of_the_workspace_is_not_followed(workspace: Path) -> None:
    (workspace.parent / "target.py").write_bytes(FINE)
    (workspace / "app" / "link.py").symlink_to(workspace.parent / "target.py")
    assert {edit.path for edit in edits_of(workspace)} == {"app/fine.py"}


def test_a_file_that_begins_with_a_byte_order_mark_is_edited_in_the_right_place(
    workspace: Path,
) -> None:
    data = b"\xef\xbb\xbf" + FINE
    (workspace / "app" / "fine.py").write_bytes(data)
    made = [edit.apply(data) for edit in edits_of(workspace) if edit.operator.endswith("boundary")]
    assert made == [b"\xef\xbb\xbfa = b <= c\n"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a = 1\n\x0cb = 2\nc = 3\n", b"a = 2\n\x0cb = 2\nc = 3\n"),
        ("a = 'x\u2028y'\nb = 1\n".encode(), "a = 'x\u2028y'\nb = 2\n".encode()),
        (b"a = 1\r\nb = 2\r\n", b"a = 1\r\nb = 3\r\n"),
        (b"a = 1", b"a = 2"),
    ],
)
def test_git_makes_of_a_patch_what_was_meant(tmp_path: Path, before: bytes, after: bytes) -> None:
    (tmp_path / "m.py").write_bytes(before)
    patch = unified("m.py", before, after)
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=patch.encode(), check=True)
    assert (tmp_path / "m.py").read_bytes() == after
    assert identity("m.py", applied(patch, before)) == identity("m.py", after)


def test_the_places_of_a_patch_are_the_lines_of_the_base_that_it_changes() -> None:
    before = b"".join(b"a%d = 1\n" % number for number in range(1, 21))
    after = before.replace(b"a7 = 1", b"a7 = 2").replace(b"a18 = 1\n", b"a18 = 1\nb = 1\n")
    assert places_of(unified("m.py", before, after)) == {("m.py", 7), ("m.py", 18)}


def test_a_removed_line_of_dashes_is_not_taken_for_a_head() -> None:
    before = b'q = """\n-- by name\nSELECT 1"""\n'
    after = b'q = """\nSELECT 1"""\n'
    patch = unified("m.py", before, after)
    assert places_of(patch) == {("m.py", 2)}
    assert applied(patch, before) == after


def test_after_a_failure_another_place_comes_before_the_same_one(workspace: Path) -> None:
    before = b"a = b < c < d\ne = f[1]\n"
    (workspace / "app" / "fine.py").write_bytes(before)
    ranked = candidates(workspace, request_of(), ["app"], NOWHERE)
    assert [each.edit.line for each in elsewhere_first(ranked, request_of(), workspace)][:2] == [
        1,
        1,
    ]
    patch = unified("app/fine.py", before, ranked[0].edit.apply(before))
    prior = PriorCandidate(ordinal=1, patch_sha256="-", patch=patch, why_failed="it failed")
    again = elsewhere_first(ranked, request_of(prior=(prior,)), workspace)
    assert again[0].edit.line == 2
