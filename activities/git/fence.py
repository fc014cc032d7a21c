"""The run's own fence at a git host: one ref that every push of the run moves, and cleanup shuts.

"Absent" fences nothing: a push that was in flight may land after the cleanup (R21). So each push is
atomic with a move of the fence, under a lease on where the fence stood when the push was made. Once
somebody else moved it (a later attempt, or the cleanup for good), the earlier push is refused by
the host as stale, whenever it arrives.

A fence's value is a commit of nothing that says in words who moved it; no branch shows it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from activities.git import command
from activities.mutation import Call

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
NOBODY = "Outlast <outlast@localhost> 0 +0000"
SHUT = "shut"


@dataclass(frozen=True)
class Stand:
    """Where a fence stands, and what is written there."""

    revision: str | None
    words: tuple[str, ...] = ()

    def forbids(self, call: Call) -> str | None:
        """Return why this call may no longer push, or None.

        Later attempts of one operation, and later operations of one run, go before earlier ones.
        """
        if self.revision is None:
            return None
        if SHUT in self.words:
            return "the run's branch was cleaned up; nothing may be pushed for it any more"
        theirs, own = _rank(self.words), _rank(_words(call))
        if theirs is None or own is None:
            return f"the fence stands on {self.revision}, which none of our pushes wrote"
        return "a later attempt or operation has pushed already" if theirs > own else None


@dataclass(frozen=True)
class Fence:
    """One run's fence, as it is prepared in a mirror that was refreshed just now."""

    mirror: Path
    tag: str

    def read(self) -> Stand:
        """Return where it stood when the mirror was refreshed."""
        copy = f"refs/mirror/{ref_of(self.tag).removeprefix('refs/')}"
        found = command.run(["rev-parse", "--verify", "--quiet", copy], folder=self.mirror)
        if not found.is_ok:
            return Stand(None)
        revision = found.output.strip()
        shown = command.run(["cat-file", "commit", revision], folder=self.mirror)
        message = shown.output.partition("\n\n")[2] if shown.is_ok else ""
        return Stand(revision, tuple(message.splitlines()))

    def moved_by(self, call: Call) -> str:
        """Write the value that this call moves the fence to; return its revision."""
        return self._write(_content(self.tag, *_words(call)))

    def shut(self) -> str:
        """Write the value that shuts the fence for good; return its revision."""
        return self._write(_content(self.tag, SHUT))

    def _write(self, content: bytes) -> str:
        command.must(["hash-object", "-t", "tree", "-w", "--stdin"], folder=self.mirror, given=b"")
        return command.must(
            ["hash-object", "-t", "commit", "-w", "--stdin"], folder=self.mirror, given=content
        ).strip()


def ref_of(tag: str) -> str:
    """Return the ref of the fence of the run with this tag."""
    return f"refs/outlast/fence/{tag}"


def shut_revision(tag: str) -> str:
    """Return the revision of a fence that is shut, which needs no repository to be known."""
    content = _content(tag, SHUT)
    return hashlib.sha1(b"commit %d\0%s" % (len(content), content)).hexdigest()


def _content(tag: str, *words: str) -> bytes:
    head = f"tree {EMPTY_TREE}\nauthor {NOBODY}\ncommitter {NOBODY}\n\nfence {tag}\n"
    return (head + "".join(f"{word}\n" for word in words)).encode()


def _words(call: Call) -> tuple[str, str]:
    return f"operation {call.operation_id}", f"generation {call.fence}"


def _rank(words: tuple[str, ...]) -> tuple[int, int] | None:
    """Return (ordinal of the operation, generation of its attempt), or None for other words."""
    said = dict(word.split(" ", 1) for word in words if " " in word)
    ordinal = said.get("operation", "").rpartition(":")[2]
    generation = said.get("generation", "")
    if not (ordinal.isdecimal() and generation.isdecimal()):
        return None
    return int(ordinal), int(generation)
