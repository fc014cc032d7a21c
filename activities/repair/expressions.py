"""General mutation operators on expressions: comparisons, numbers, arithmetic, logic, calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from activities.repair.edits import Edit
from activities.repair.source import Source

BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
REVERSED = {
    "==": ("!=",),
    "!=": ("==",),
    "<": (">", "=="),
    "<=": (">=", "=="),
    ">": ("<",),
    ">=": ("<=",),
    "in": ("not in",),
    "not in": ("in",),
    "is": ("is not",),
    "is not": ("is",),
}
ARITHMETIC = {
    ast.Add: ("+", (("-", 0.9), ("*", 0.4))),
    ast.Sub: ("-", (("+", 0.9), ("*", 0.2))),
    ast.Mult: ("*", (("+", 0.5), ("/", 0.5), ("-", 0.2))),
    ast.Div: ("/", (("*", 0.6), ("//", 0.5))),
    ast.FloorDiv: ("//", (("/", 0.5), ("*", 0.4))),
    ast.Mod: ("%", (("//", 0.4),)),
}
PAIRS = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "floor": "ceil",
    "ceil": "floor",
    "lower": "upper",
    "upper": "lower",
    "startswith": "endswith",
    "endswith": "startswith",
    "first": "last",
    "last": "first",
    "lstrip": "rstrip",
    "rstrip": "lstrip",
}


def comparisons(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Move a boundary, or turn a comparison round."""
    if not isinstance(node, ast.Compare):
        return
    left: ast.expr = node.left
    for right in node.comparators:
        begin, gap = source.between(left, right)
        left = right
        word = gap.strip(" ()\n\\")
        at = begin + len(gap[: gap.find(word)].encode())
        for new, name, prior in _turned(word):
            yield Edit(source.path, at, at + len(word.encode()), new, name, node.lineno, prior)


def _turned(word: str) -> Iterator[tuple[str, str, float]]:
    if word in BOUNDARY:
        yield BOUNDARY[word], "comparison-boundary", 1.0
    for new in REVERSED.get(word, ()):
        yield new, "comparison-reversed", 0.5


def numbers(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Move a whole number by one; turn a truth value round."""
    if not isinstance(node, ast.Constant):
        return
    value = node.value
    if isinstance(value, bool):
        yield source.replace(node, str(not value), "truth-value", 0.5)
    elif isinstance(value, int) and abs(value) < 10_000:
        for new in (value + 1, value - 1):
            yield source.replace(node, str(new), "number-by-one", 0.6)


def arithmetic(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Put another operator, or drop one side."""
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        word, others = ARITHMETIC[type(node.op)]
        begin, gap = source.between(node.left, node.right)
        if gap.count(word) == 1:
            at = begin + len(gap[: gap.find(word)].encode())
            for new, prior in others:
                yield Edit(source.path, at, at + len(word), new, "arithmetic", node.lineno, prior)
        yield source.replace(node, source.text(node.left), "term-dropped", 0.35)
        yield source.replace(node, source.text(node.right), "term-dropped", 0.25)
    if isinstance(node, ast.AugAssign) and type(node.op) in (ast.Add, ast.Sub):
        begin, gap = source.between(node.target, node.value)
        old, new = ("+=", "-=") if isinstance(node.op, ast.Add) else ("-=", "+=")
        at = begin + gap.find(old)
        yield Edit(source.path, at, at + 2, new, "arithmetic", node.lineno, 0.8)


def logic(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Put `or` for `and`, drop a `not`, negate a condition, drop one side."""
    if isinstance(node, ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for before, after in zip(node.values, node.values[1:], strict=False):
            begin, gap = source.between(before, after)
            at = begin + len(gap[: gap.find(old)].encode())
            yield Edit(source.path, at, at + len(old), new, "and-or", node.lineno, 0.6)
        for value in node.values:
            yield source.replace(node, source.text(value), "condition-dropped", 0.3)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield source.replace(node, source.text(node.operand), "negation", 0.5)
    if isinstance(node, ast.If | ast.IfExp | ast.While) and not isinstance(node.test, ast.UnaryOp):
        yield source.replace(node.test, f"not ({source.text(node.test)})", "negation", 0.4)


def bounds(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Move a bound that is an expression by one: of a slice, a range, a comparison, a result."""
    places: list[ast.expr] = []
    if isinstance(node, ast.Slice):
        places = [bound for bound in (node.lower, node.upper) if bound is not None]
    elif isinstance(node, ast.Call) and _called(node) in ("range", "min", "max", "round"):
        places = list(node.args)
    elif isinstance(node, ast.Compare):
        places = list(node.comparators)
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.BinOp):
        places = [node.value]
    for place in places:
        if not isinstance(place, ast.Constant):
            for sign in ("+", "-"):
                new = f"{_grouped(source, place)} {sign} 1"
                yield source.replace(place, new, "bound-by-one", 0.45)


def calls(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Swap arguments, take the call's counterpart, wrap or unwrap a conversion."""
    if not isinstance(node, ast.Call):
        return
    name = _called(node)
    if name in PAIRS:
        function = node.func
        text = source.text(function)
        new = text[: len(text) - len(name)] + PAIRS[name]
        yield source.replace(function, new, "counterpart-call", 0.6)
    for first, second in zip(node.args, node.args[1:], strict=False):
        begin, end = source.span(first)[0], source.span(second)[1]
        gap = source.between(first, second)[1]
        new = f"{source.text(second)}{gap}{source.text(first)}"
        yield Edit(source.path, begin, end, new, "arguments-swapped", node.lineno, 0.3)
    if name in ("int", "str", "float", "abs", "round", "len") and len(node.args) == 1:
        yield source.replace(node, source.text(node.args[0]), "conversion-dropped", 0.2)


def _called(node: ast.Call) -> str:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _grouped(source: Source, node: ast.expr) -> str:
    text = source.text(node)
    simple = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant)
    return text if simple or isinstance(node, ast.BinOp) else f"({text})"


ALL = (comparisons, numbers, arithmetic, logic, bounds, calls)
