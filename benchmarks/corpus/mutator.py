"""Plant one fault in an application's source, by kind and by seed. Knows no repair operator.

Some kinds lose what no small edit brings back (a whole assignment, a loop's body, a word): the rate
is to be honest, not high.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mutant:
    """One planted fault: where, of which kind, and the file's new text."""

    path: str
    line: int
    kind: str
    text: str


Change = Callable[[ast.AST, random.Random], bool]


def flip_comparison(node: ast.AST, chance: random.Random) -> bool:
    """Put another comparison."""
    if not isinstance(node, ast.Compare):
        return False
    others = [ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq]
    if type(node.ops[0]) not in others:
        return False
    node.ops[0] = chance.choice([o for o in others if o is not type(node.ops[0])])()
    return True


def swap_arithmetic(node: ast.AST, chance: random.Random) -> bool:
    """Put another arithmetic operator."""
    if not isinstance(node, ast.BinOp) or isinstance(node.left, ast.Constant | ast.JoinedStr):
        return False
    others = [ast.Add, ast.Sub, ast.Mult, ast.FloorDiv]
    if type(node.op) not in others:
        return False
    node.op = chance.choice([o for o in others if o is not type(node.op)])()
    return True


def shift_number(node: ast.AST, chance: random.Random) -> bool:
    """Move a number by one to three."""
    if not isinstance(node, ast.Constant) or type(node.value) is not int:
        return False
    node.value += chance.choice([-3, -2, -1, 1, 2, 3])
    return True


def misspell_key(node: ast.AST, chance: random.Random) -> bool:
    """Lose or change a letter of a string that looks like a key."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return False
    if not node.value.isidentifier() or len(node.value) < 4:
        return False
    at = chance.randrange(1, len(node.value))
    node.value = node.value[:at] + node.value[at + 1 :]
    return True


def force_condition(node: ast.AST, chance: random.Random) -> bool:
    """Make a condition always or never true."""
    if not isinstance(node, ast.If | ast.IfExp):
        return False
    node.test = ast.copy_location(ast.Constant(chance.choice([True, False])), node.test)
    return True


def negate_condition(node: ast.AST, _chance: random.Random) -> bool:
    """Turn a condition round."""
    if not isinstance(node, ast.If | ast.IfExp):
        return False
    node.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
    return True


def drop_statement(node: ast.AST, chance: random.Random) -> bool:
    """Lose one statement of a body."""
    body = getattr(node, "body", None)
    if not isinstance(node, ast.FunctionDef | ast.For | ast.If) or not body or len(body) < 2:
        return False
    at = chance.randrange(len(body))
    if isinstance(body[at], ast.Return):
        return False
    del body[at]
    return True


def drop_argument(node: ast.AST, chance: random.Random) -> bool:
    """Lose a keyword argument."""
    if not isinstance(node, ast.Call) or not node.keywords:
        return False
    del node.keywords[chance.randrange(len(node.keywords))]
    return True


def swap_names(node: ast.AST, _chance: random.Random) -> bool:
    """Exchange the first two arguments of a call."""
    if not isinstance(node, ast.Call) or len(node.args) < 2:
        return False
    node.args[0], node.args[1] = node.args[1], node.args[0]
    return True


KINDS: dict[str, Change] = {
    change.__name__.replace("_", "-"): change
    for change in (
        flip_comparison,
        swap_arithmetic,
        shift_number,
        misspell_key,
        force_condition,
        negate_condition,
        drop_statement,
        drop_argument,
        swap_names,
    )
}


def mutants(folder: Path, places: tuple[str, ...], seed: int) -> Iterator[Mutant]:
    """Yield mutants for ever, kinds in turn; which ones is the seed's choice alone."""
    chance = random.Random(seed)
    files = sorted(file for place in places for file in (folder / place).rglob("*.py"))
    while True:
        for kind, change in KINDS.items():
            made = _mutate(folder, chance.choice(files), kind, change, chance)
            if made is not None:
                yield made


def _mutate(
    folder: Path, file: Path, kind: str, change: Change, chance: random.Random
) -> Mutant | None:
    source = file.read_text()
    original = ast.parse(source)
    count = sum(1 for _ in ast.walk(original))
    for at in chance.sample(range(count), count):
        tree = copy.deepcopy(original)
        node = list(ast.walk(tree))[at]
        if hasattr(node, "lineno") and change(node, chance):
            text = _spliced(source, original, tree)
            if text is not None:
                path = str(file.relative_to(folder))
                return Mutant(path, int(getattr(node, "lineno", 0)), kind, text)
    return None


def _spliced(source: str, original: ast.Module, tree: ast.Module) -> str | None:
    """Write only the changed top-level part anew; the rest of the file keeps its form."""
    lines = source.splitlines(keepends=True)
    for before, after in zip(original.body, tree.body, strict=True):
        if ast.dump(before) != ast.dump(after):
            decorators = [each.lineno for each in getattr(before, "decorator_list", [])]
            first = min([before.lineno, *decorators]) - 1
            written = ast.unparse(ast.fix_missing_locations(after)) + "\n"
            text = "".join([*lines[:first], written, *lines[before.end_lineno :]])
            try:
                ast.parse(text)
            except SyntaxError:
                return None
            return text
    return None
