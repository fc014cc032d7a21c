"""Reports in plain words become procedures; what is not understood is named."""

from __future__ import annotations

import pytest

from activities.procedures.expectations import read_expectation
from activities.procedures.grammar import Missing, read_report
from activities.procedures.steps import read_step
from orchestrator.contracts.procedure import Procedure
from sandbox.reports import REPORTS

OPEN_CART = [{"do": "navigate", "path": "/cart"}]
CLICK = [{"do": "click", "target": {"by": "control", "value": "Save"}}]
FILL = [{"do": "fill", "target": {"by": "label", "value": "Amount"}, "value": "3"}]
STEPS = [
    ("Open /cart", OPEN_CART),
    ('Go to the "Cart" page at /cart.', OPEN_CART),
    ("Then visit the page /cart again", OPEN_CART),
    ('Click "Save"', CLICK),
    ("I press “Save”.", CLICK),
    ('Type "3" into "Amount"', FILL),
    ('Fill in "Amount" with "3"', FILL),
    ('Set the field "Amount" to "3"', FILL),
    ('In the box "Amount", enter "3"', FILL),
    (
        'Choose "Red" from "Colour"',
        [{"do": "select", "target": {"by": "label", "value": "Colour"}, "option": "Red"}],
    ),
    (
        'Tick the box "Terms"',
        [{"do": "check", "target": {"by": "label", "value": "Terms"}, "on": True}],
    ),
    ('Untick "Terms"', [{"do": "check", "target": {"by": "label", "value": "Terms"}, "on": False}]),
    ("Press the Enter key", [{"do": "press", "key": "Enter"}]),
    (
        'Click the link "Edit" in the row of "Anna"',
        [
            {
                "do": "click",
                "target": {"by": "role", "value": "link", "name": "Edit", "within": "Anna"},
            }
        ],
    ),
    ('Type "3" into "Amount" and then click "Save"', FILL + CLICK),
    (
        'Type the secret MY_KEY into "Key"',
        [{"do": "fill", "target": {"by": "label", "value": "Key"}, "secret": "MY_KEY"}],
    ),
    (
        'In the row "Anna", set "Amount" to "3"',
        [{**FILL[0], "target": {"by": "label", "value": "Amount", "within": "Anna"}}],
    ),
    (
        'Fill in "Amount" with "3" and "Amount" with "3"',
        FILL + FILL,
    ),
    ('Scroll down and click "Save" once more', CLICK),
    ("Go to https://somewhere.test/cart", OPEN_CART),
]
EXPECTATIONS = [
    ('The page shows "A" and "B"', [("text", "A", True), ("text", "B", True)]),
    ('It should not say "A" any more', [("text", "A", False)]),
    ('I should see "A"', [("text", "A", True)]),
    ('"A" is visible', [("text", "A", True)]),
    ('The page does not show "A" and "B"', [("text", "A", False), ("text", "B", False)]),
    ('It does not show "A", but shows "B"', [("text", "A", False), ("text", "B", True)]),
    ('"A" has disappeared and "B" appears', [("text", "A", False), ("text", "B", True)]),
    ('The page does not show "A", the address is /a, and "B"', None),
]


@pytest.mark.parametrize(("sentence", "steps"), STEPS, ids=[each[0] for each in STEPS])
def test_a_step_is_read(sentence: str, steps: list[dict[str, object]]) -> None:
    from_report = read_report("t", f'1. {sentence}\n\nExpected: The page shows "x".')
    assert isinstance(from_report, Procedure)
    read = [step.model_dump(exclude_none=True, exclude={"id"}) for step in from_report.steps]
    for step in read:
        step.get("target", {}).pop("exact", None)
    assert read == steps


@pytest.mark.parametrize(("sentence", "wanted"), EXPECTATIONS)
def test_a_text_expectation_is_read(
    sentence: str, wanted: list[tuple[str, str, bool]] | None
) -> None:
    read = read_expectation(sentence)
    said = (
        None
        if read is None
        else [(raw["expect"], raw["contains"], raw["is_shown"]) for raw in read]
    )
    assert said == wanted


