"""Stored files are whole or not there, and every read proves it."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from activities.artifacts import LARGEST_BYTES, ArtifactStore, ArtifactTooLarge, ArtifactUnreadable


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    """Return an empty store."""
    return ArtifactStore(tmp_path / "artifacts")


def stored_file(tmp_path: Path, sha256: str) -> Path:
    """Return where a hash lies."""
    [place] = (tmp_path / "artifacts" / sha256[:2]).iterdir()
    return place


def test_bytes_are_named_by_their_hash_and_read_back(store: ArtifactStore) -> None:
    ref = store.put(b"hello", "note", "note.txt")
    assert ref.sha256 == hashlib.sha256(b"hello").hexdigest()
    assert (ref.kind, ref.name, ref.size) == ("note", "note.txt", 5)
    assert store.read(ref.sha256) == b"hello"


def test_equal_bytes_are_stored_once_also_when_stored_at_once(
    store: ArtifactStore, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(8) as pool:
        refs = set(pool.map(lambda _: store.put(b"same" * 50_000, "note", "n"), range(24)))
    assert len(refs) == 1
    assert len(list((tmp_path / "artifacts").glob("??/*"))) == 1
    assert list((tmp_path / "artifacts" / "staging").iterdir()) == []


def test_damaged_bytes_are_never_returned(store: ArtifactStore, tmp_path: Path) -> None:
    ref = store.put(b"hello", "note", "n")
    stored_file(tmp_path, ref.sha256).write_bytes(b"hellO")
    with pytest.raises(ArtifactUnreadable, match="do not match its hash"):
        store.read(ref.sha256)
    assert store.checked_path(ref.sha256) is None


def test_storing_damaged_bytes_again_makes_them_whole(store: ArtifactStore, tmp_path: Path) -> None:
    ref = store.put(b"hello", "note", "n")
    stored_file(tmp_path, ref.sha256).write_bytes(b"")
    store.put(b"hello", "note", "n")
    assert store.read(ref.sha256) == b"hello"


@pytest.mark.parametrize("sha256", ["0" * 64, "../../etc/passwd", "", "A" * 64, "0" * 63])
def test_what_is_not_there_is_unreadable_and_no_name_leads_out(
    store: ArtifactStore, sha256: str
) -> None:
    with pytest.raises(ArtifactUnreadable):
        store.read(sha256)


def test_too_large_a_file_is_refused_before_anything_is_stored(
    store: ArtifactStore, tmp_path: Path
) -> None:
    with pytest.raises(ArtifactTooLarge, match="big"):
        store.put(bytes(LARGEST_BYTES + 1), "note", "big")
    assert list((tmp_path / "artifacts").glob("??/*")) == []


def test_a_store_opened_again_has_what_was_stored(store: ArtifactStore, tmp_path: Path) -> None:
    ref = store.put(b"hello", "note", "n")
    assert ArtifactStore(tmp_path / "artifacts").read(ref.sha256) == b"hello"
