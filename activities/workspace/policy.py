"""What a patch may touch. Pure: reads the diff's own words, before anything is applied (P20)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

FORBIDDEN = (".git", ".github", ".gitlab", ".gitmodules", ".gitattributes", ".outlast.toml")
HEADER = re.compile(r"^(?:---|\+\+\+) (?P<path>\S.*?)(?:\t.*)?$")
MODES = re.compile(r"^(?:new file|old|new|deleted file) mode (?P<mode>\d+)$")
PLAIN_MODES = frozenset({"100644", "100755"})


@dataclass(frozen=True)
class PatchLimits:
    """How large a patch may be and where it may reach; no paths means anywhere in the tree."""

    allowed_paths: tuple[str, ...]
    max_files: int
    max_bytes: int


def violations(patch: str, limits: PatchLimits) -> tuple[str, ...]:
    """Return every rule that the patch breaks, in plain words; empty means it may be applied."""
    paths = touched(patch)
    found = [f"{path}: {wrong}" for path in paths if (wrong := _path(path, limits.allowed_paths))]
    if not paths:
        found.append("it changes no file")
    if len(paths) > limits.max_files:
        found.append(f"it touches {len(paths)} files, at most {limits.max_files} are allowed")
    if len(patch.encode()) > limits.max_bytes:
        found.append(f"it has more than {limits.max_bytes} bytes")
    if "GIT binary patch" in patch or "Binary files " in patch:
        found.append("it changes a binary file")
    modes = {match["mode"] for line in patch.splitlines() if (match := MODES.match(line))}
    if modes - PLAIN_MODES:
        found.append("it makes a link or a submodule")
    return tuple(found)


def touched(patch: str) -> tuple[str, ...]:
    """Return the paths that the diff names, sorted; also those of renames and deletions."""
    paths: set[str] = set()
    for line in patch.splitlines():
        match = HEADER.match(line)
        if match and match["path"] != "/dev/null":
            paths.add(re.sub(r"^[ab]/", "", match["path"].strip('"')))
        for word in ("rename from ", "rename to ", "copy from ", "copy to "):
            if line.startswith(word):
                paths.add(line.removeprefix(word))
    return tuple(sorted(paths))


def _path(path: str, allowed: tuple[str, ...]) -> str | None:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or "\\" in path:
        return "it leaves the repository"
    if pure.parts and pure.parts[0] in FORBIDDEN:
        return "this file is never changed by a repair"
    if allowed and not any(pure.is_relative_to(place) for place in allowed):
        return f"outside of {', '.join(allowed)}"
    return None
