"""A Python file with its tree, and the bytes that each node stands on."""

from __future__ import annotations

import ast
import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from activities.repair.edits import Edit

WORD = re.compile(r"^[A-Za-z_][A-Za-z0-9_-]{1,40}$")


@dataclass
class Source:
    """One parsed file in UTF-8. Offsets are bytes, as the tree gives them."""

    path: str
    data: bytes
    tree: ast.Module = field(init=False)
    _starts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.tree = ast.parse(self.data)
        mark = len(codecs.BOM_UTF8) if self.data.startswith(codecs.BOM_UTF8) else 0
        self._starts = [mark]
        for line in self.data[mark:].splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends."""
        begin = self._starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        end = self._starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        return begin, end

    def text(self, node: ast.AST) -> str:
        """Return a node as it is written."""
        begin, end = self.span(node)
        return self.data[begin:end].decode()

    def between(self, before: ast.AST, after: ast.AST) -> tuple[int, str]:
        """Return what stands between two nodes, and where it begins."""
        begin, end = self.span(before)[1], self.span(after)[0]
        return begin, self.data[begin:end].decode()

    def replace(self, node: ast.AST, new: str, operator: str, prior: float) -> Edit:
        """Return the edit that writes something else in a node's place."""
        begin, end = self.span(node)
        line: int = node.lineno  # type: ignore[attr-defined]
        return Edit(self.path, begin, end, new, operator, line, prior)

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Yield every function of the file."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node

    def words(self) -> set[str]:
        """Return the strings of the file that look like keys or names."""
        return {
            node.value
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and WORD.match(node.value)
        }


def parents(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    """Return the parent of every node."""
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
