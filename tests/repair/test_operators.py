"""Each general operator makes the edits it is named for, small and in place."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from activities.repair import names
from activities.repair.edits import identity, unified
from activities.repair.ranking import python_edits
from activities.repair.source import Source

WORDS = names.Vocabulary(frozenset({"post_code", "postcode", "street", "city", "amount"}))
CASES = [
    ("comparison-boundary", "a = b < c\n", "a = b <= c\n"),
    ("comparison-reversed", "a = b == c\n", "a = b != c\n"),
    ("number-by-one", "a = b[1]\n", "a = b[2]\n"),
    ("truth-value", "f(x=True)\n", "f(x=False)\n"),
    ("arithmetic", "a = b - c\n", "a = b + c\n"),
    ("arithmetic", "a += b\n", "a -= b\n"),
    ("term-dropped", "a = b - c\n", "a = b\n"),
    ("and-or", "a = b and c\n", "a = b or c\n"),
    ("condition-dropped", "a = b and c\n", "a = b\n"),
    ("negation", "a = not b\n", "a = b\n"),
    ("negation", "if a:\n    f()\n", "if not (a):\n    f()\n"),
    ("bound-by-one", "a = b[c:d]\n", "a = b[c:d + 1]\n"),
    ("bound-by-one", "for a in range(n): f()\n", "for a in range(n - 1): f()\n"),
    ("counterpart-call", "a = max(b, c)\n", "a = min(b, c)\n"),
    ("arguments-swapped", "f(a, b)\n", "f(b, a)\n"),
    ("conversion-dropped", "a = int(b)\n", "a = b\n"),
    ("similar-key", 'a = b["postcode"]\n', 'a = b["post_code"]\n'),
    ("key-added", 'A = ("street", "city")\n', 'A = ("street", "city", "amount")\n'),
    (
        "entry-added",
        'a = {"street": f["street"], "city": f["city"]}\n',
        'a = {"street": f["street"], "city": f["city"], "amount": f["amount"]}\n',
    ),
    (
        "sql-operator",
        'q("SELECT a FROM t ORDER BY a DESC")\n',
        'q("SELECT a FROM t ORDER BY a ASC")\n',
    ),
    (
        "statement-dropped",
        "def f():\n    g()\n    return 1\n",
        "def f():\n    pass\n    return 1\n",
    ),
    ("guard-dropped", "def f(a):\n    if a:\n        return\n", "def f(a):\n    pass\n"),
    ("branches-swapped", "a = b if c else d\n", "a = d if c else b\n"),
    ("sibling-name", "def f(a, b):\n    return a\n", "def f(a, b):\n    return b\n"),
    (
        "term-added",
        "def f(a, b, c):\n    g(c)\n    return a + b\n",
        "def f(a, b, c):\n    g(c)\n    return a + b - c\n",
    ),
]


@pytest.mark.parametrize(("operator", "before", "after"), CASES)
def test_an_operator_makes_its_edit(operator: str, before: str, after: str) -> None:
    source = Source("m.py", before.encode())
    made = {
        edit.apply(source.data).decode()
        for edit in python_edits(source, WORDS)
        if edit.operator == operator
    }
    assert after in made


def test_a_fault_in_a_line_of_letters_beyond_ascii_is_spliced_at_the_right_byte() -> None:
    source = Source("m.py", 'a = f("äöü") if b < c else "é"\n'.encode())
    made = [
        edit.apply(source.data).decode()
        for edit in python_edits(source, WORDS)
        if edit.operator == "comparison-boundary"
    ]
    assert made == ['a = f("äöü") if b <= c else "é"\n']


def test_every_edit_of_a_real_file_leaves_the_rest_as_it_was() -> None:
    text = Path(ast.__file__).read_text(encoding="utf-8")[:20_000].rsplit("\ndef ", 1)[0]
    source = Source("m.py", text.encode())
    for edit in list(python_edits(source, WORDS))[:400]:
        changed = edit.apply(source.data)
        assert changed[: edit.start] == source.data[: edit.start]
        assert changed.endswith(source.data[edit.end :])


def test_two_spellings_of_one_meaning_are_one_candidate() -> None:
    assert identity("m.py", b"a = (b)\n") == identity("m.py", b"a = b  # said\n")
    assert identity("m.py", b"a = b\n") != identity("m.py", b"a = c\n")
    assert identity("m.py", b"a = (\n") is None


def test_a_template_edit_puts_a_similar_field_name() -> None:
    html = b'<input name="postcode"> {% if a < b %}x{% endif %}'
    made = {edit.apply(html).decode() for edit in names.template_edits("a.html", html, WORDS)}
    assert '<input name="post_code"> {% if a < b %}x{% endif %}' in made
    assert '<input name="postcode"> {% if a <= b %}x{% endif %}' in made


def test_a_patch_without_a_last_newline_is_one_that_git_reads() -> None:
    patch = unified("m.py", b"a = 1", b"a = 2")
    assert patch.splitlines()[-1] == "\\ No newline at end of file"
    assert patch.startswith("--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n")
