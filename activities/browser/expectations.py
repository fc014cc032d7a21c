"""Compare a page with what correct behaviour is; give it a little time to become so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never
from urllib.parse import urlsplit

from playwright.sync_api import Error as BrowserError
from playwright.sync_api import Page

from activities.browser.targets import TargetUnclear, describe, locate, resolve
from orchestrator.clock import monotonic
from orchestrator.contracts.procedure import (
    CountIs,
    Expectation,
    PathIs,
    Target,
    TextShown,
    ValueIs,
    Visible,
)

LOOK_EVERY_MS = 50
LOOK_ONCE_MS = 400
BEING_REPLACED = "context was destroyed"


@dataclass(frozen=True)
class Compared:
    """What was expected, what was seen, and whether they agree."""

    holds: bool
    expected: str
    observed: str


def expect(page: Page, expectation: Expectation, wait_ms: int) -> Compared:
    """Compare until it holds or the time is over; the last comparison counts.

    A page that is just being replaced is looked at again. Raises TargetUnclear for an expectation
    that names several elements; one that names none is not met.
    """
    until = monotonic() + wait_ms / 1000
    while True:
        try:
            compared = compare(page, expectation, LOOK_ONCE_MS)
        except BrowserError as fault:
            if BEING_REPLACED not in str(fault) or monotonic() >= until:
                raise
        else:
            if compared.holds or monotonic() >= until:
                return compared
        page.wait_for_timeout(LOOK_EVERY_MS)


def compare(page: Page, expectation: Expectation, wait_ms: int) -> Compared:
    """Compare once. Raises TargetUnclear when several elements are named."""
    try:
        return _compare(page, expectation, wait_ms)
    except TargetUnclear as unclear:
        if not unclear.is_missing:
            raise
        return Compared(False, in_words(expectation), str(unclear))


def in_words(expectation: Expectation) -> str:
    """Return what correct behaviour is, in a sentence."""
    match expectation:
        case TextShown(contains=text, is_shown=is_shown):
            return f"the page {'shows' if is_shown else 'does not show'} {text!r}"
        case Visible(target=target, is_visible=is_visible):
            return f"{describe(target)} is {'' if is_visible else 'not '}visible"
        case ValueIs(target=target, equals=equals):
            return f"{describe(target)} holds {equals!r}"
        case CountIs(target=target, equals=count):
            return f"{count} of {describe(target)}"
        case PathIs(equals=path):
            return f"the address is {path}"
        case _:
            assert_never(expectation)


def _compare(page: Page, expectation: Expectation, wait_ms: int) -> Compared:
    wanted = in_words(expectation)
    match expectation:
        case TextShown(contains=text, target=target, is_shown=is_shown):
            seen = _text(page, target, wait_ms)
            return Compared((_folded(text) in seen) is is_shown, wanted, seen)
        case Visible(target=target, is_visible=is_visible):
            found = locate(page, target, exact=target.exact)
            there = any(each.is_visible() for each in found.all())
            return Compared(there is is_visible, wanted, f"visible: {there}")
        case ValueIs(target=target, equals=equals):
            value = resolve(page, target, wait_ms).input_value(timeout=wait_ms)
            return Compared(value == equals, wanted, repr(value))
        case CountIs(target=target, equals=count):
            number = locate(page, target, exact=target.exact).count()
            return Compared(number == count, wanted, str(number))
        case PathIs(equals=path):
            at = urlsplit(page.url)
            seen = f"{at.path}?{at.query}" if "?" in path else at.path
            return Compared(seen == path, wanted, seen)
        case _:
            assert_never(expectation)


def _text(page: Page, target: Target | None, wait_ms: int) -> str:
    where = page.locator("body") if target is None else resolve(page, target, wait_ms)
    return _folded(where.inner_text(timeout=wait_ms))


def _folded(text: str) -> str:
    return " ".join(text.split())
