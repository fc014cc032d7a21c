"""Resolve a procedure's target on the live page: exactly one element, or the procedure is wrong."""

from __future__ import annotations

from typing import assert_never

from playwright.sync_api import Locator, Page

from orchestrator.clock import monotonic
from orchestrator.contracts.procedure import Target

AREAS = (
    "tr, li, article, section, fieldset, form, dd, figure, [role=row], [role=listitem], "
    "[role=region], [role=group], div"
)
LOOK_EVERY_MS = 50


class TargetUnclear(Exception):
    """The target names no element, or several: of a step, that is the procedure's fault."""

    def __init__(self, target: Target, count: int) -> None:
        seen = "several elements are" if count else "no element is"
        super().__init__(f"{seen} named by {describe(target)}")
        self.is_missing = count == 0


def locate(page: Page, target: Target, *, exact: bool) -> Locator:
    """Return everything that the target names now; may be nothing, may be several."""
    found = _by(page, target, exact)
    if target.within is not None:
        found = _by(_innermost(page, target.within, found, exact), target, exact)
    return found.nth(target.nth) if target.nth is not None else found


def resolve(page: Page, target: Target, timeout_ms: int) -> Locator:
    """Wait for exactly one element, the exact name before a part of it. Raises TargetUnclear."""
    until = monotonic() + timeout_ms / 1000
    while True:
        for exact in (True,) if target.exact else (True, False):
            found = locate(page, target, exact=exact)
            count = found.count()
            if count == 1:
                return found
            if count > 1:
                break
        if monotonic() >= until:
            raise TargetUnclear(target, count)
        page.wait_for_timeout(LOOK_EVERY_MS)


def describe(target: Target) -> str:
    """Return the target in words."""
    name = f" {target.name!r}" if target.name else ""
    within = f" within {target.within!r}" if target.within else ""
    return f"{target.by} {target.value!r}{name}{within}"


def _innermost(page: Page, text: str, wanted: Locator, exact: bool) -> Locator:
    """Return the smallest areas that hold both the text and what is wanted; may be several."""
    all_areas = page.locator(AREAS)
    named = (
        all_areas.filter(has=page.get_by_text(text, exact=True))
        if exact
        else all_areas.filter(has_text=text)
    )
    areas = named.filter(has=wanted)
    return areas.filter(has_not=areas)


def _by(scope: Page | Locator, target: Target, exact: bool) -> Locator:
    match target.by:
        case "control":
            button = scope.get_by_role("button", name=target.value, exact=exact)
            return button.or_(scope.get_by_role("link", name=target.value, exact=exact))
        case "role":
            role = target.value
            if target.name is None:
                return scope.get_by_role(role)  # type: ignore[arg-type]  # any ARIA role
            return scope.get_by_role(role, name=target.name, exact=exact)  # type: ignore[arg-type]
        case "label":
            return scope.get_by_label(target.value, exact=exact)
        case "text":
            return scope.get_by_text(target.value, exact=exact)
        case "test_id":
            return scope.get_by_test_id(target.value)
        case "placeholder":
            return scope.get_by_placeholder(target.value, exact=exact)
        case _:
            assert_never(target.by)
