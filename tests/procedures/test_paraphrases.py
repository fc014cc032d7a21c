"""Reports that the grammar was not written from are read as what their writers meant."""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

import pytest

from activities.procedures.grammar import Missing, read_report
from orchestrator.contracts.procedure import (
    Check,
    Click,
    CountIs,
    Expectation,
    Fill,
    Navigate,
    PathIs,
    Press,
    Select,
    Step,
    Target,
    TextShown,
    ValueIs,
    Visible,
)

HERE = Path(__file__).parent
PARAPHRASES = sorted((HERE / "paraphrases").glob("*.md"))
READERS = sorted((HERE / "readers").glob("*.md"))


@pytest.mark.parametrize("file", [*PARAPHRASES, *READERS], ids=lambda file: file.stem)
def test_a_paraphrase_is_read_as_it_was_meant(file: Path) -> None:
    read = read_report("t", file.read_text())
    assert not isinstance(read, Missing), read.lacks
    meant = file.with_suffix(".intended").read_text().splitlines()
    assert [*map(said, read.steps), *map(expected, read.expectations)] == meant


def test_there_are_fifteen_of_each() -> None:
    assert (len(PARAPHRASES), len(READERS)) == (15, 15)


def said(step: Step) -> str:
    """Return a step in one line."""
    match step:
        case Navigate(path=path):
            return f"navigate {path}"
        case Click(target=target):
            return f"click {named(target)}"
        case Fill(target=target, value=value, secret=secret):
            given = value if secret is None else f"secret {secret}"
            within = f" within {target.within}" if target.within else ""
            return f"fill {target.by} {target.value} = {given}{within}"
        case Select(target=target, option=option):
            return f"select {named(target)} = {option}"
        case Check(target=target, on=on):
            return f"check {named(target)} {'on' if on else 'off'}"
        case Press(key=key):
            return f"press {key}"
        case _:
            assert_never(step)


def expected(expectation: Expectation) -> str:
    """Return an expectation in one line."""
    match expectation:
        case TextShown(contains=text, is_shown=is_shown):
            return f'text "{text}" {"shown" if is_shown else "hidden"}'
        case Visible(target=target, is_visible=is_visible):
            return f"{'visible' if is_visible else 'gone'} {named(target)}"
        case ValueIs(target=target, equals=value):
            return f"value {named(target)} = {value}"
        case CountIs(target=target, equals=count):
            return f"count {named(target)} {count}"
        case PathIs(equals=path):
            return f"path {path}"
        case _:
            assert_never(expectation)


def named(target: Target) -> str:
    """Return what a target names: of a role its name, else its value behind the manner."""
    if target.by == "role":
        words = target.value if target.name is None else f"{target.value} {target.name}"
    else:
        words = f"{target.by} {target.value}"
    return f"{words} within {target.within}" if target.within else words
