"""Rank every candidate edit: where the failing request went, what was read there, what is usual."""

from __future__ import annotations

import ast
import fnmatch
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from activities.repair import expressions, names, statements
from activities.repair.edits import Edit, places_of
from activities.repair.source import Source
from activities.workspace.policy import PatchLimits, path_violations
from orchestrator.contracts.proposal import ProposalRequest

SAME_PLACE = 0.5
TEMPLATES = ("*.html", "*.jinja", "*.jinja2", "*.j2")
WORDS = re.compile(r"[A-Za-z]{3,}")
COMMON = frozenset(
    word
    for words in (
        "the and for with that this from open click page shows type into has not there was",
        "are but expected seen does when after than every",
    )
    for word in words.split()
)
ANYWHERE = PatchLimits(allowed_paths=(), max_files=1, max_bytes=0)
SKIPPED = frozenset({"tests", "test", "checks", ".git", ".deps", "node_modules", "__pycache__"})


@dataclass(frozen=True)
class Trail:
    """Which lines the failing procedure executed, and which of them late."""

    executed: frozenset[tuple[str, int]]
    late: frozenset[tuple[str, int]]


@dataclass(frozen=True)
class Ranked:
    """A candidate with its score; a higher score is tried earlier."""

    edit: Edit
    score: float


def candidates(
    workspace: Path, request: ProposalRequest, places: Iterable[str], trail: Trail
) -> list[Ranked]:
    """Return every candidate, best first; equal scores stand in a fixed order."""
    files = dict(_readable(workspace, sorted(set(source_files(workspace, places, request)))))
    sources = [Source(path, data) for path, data in files.items() if _is_python(path)]
    texts = {path: data for path, data in files.items() if not _is_python(path)}
    vocabulary = names.vocabulary_of(
        sources, [data.decode(errors="replace") for data in texts.values()]
    )
    wanted = keywords(request)
    found = [
        Ranked(edit, edit.prior * _weight(edit, _lines(source), trail, wanted))
        for source in sources
        for edit in python_edits(source, vocabulary)
    ]
    for path, data in texts.items():
        lines = data.decode(errors="replace").splitlines()
        found += [
            Ranked(edit, edit.prior * (0.35 + _affinity(lines, edit.line, wanted)))
            for edit in names.template_edits(path, data, vocabulary)
        ]
    return sorted(found, key=lambda r: (-r.score, r.edit.path, r.edit.start, r.edit.new))


def elsewhere_first(
    ranked: list[Ranked], request: ProposalRequest, workspace: Path
) -> list[Ranked]:
    """Put candidates down that change what an earlier, failed candidate changed."""
    tried = places_of("".join(prior.patch for prior in request.prior))
    files = {path: (workspace / path).read_bytes() for path in {e.edit.path for e in ranked}}

    def lowered(each: Ranked) -> Ranked:
        edit = each.edit
        count = files[edit.path][edit.start : edit.end].count(b"\n") + 1
        is_same = any((edit.path, edit.line + at) in tried for at in range(count))
        return replace(each, score=each.score * SAME_PLACE) if is_same else each

    return sorted(map(lowered, ranked), key=lambda each: -each.score)


def python_edits(source: Source, vocabulary: names.Vocabulary) -> Iterator[Edit]:
    """Yield every edit that the general operators make in one file."""
    for node in ast.walk(source.tree):
        for operator in (*expressions.ALL, *statements.ALL):
            yield from operator(source, node)
        for naming in (names.keys, names.attributes, names.lists, names.sql):
            yield from naming(source, node, vocabulary)
    for function in source.functions():
        yield from names.siblings(source, function)
        yield from names.terms(source, function)


def source_files(workspace: Path, places: Iterable[str], request: ProposalRequest) -> Iterator[str]:
    """Yield the files that a repair may touch, relative to the workspace."""
    allowed = request.allowed_paths or tuple(places)
    for place in allowed:
        root = workspace / place
        if not root.is_relative_to(workspace):
            continue
        every = [root] if root.is_file() else sorted(root.rglob("*"))
        for file in every:
            path = file.relative_to(workspace)
            if file.is_symlink() or not file.is_file() or set(path.parts) & SKIPPED:
                continue
            if path_violations((str(path),), ANYWHERE) or any(
                path.is_relative_to(forbidden) for forbidden in request.forbidden_paths
            ):
                continue
            if _is_python(file.name) or any(fnmatch.fnmatch(file.name, p) for p in TEMPLATES):
                yield str(path)


def _readable(workspace: Path, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the files that can be edited safely: in UTF-8 and, where Python, parsed."""
    for path in paths:
        data = (workspace / path).read_bytes()
        try:
            data.decode()
            if _is_python(path):
                ast.parse(data)
        except (SyntaxError, ValueError, RecursionError):
            continue
        yield path, data


def keywords(request: ProposalRequest) -> frozenset[str]:
    """Return the words that the report and the unmet expectations are about."""
    said = [request.report_title, request.report_text]
    for run in request.reproduction.runs[:1]:
        said += [f"{step.expected} {step.observed}" for step in run.steps if step.status != "ok"]
    words = {stem(word) for text in said for word in WORDS.findall(text)}
    return frozenset(words - COMMON)


def stem(word: str) -> str:
    """Return a word without the endings that plain English puts on it."""
    word = word.lower()
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def _weight(edit: Edit, lines: list[str], trail: Trail, wanted: frozenset[str]) -> float:
    place = (edit.path, edit.line)
    base = 0.08
    if place in trail.executed:
        base = 1.4 if place in trail.late else 1.0
    elif not trail.executed:
        base = 0.6
    return base + _affinity(lines, edit.line, wanted)


def _affinity(lines: list[str], line: int, wanted: frozenset[str]) -> float:
    """Return how much the words on and just around a line are those of the report."""
    here = lines[line - 1] if line <= len(lines) else ""
    around = " ".join(lines[max(0, line - 4) : line + 3])
    on_line = {stem(word) for word in WORDS.findall(here.replace("_", " "))} & wanted
    near = {stem(word) for word in WORDS.findall(around.replace("_", " "))} & wanted
    return min(0.5, 0.25 * len(on_line)) + min(0.3, 0.1 * len(near))


def _lines(source: Source) -> list[str]:
    return source.data.decode(errors="replace").splitlines()


def _is_python(name: str) -> bool:
    return name.endswith(".py")
