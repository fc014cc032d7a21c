"""The second application: of another domain and build, without known faults."""

from __future__ import annotations

from pathlib import Path

import httpx

from sandbox.acceptance.running import read_recipe, run_own_checks, running


def test_its_own_checks_pass(second_app: Path) -> None:
    assert run_own_checks(read_recipe(second_app)) == ""


def test_its_own_checks_can_fail(second_app: Path) -> None:
    tariff = second_app / "refuge" / "tariff.py"
    tariff.write_text(tariff.read_text().replace("MEMBER_PERCENT = 60", "MEMBER_PERCENT = 61"))
    assert "FAIL: test_members_pay_six_tenths" in run_own_checks(read_recipe(second_app))


def test_a_stay_is_asked_for_and_cancelled_over_http(second_app: Path) -> None:
    wish = {"guest": "Uta", "arrival": "2026-08-01", "nights": "2", "beds": "1", "member": "yes"}
    with (
        running(read_recipe(second_app)) as address,
        httpx.Client(base_url=address, follow_redirects=True, trust_env=False) as guest,
    ):
        asked = guest.post("/huts/gams/stays", data=wish)
        assert "<dd>confirmed</dd>" in asked.text
        assert "<dd>34.60</dd>" in asked.text
        assert "<td>11</td><td>Uta</td>" in guest.get("/huts/gams?from=2026-08-01").text
        cancelled = guest.post(f"{asked.url.path}/cancel")
        assert "<dd>cancelled</dd>" in cancelled.text
        assert "Uta" not in guest.get("/huts/gams?from=2026-08-01").text


def test_each_start_has_an_empty_desk_again(second_app: Path) -> None:
    recipe = read_recipe(second_app)
    wish = {"guest": "Uta", "arrival": "2026-08-01", "nights": "1", "beds": "1"}
    codes = []
    for _ in range(2):
        with running(recipe) as address:
            answer = httpx.post(f"{address}/huts/gams/stays", data=wish, trust_env=False)
            codes.append(answer.headers["Location"])
    assert codes == ["/stays/GA006", "/stays/GA006"]