@pytest.mark.parametrize(
    ("sentence", "raw"),
    [
        ('The field "Phone" still holds "1"', {"expect": "value", "equals": "1"}),
        ('"Phone" is empty', {"expect": "value", "equals": ""}),
        ("There are five list items", {"expect": "count", "equals": 5}),
        ("the address is /orders/1", {"expect": "path", "equals": "/orders/1"}),
        ('There is no button "Delete"', {"expect": "visible", "is_visible": False}),
        ('The heading "Orders" is visible', {"expect": "visible", "is_visible": True}),
    ],
)
def test_other_expectations_are_read(sentence: str, raw: dict[str, object]) -> None:
    [read] = read_expectation(sentence) or []
    assert {key: read[key] for key in raw} == raw


@pytest.mark.parametrize("sentence", ["Do something odd", "Open", 'Wiggle "Save"', "Click Save"])
def test_a_sentence_that_is_not_understood_is_refused_and_not_guessed(sentence: str) -> None:
    assert read_step(sentence) is None


def test_a_report_says_what_it_lacks_step_by_step() -> None:
    read = read_report("t", "1. Open /a\n2. Wiggle it\n")
    assert isinstance(read, Missing)
    assert "step 2" in read.lacks[0]
    assert "Wiggle it" in read.lacks[0]
    assert "Expected:" in read.lacks[1]


@pytest.mark.parametrize("name", sorted(set(REPORTS) - {"vague"}))
def test_every_sample_report_with_steps_is_read(name: str) -> None:
    assert isinstance(read_report(REPORTS[name].title, REPORTS[name].text), Procedure)


def test_the_sample_report_without_steps_says_that_they_are_missing() -> None:
    read = read_report("t", REPORTS["vague"].text)
    assert isinstance(read, Missing)
    assert "numbered steps" in read.lacks[0]


def test_a_sign_in_names_its_secret_and_never_its_value() -> None:
    report = REPORTS["address"]
    read = read_report(report.title, report.text)
    assert isinstance(read, Procedure)
    assert read.secrets == ("SHOP_PASSWORD",)
    assert [step.do for step in read.steps[:4]] == ["navigate", "fill", "fill", "click"]


@pytest.mark.parametrize(
    "sentence",
    [
        'The box "News" is not ticked',
        'The button "Go" is blue',
        "There are 5 wobbles",
        "We are at /a or so",
    ],
)
def test_an_expectation_that_names_something_and_is_not_understood_is_never_passed_over(
    sentence: str,
) -> None:
    read = read_report("t", f'1. Open /a\n\nExpected:\n- The page shows "x"\n- {sentence}\n')
    assert isinstance(read, Missing)
    assert sentence in read.lacks[0]


def test_a_sentence_of_comment_beside_an_expectation_is_passed_over() -> None:
    read = read_report("t", '1. Open /a\n\nExpected: The page shows "x". That would be nice.\n')
    assert isinstance(read, Procedure)
    assert len(read.expectations) == 1


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n\n",
        "x" * 50_000,
        '"' * 50_000,
        "1. " * 10_000,
        "1. " + 'Click "a" then ' * 3_000,
        "Expected: " + '"a" and ' * 6_000,
        ("Expected: " + "the page and " * 150 + "\n") * 20,
    ],
    ids=range(8),
)
def test_a_report_without_sense_is_answered_with_what_is_missing(text: str) -> None:
    assert isinstance(read_report("t", text), Missing)


def test_more_steps_than_a_procedure_may_have_are_refused_in_words() -> None:
    steps = "\n".join(f"{number}. Open /a" for number in range(1, 80))
    read = read_report("t", f'{steps}\n\nExpected: The page shows "x".\n')
    assert isinstance(read, Missing)
    assert "at most 60 steps" in read.lacks[0]
