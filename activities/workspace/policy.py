"""What a patch may touch. Pure: reads the diff's own words, before anything is applied (P20).

The words of a diff can lie about what git makes of them; `index_violations` reads what git did make
of them, and both must agree with the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

FORBIDDEN_ANYWHERE = (".git", ".gitmodules", ".gitattributes")
FORBIDDEN_ON_TOP = (".github", ".gitlab", ".gitlab-ci.yml", ".outlast.toml")
NAMED = re.compile(r"^(?:---|\+\+\+) (?P<path>\S.*?)(?:\t.*)?$")
HEAD = re.compile(r"^diff --git a/(?P<old>\S.*) b/(?P<new>\S.*)$")
MOVED = re.compile(r"^(?:rename|copy) (?:from|to) (?P<path>.+)$")
HUNK = re.compile(r"^@@ -\d+(?:,(?P<old>\d+))? \+\d+(?:,(?P<new>\d+))? @@")
MODES = re.compile(r"^(?:new file|old|new|deleted file) mode (?P<mode>\d+)$")
BINARY = re.compile(r"^(?:GIT binary patch|Binary files .* differ)$")
PLAIN_MODES = frozenset({"100644", "100755"})
NO_FILE_MODE = "000000"
NOWHERE = ".nowhere"


@dataclass(frozen=True)
class PatchLimits:
    """How large a patch may be and where it may reach; no paths means anywhere in the tree."""

    allowed_paths: tuple[str, ...]
    max_files: int
    max_bytes: int


def narrowed(asked: tuple[str, ...], source: tuple[str, ...]) -> tuple[str, ...]:
    """Return where a repair may reach: what the repository offers, less what the contract takes.

    What the contract names outside of the repository's own offer adds nothing; where nothing is
    left, nothing may be touched.
    """
    if not asked:
        return source
    inside = [p for p in asked if any(PurePosixPath(p).is_relative_to(s) for s in source)]
    inside += [s for s in source if any(PurePosixPath(s).is_relative_to(p) for p in asked)]
    return tuple(dict.fromkeys(inside)) or (NOWHERE,)


def violations(patch: str, limits: PatchLimits) -> tuple[str, ...]:
    """Return every rule that the patch breaks, in plain words; empty means it may be applied."""
    heads = list(_heads(patch))
    paths = touched(patch)
    found = list(path_violations(paths, limits))
    found += [f"`{line}` is not of the form a/... b/..." for line in heads if _is_strange(line)]
    if not paths:
        found.append("it changes no file")
    if len(patch.encode()) > limits.max_bytes:
        found.append(f"it has more than {limits.max_bytes} bytes")
    if any(BINARY.match(line) for line in heads):
        found.append("it changes a binary file")
    modes = {match["mode"] for line in heads if (match := MODES.match(line))}
    if modes - PLAIN_MODES:
        found.append("it makes a link or a submodule")
    return tuple(found)


def path_violations(paths: tuple[str, ...], limits: PatchLimits) -> tuple[str, ...]:
    """Return the rules that a change of these paths breaks."""
    found = [f"{path}: {wrong}" for path in paths if (wrong := _path(path, limits.allowed_paths))]
    if len(paths) > limits.max_files:
        found.append(f"it touches {len(paths)} files, at most {limits.max_files} are allowed")
    return tuple(found)


def touched(patch: str) -> tuple[str, ...]:
    """Return the paths that the diff names, sorted; also those of renames and deletions."""
    paths: set[str] = set()
    for line in _heads(patch):
        if (match := NAMED.match(line)) and match["path"] != "/dev/null":
            paths.add(re.sub(r"^[ab]/", "", match["path"].strip('"')))
        elif match := HEAD.match(line):
            paths |= {match["old"], match["new"]}
        elif match := MOVED.match(line):
            paths.add(match["path"].strip('"'))
    return tuple(sorted(paths))


def index_violations(raw: str, limits: PatchLimits) -> tuple[str, ...]:
    """Return the rules that a staged change breaks, read from `git diff --cached --raw -z`."""
    words = raw.rstrip("\0").split("\0") if raw else []
    entries = list(zip(words[::2], words[1::2], strict=True))
    found = list(path_violations(tuple(path for _, path in entries), limits))
    for modes, path in entries:
        if set(modes.lstrip(":").split()[:2]) - PLAIN_MODES - {NO_FILE_MODE}:
            found.append(f"{path}: it makes a link or a submodule")
    return tuple(found)


def _heads(patch: str) -> Iterator[str]:
    """Yield the lines that are not content of a hunk."""
    old = new = 0
    for line in patch.split("\n"):
        if old <= 0 and new <= 0:
            if match := HUNK.match(line):
                old, new = int(match["old"] or 1), int(match["new"] or 1)
            yield line
        elif not line.startswith("\\"):
            old -= line[:1] in (" ", "-", "")
            new -= line[:1] in (" ", "+", "")


def _is_strange(line: str) -> bool:
    """Return whether git would read another path out of the line than we do."""
    if line.startswith("diff --git "):
        return HEAD.match(line) is None
    match = NAMED.match(line)
    return match is not None and not match["path"].startswith(("a/", "b/", "/dev/null"))


def _path(path: str, allowed: tuple[str, ...]) -> str | None:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or "\\" in path:
        return "it leaves the repository"
    lowered = [part.lower() for part in pure.parts]
    if set(lowered) & set(FORBIDDEN_ANYWHERE) or set(lowered[:1]) & set(FORBIDDEN_ON_TOP):
        return "this file is never changed by a repair"
    if allowed and not any(pure.is_relative_to(place) for place in allowed):
        return f"outside of {', '.join(allowed)}"
    return None
