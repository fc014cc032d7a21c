"""General operators on statements: leave one out, put a default right."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from activities.repair.edits import Edit
from activities.repair.source import Source


def deleted(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Leave out a statement that only does something, or only guards an early end."""
    is_doing = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    if is_doing or isinstance(node, ast.AugAssign | ast.Raise):
        yield source.replace(node, "pass", "statement-dropped", 0.25)
    leaves = ast.Return | ast.Raise | ast.Continue | ast.Break
    if (
        isinstance(node, ast.If)
        and not node.orelse
        and len(node.body) == 1
        and isinstance(node.body[0], leaves)
    ):
        yield source.replace(node, "pass", "guard-dropped", 0.3)


def chosen(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Take the other branch of an expression."""
    if isinstance(node, ast.IfExp):
        yield source.replace(node, source.text(node.body), "branch-taken", 0.3)
        yield source.replace(node, source.text(node.orelse), "branch-taken", 0.3)
        new = (
            f"{source.text(node.orelse)} if {source.text(node.test)} else {source.text(node.body)}"
        )
        yield source.replace(node, new, "branches-swapped", 0.4)


ALL = (deleted, chosen)
