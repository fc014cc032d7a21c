"""The house rule that an activity starts a process only inside a crossing of the seam."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from tests.support.house import Source

STARTS = (
    "subprocess.",
    "multiprocessing.",
    "asyncio.create_subprocess_",
    "os.exec",
    "os.fork",
    "os.popen",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "pty.",
    "playwright.sync_api.sync_playwright",
    "playwright.async_api.async_playwright",
)
BROWSER_STARTS = (".launch", ".launch_persistent_context")
# It is itself what a crossing starts, alone and without our code: there is no seam in it.
STARTED_INSIDE_A_CROSSING = frozenset({"activities/environment/leash.py"})


def unsealed_starts(source: Source) -> Iterator[str]:
    """Yield starts of processes that are not in the body of a `seam.crossing("call", ...)`."""
    if source.name in STARTED_INSIDE_A_CROSSING:
        return
    tree = source.tree
    imported = dict(_imported(tree))
    for call in _outside_crossings(tree):
        called = _full_name(call, imported)
        if called.startswith(STARTS) or called.endswith(BROWSER_STARTS):
            yield f"{source.name}:{call.lineno} starts a process outside of a crossing: {called}"


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each imported name with what it stands for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    yield alias.asname, alias.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _outside_crossings(node: ast.AST) -> Iterator[ast.Call]:
    """Yield every call that runs in no crossing of its own function."""
    if isinstance(node, ast.Call):
        yield node
    sealed = isinstance(node, ast.With) and any(map(_is_crossing, node.items))
    for child in ast.iter_child_nodes(node):
        if sealed and isinstance(child, ast.stmt):
            yield from _in_functions(child)
        else:
            yield from _outside_crossings(child)


def _in_functions(node: ast.AST) -> Iterator[ast.Call]:
    """Yield calls in functions made within a crossing: they may be called after it."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for child in ast.iter_child_nodes(inner):
                yield from _outside_crossings(child)


def _is_crossing(item: ast.withitem) -> bool:
    match item.context_expr:
        case ast.Call(
            func=ast.Attribute(value=ast.Name("seam"), attr="crossing"),
            args=[ast.Constant("call"), _],
        ):
            return True
        case _:
            return False


def _full_name(call: ast.Call, imported: Mapping[str, str]) -> str:
    first, dot, rest = ast.unparse(call.func).partition(".")
    return f"{imported.get(first, first)}{dot}{rest}"
