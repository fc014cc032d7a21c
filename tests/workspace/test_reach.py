"""Where a repair may reach: a submitter's wish narrows the repository's offer, never widens it."""

from __future__ import annotations

import pytest

from activities.workspace.policy import NOWHERE, PatchLimits, narrowed, violations

PATCH = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    ("asked", "source", "reach"),
    [
        ((), ("shop",), ("shop",)),
        (("shop/a.py",), ("shop",), ("shop/a.py",)),
        (("shop/a.py", "tests"), ("shop",), ("shop/a.py",)),
        (("shop",), ("shop/pages",), ("shop/pages",)),
        (("tests",), ("shop",), (NOWHERE,)),
    ],
)
def test_a_wish_only_takes_away(
    asked: tuple[str, ...], source: tuple[str, ...], reach: tuple[str, ...]
) -> None:
    assert narrowed(asked, source) == reach


def test_where_nothing_is_left_every_patch_is_refused() -> None:
    limits = PatchLimits(narrowed(("tests",), ("shop",)), 3, 1000)
    assert violations(PATCH.format("shop/a.py"), limits) != ()
    assert violations(PATCH.format("tests/a.py"), limits) != ()
