"""The light client sends what a browser would send, and says what it cannot do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from activities.environment.session import Completed, Response
from activities.repair.light import LightClient, NotExpressible, Played
from activities.repair.page import Page
from orchestrator.contracts.payload import JsonObject
from orchestrator.contracts.procedure import Procedure
from orchestrator.domain.failures import ActivityFailed, FailureKind

PAGE = """<head><title>Unseen</title></head><form method="post" action="/send">
<label>Name <input name="name" value="Bo"></label>
<label><input type="radio" name="size" value="s" checked>Small</label>
<label><input type="radio" name="size" value="l">Large</label>
<input name="off" value="1" disabled><input type="hidden" name="token" value="t">
<label>Hue <select name="hue"><option value="r">Red</option><option value="b">Blue</option></select>
</label><button name="go" value="yes">Send</button></form>
<table><tr><td>One</td></tr><tr><td>Two</td></tr></table>"""


class Canned:
    """A session that shows one page at every address, and keeps what was asked."""

    def __init__(self, failure: ActivityFailed | None = None) -> None:
        self.asked: list[tuple[str, str, Any]] = []
        self._failure = failure

    def start_app(self, extra_env: Mapping[str, str] | None = None) -> None:
        """Nothing is started."""

    def stop_app(self) -> None:
        """Nothing is stopped."""

    def request(
        self,
        method: str,
        path: str,
        form: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        follow: bool = False,
    ) -> Response:
        """Show the page, or fail as told."""
        if self._failure is not None:
            raise self._failure
        self.asked.append((method, path, form))
        return Response(200, [("set-cookie", "a=b; Path=/")], PAGE, path)

    def run(self, argv: list[str], timeout_s: float) -> Completed:
        """Nothing is run."""
        return Completed(0, "")

    def write(self, path: str, text: str) -> None:
        """Nothing is written."""


def play(session: Canned, expectation: JsonObject, *steps: JsonObject) -> Played:
    """Play steps on the page, then the expectation."""
    start = {"do": "navigate", "path": "/"}
    numbered = [{**step, "id": f"s-{at}"} for at, step in enumerate((start, *steps))]
    body = {"title": "t", "steps": numbered, "expectations": [{**expectation, "id": "e"}]}
    return LightClient(session, {}).play(Procedure.model_validate(body))


SHOWN: JsonObject = {"expect": "text", "contains": "One"}


def label(name: str) -> JsonObject:
    """Return the target that a label names."""
    return {"by": "label", "value": name}


def test_a_form_sends_what_a_browser_sends() -> None:
    session = Canned()
    played = play(
        session,
        SHOWN,
        {"do": "check", "target": label("Large")},
        {"do": "select", "target": label("Hue"), "option": "Blue"},
        {"do": "click", "target": {"by": "control", "value": "Send"}},
    )
    assert played.passed
    sent = {"name": ["Bo"], "size": ["l"], "token": ["t"], "hue": ["b"], "go": ["yes"]}
    assert session.asked[-1] == ("POST", "/send", sent)


def test_a_dropped_connection_breaks_the_step_and_not_the_search() -> None:
    failure = ActivityFailed(FailureKind.ENVIRONMENTAL, "GET /: RemoteDisconnected")
    assert play(Canned(failure), SHOWN).broke == "no answer to GET /"


def test_being_told_to_stop_is_not_taken_for_a_fault_of_the_application() -> None:
    with pytest.raises(ActivityFailed, match="stopped as told"):
        play(Canned(ActivityFailed(FailureKind.TRANSIENT, "stopped as told")), SHOWN)


ROW: JsonObject = {"by": "role", "value": "row"}


@pytest.mark.parametrize(
    ("expectation", "holds"),
    [
        ({"expect": "count", "target": ROW, "equals": 2}, True),
        ({"expect": "count", "target": ROW, "equals": 3}, False),
        ({"expect": "text", "target": ROW, "contains": "Two"}, True),
        ({"expect": "text", "target": ROW, "contains": "Name"}, False),
        ({"expect": "text", "target": ROW, "contains": "Name", "is_shown": False}, True),
        ({"expect": "text", "contains": "Unseen"}, False),
        ({"expect": "value", "target": label("Name"), "equals": "Bo"}, True),
        ({"expect": "path", "equals": "/"}, True),
        ({"expect": "visible", "target": {**ROW, "name": "Two"}}, True),
    ],
)
def test_an_expectation_is_judged_as_a_browser_judges_it(
    expectation: JsonObject, holds: bool
) -> None:
    assert play(Canned(), expectation).holds == (holds,)


@pytest.mark.parametrize("more", [{"within": "One"}, {"nth": 1}, {"exact": True}])
def test_a_narrower_target_is_said_to_need_a_browser_and_never_judged_without(
    more: JsonObject,
) -> None:
    with pytest.raises(NotExpressible):
        play(Canned(), {"expect": "count", "target": {**ROW, **more}, "equals": 1})


def test_elements_that_have_no_end_do_not_swallow_what_follows() -> None:
    page = Page("/", 200, "<p>a<wbr>b</p><map><area></map><p>c</p>")
    assert [each.text() for each in page.root.find("p")] == ["ab", "c"]


def test_words_within_a_line_are_joined_as_a_browser_joins_them() -> None:
    page = Page("/", 200, "<p>It is <b>60</b>.</p><p>Next</p>")
    assert page.text() == "It is 60. Next"
