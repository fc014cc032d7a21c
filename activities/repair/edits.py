"""An edit: some bytes of one file replaced, by which operator, in which place."""

from __future__ import annotations

import ast
import difflib
import hashlib
import re
from dataclasses import dataclass

HUNK = re.compile(r"^@@ -(?P<start>\d+)(?:,\d+)? \+")


@dataclass(frozen=True)
class Edit:
    """Replace bytes `start` to `end` of a file. `prior` is how often such an edit is right."""

    path: str
    start: int
    end: int
    new: str
    operator: str
    line: int
    prior: float

    def apply(self, source: bytes) -> bytes:
        """Return the file with the edit made."""
        return source[: self.start] + self.new.encode() + source[self.end :]


def identity(path: str, changed: bytes) -> str | None:
    """Return what makes two candidates the same, or None when the file does not parse."""
    if not path.endswith(".py"):
        return hashlib.sha256(path.encode() + changed).hexdigest()
    try:
        tree = ast.parse(changed)
    except (SyntaxError, ValueError):
        return None
    return hashlib.sha256(f"{path}\0{ast.dump(tree)}".encode()).hexdigest()


def unified(path: str, before: bytes, after: bytes) -> str:
    """Return the change as a unified diff that git applies; a line ends at a line feed only."""
    lines = difflib.unified_diff(
        _lines(before.decode()), _lines(after.decode()), f"a/{path}", f"b/{path}"
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def places_of(patch: str) -> frozenset[tuple[str, int]]:
    """Return the lines of the base that a unified diff takes away or writes after."""
    found: set[tuple[str, int]] = set()
    path, at = "", 0
    for line in _lines(patch):
        if line.startswith("+++ "):
            path = line[4:].split("\t")[0].strip().removeprefix("b/")
        elif match := HUNK.match(line):
            at = int(match["start"])
        elif line.startswith("-") and not line.startswith(("--- a/", "--- /dev/null")):
            found.add((path, at))
            at += 1
        elif line.startswith("+"):
            found.add((path, max(1, at - 1)))
        elif line.startswith(" "):
            at += 1
    return frozenset(found)


def applied(patch: str, original: bytes) -> bytes:
    """Return what a diff of one file makes of it; the diff's line numbers are believed."""
    lines = _lines(original.decode(errors="surrogateescape"))
    made: list[str] = []
    at = 0
    for line in _lines(patch):
        if match := HUNK.match(line):
            begin = max(0, int(match["start"]) - 1)
            made += lines[at:begin]
            at = begin
        elif line.startswith("+") and not line.startswith("+++ b/"):
            made.append(line[1:])
        elif line.startswith((" ", "-")) and not line.startswith(("--- a/", "--- /dev/null")):
            made += lines[at : at + 1] if line.startswith(" ") else []
            at += 1
    return "".join([*made, *lines[at:]]).encode(errors="surrogateescape")


def _lines(text: str) -> list[str]:
    return [line for line in re.split(r"(?<=\n)", text) if line]
