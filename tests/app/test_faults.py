"""The shop as shipped: its faults are real, each is one small edit away from right."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from sandbox.acceptance.check import check
from sandbox.acceptance.running import Recipe, read_recipe, run_own_checks, running
from sandbox.reports import REPORTS

PATCHES = Path(__file__).with_name("reference_patches")
REPAIRABLE = sorted(name for name, report in REPORTS.items() if report.accepted_after_merge)


def apply_reference_patch(folder: Path, name: str) -> None:
    patch = PATCHES / f"{name}.patch"
    subprocess.run(["git", "apply", str(patch)], cwd=folder, check=True, capture_output=True)


def test_three_reports_can_be_repaired() -> None:
    assert REPAIRABLE == ["address", "paging", "total"]


def test_the_own_checks_pass_with_all_faults_in_it(shop: Path) -> None:
    assert run_own_checks(read_recipe(shop)) == ""


@pytest.mark.parametrize("name", REPAIRABLE)
def test_a_fault_is_red_on_the_base_and_green_with_the_reference_patch(
    name: str, shop: Path
) -> None:
    assert check(shop, name) != []
    apply_reference_patch(shop, name)
    assert check(shop, name) == []
    assert run_own_checks(read_recipe(shop)) == ""


@pytest.mark.parametrize("name", REPAIRABLE)
def test_a_reference_patch_is_one_line_of_one_file(name: str) -> None:
    lines = (PATCHES / f"{name}.patch").read_text().splitlines()
    assert sum(line.startswith("+++ ") for line in lines) == 1
    assert sum(bool(re.match(r"\+(?!\+\+ )", line)) for line in lines) == 1
    assert sum(bool(re.match(r"-(?!-- )", line)) for line in lines) == 1


@pytest.mark.parametrize("name", REPAIRABLE)
def test_a_repair_leaves_the_other_faults_red(name: str, shop: Path) -> None:
    apply_reference_patch(shop, name)
    for other in REPAIRABLE:
        assert (check(shop, other) == []) == (other == name)


def test_all_three_repairs_go_together(shop: Path) -> None:
    for name in REPAIRABLE:
        apply_reference_patch(shop, name)
    assert run_own_checks(read_recipe(shop)) == ""
    assert [check(shop, name) for name in REPAIRABLE] == [[], [], []]


def test_nothing_in_the_shop_points_at_its_faults(shop: Path) -> None:
    for file in (*shop.glob("shop/**/*.py"), *shop.glob("tests/*.py")):
        assert not re.search(r"(?i)\b(bug|fault|fixme|todo|xxx|wrong|planted)\b", file.read_text())


def test_the_search_report_is_green_on_the_base(shop: Path) -> None:
    assert check(shop, "search") == []


def test_the_limit_report_contradicts_several_own_checks(shop: Path) -> None:
    assert check(shop, "limit") != []
    basket = shop / "shop" / "basket.py"
    basket.write_text(basket.read_text().replace("MOST_OF_ONE = 10", "MOST_OF_ONE = 12"))
    assert check(shop, "limit") == []
    red = re.findall(r"^(?:FAIL|ERROR): (\w+)", run_own_checks(read_recipe(shop)), re.MULTILINE)
    assert "test_a_dozen_of_one_ware_is_not_sold" in red, "the very request of the report"
    assert len(set(red)) >= 3


def test_the_limit_report_sends_what_an_own_check_forbids() -> None:
    """No edit can tell the two apart: same page opened, same form sent, same fixtures."""
    report = REPORTS["limit"].text
    assert "Open /wares/blue-mug" in report
    assert 'Type "12" into "Quantity"' in report
    own = (Path(__file__).parents[2] / "sandbox/app/tests/test_basket.py").read_text()
    assert 'self.page("/wares/blue-mug")' in own
    assert 'self.add("blue-mug", "12")' in own


@pytest.mark.parametrize("earlier_starts", [0, 1])
def test_the_delivery_report_gives_mixed_results_in_three_fresh_starts(
    earlier_starts: int, shop: Path
) -> None:
    recipe = read_recipe(shop)
    shown = [delivery_is_shown(recipe) for _ in range(earlier_starts + 3)]
    assert sorted(set(shown[earlier_starts:])) == [False, True]
    assert shown == [number % 2 == 0 for number in range(earlier_starts + 3)]


def delivery_is_shown(recipe: Recipe) -> bool:
    with running(recipe) as address:
        page = httpx.get(f"{address}/wares/walnut-tray", trust_env=False).text
    assert ("within 3 days" in page) != ("time not known" in page)
    return "within 3 days" in page


def test_the_delivery_report_is_red_whichever_depot_is_first(
    make_shop: Callable[[str], Path],
) -> None:
    shop = make_shop("shop")
    assert check(shop, "delivery") != []
    assert check(shop, "delivery") != []
