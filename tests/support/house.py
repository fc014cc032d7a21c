"""The house rules that no linter knows, each a function from a source to what breaks it."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 500
BANNED_MODULES = frozenset(
    {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}
)
SAMPLE_APPLICATIONS = ("sandbox/app/", "sandbox/second_app/", "sandbox/third_app/")
# Optional dependencies: a machine may lack them, or their import is dear and rarely needed.
LATE_IMPORTS = frozenset({("tests/support/database.py", "testcontainers.postgres")})
REGISTRIES = ("py" + "pi", "npm" + "js", "python" + "hosted", "deb" + "ian")
REGISTRY_HOST = re.compile(rf"\b(?:{'|'.join(REGISTRIES)})\.(?:org|com|io|net)\b")
MACHINE_PATH = re.compile(r"(?<![\w.~}*])/(?:root|home|Users|work|opt)/\w")
UNFINISHED = re.compile(r"\b(" + "TO" + "DO|FIX" + "ME|XX" + r"X)\b")


@dataclass(frozen=True)
class Source:
    """A file by its name from the root, and its text."""

    name: str
    text: str

    @property
    def tree(self) -> ast.Module:
        """Return the syntax tree of a Python file."""
        return ast.parse(self.text, self.name)


def tracked_sources() -> list[Source]:
    """Return every text file that git would commit, new ones included."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    names = sorted(name for name in listed.stdout.split("\0") if (ROOT / name).is_file())
    return [Source(name, text) for name in names if (text := _read_text(ROOT / name)) is not None]


def _read_text(path: Path) -> str | None:
    try:
        return path.read_text()
    except UnicodeDecodeError:
        return None


def python_sources(sources: list[Source]) -> list[Source]:
    """Return our own Python: what the sample applications do is theirs."""
    return [
        source
        for source in sources
        if source.name.endswith(".py") and not source.name.startswith(SAMPLE_APPLICATIONS)
    ]


def long_functions(source: Source) -> Iterator[str]:
    """Yield functions over the limit, docstring and decorators not counted."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[1] if ast.get_docstring(node) and node.body[1:] else node.body[0]
            lines = (node.end_lineno or 0) - first.lineno + 1
            if lines > FUNCTION_LINES_MAX:
                yield f"{source.name}: {node.name} has {lines} lines"


def long_file(source: Source) -> Iterator[str]:
    """Yield the file if it is over the limit."""
    lines = source.text.count("\n")
    if lines > FILE_LINES_MAX:
        yield f"{source.name} has {lines} lines"


def banned_module(source: Source) -> Iterator[str]:
    """Yield the file if its name, or that of a folder above it, says nothing."""
    said_nothing = BANNED_MODULES & set(Path(source.name).with_suffix("").parts)
    if said_nothing:
        yield f"{source.name}: {', '.join(sorted(said_nothing))} names no noun"


def late_imports(source: Source) -> Iterator[str]:
    """Yield imports inside functions that are not on the short list."""
    for function in ast.walk(source.tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Import | ast.ImportFrom):
                module = getattr(node, "module", None) or node.names[0].name
                if (source.name, module) not in LATE_IMPORTS:
                    yield f"{source.name}:{node.lineno} imports {module} inside {function.name}"


def sleeps(source: Source) -> Iterator[str]:
    """Yield calls of `time.sleep`, by whatever name it was imported."""
    tree = source.tree
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "time"
        for alias in node.names
        if alias.name == "sleep"
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called == "time.sleep" or called in imported:
                yield f"{source.name}:{node.lineno} sleeps"


def unfinished_words(source: Source) -> Iterator[str]:
    """Yield lines that put work off."""
    for number, line in enumerate(source.text.splitlines(), 1):
        if UNFINISHED.search(line):
            yield f"{source.name}:{number} {line.strip()}"


def places(source: Source) -> Iterator[str]:
    """Yield lines that name a package registry's host or a path of one machine."""
    for number, line in enumerate(source.text.splitlines(), 1):
        named = REGISTRY_HOST.search(line) or MACHINE_PATH.search(line)
        if named:
            yield f"{source.name}:{number} names {named[0]}"


def unguarded_statement(source: Source) -> Iterator[str]:
    """Yield a locking statement whose first comment lacks its transition or its guard.

    A transition reads `X -> Y`, or names what ends or leaves; the guard follows `Guard:`.
    """
    head = re.match(r"(?:\s*--[^\n]*\n)+", source.text)
    words = head[0] if head else ""
    if not re.search(r" -> |\btransition\b|\bends\b|\bleaves\b", words):
        yield f"{source.name}: its first comment names no transition"
    if "Guard: " not in words:
        yield f"{source.name}: its first comment names no guard"
