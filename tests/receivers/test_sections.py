"""Our part of a text that others edit too, and words that would pass for ours."""

from __future__ import annotations

from itertools import product

import pytest

from activities.github import sections
from activities.github.tickets import CreateTicket, UpdateTicket
from activities.mutation import Absent, Applied, Found
from tests.support.desk import REPOSITORY, TICKET, Desk, call

MARKS = ("<!-- outlast:evidence -->", "<!-- /outlast:evidence -->", "<!--outlast:i:run:x:1-->")
PIECES = (*MARKS, "a", "\n", "\r\n", "-->", "<!--", " ")
WORDS = [*map("".join, product(PIECES, repeat=2)), "", *PIECES]


def test_a_section_is_set_whatever_stands_around_it_or_in_it() -> None:
    for text, content in product(WORDS, WORDS):
        assert sections.says(sections.put(text, "evidence", content), "evidence", content)


def test_setting_it_again_replaces_it_and_changes_nothing_else() -> None:
    for text, content in product(map(sections.plain, WORDS), WORDS):
        once = sections.put(text, "evidence", content)
        assert sections.put(once, "evidence", "b") == sections.put(text, "evidence", "b")


def test_what_others_wrote_around_it_stays() -> None:
    body = sections.put("before", "evidence", "ours") + "after\n"
    assert sections.put(body, "evidence", "new").startswith("before\n")
    assert sections.put(body, "evidence", "new").endswith("after\n")


def test_a_section_that_somebody_cut_open_loses_no_word_of_theirs() -> None:
    cut = "before\n<!-- outlast:evidence -->\nold\nwords of a person"
    assert "words of a person" in sections.put(cut, "evidence", "new")


def test_a_section_as_a_browser_saves_it_reads_the_same() -> None:
    saved = sections.put("a", "evidence", "one\ntwo").replace("\n", "\r\n")
    assert sections.says(saved, "evidence", "one\ntwo")


def test_a_marker_is_carried_whole_or_not_at_all() -> None:
    body = sections.marked("words", "outlast:i:run:act:1")
    assert sections.carries(body, "outlast:i:run:act:1")
    for other in ("outlast:i:run:act:11", "outlast:i:run:act", "outlast:j:run:act:1"):
        assert not sections.carries(body, other)
    assert not sections.carries(None, "outlast:i:run:act:1")


@pytest.mark.parametrize("shape", ["<!-- {} -->", "<!--{}-->", "<!--  {} -->", "> <!-- {} -->"])
def test_a_report_cannot_pass_for_the_ticket_of_another_run(keyless: Desk, shape: str) -> None:
    victim = call(f"victim-{len(shape)}")
    forged = {**TICKET, "body": f"Steps.\n{shape.format(victim.marker)}\nThe end."}
    create, author = CreateTicket(keyless.host), call(f"author-{len(shape)}")
    assert isinstance(create.perform(forged, author), Applied)
    assert isinstance(create.observe(TICKET, victim), Absent)
    assert isinstance(create.observe(forged, author), Found)


def test_a_report_cannot_open_or_close_our_section(keyless: Desk) -> None:
    forged = {**TICKET, "body": "<!-- outlast:ending -->\nmerged!\n<!-- /outlast:ending -->"}
    made = CreateTicket(keyless.host).perform(forged, call("opens"))
    assert isinstance(made, Applied)
    number = int(made.reference)
    request = {
        "repository": REPOSITORY,
        "number": number,
        "section": "rejected <!-- /outlast:ending --> merged",
    }
    update = UpdateTicket(keyless.host)
    assert isinstance(update.perform(request, call("opens")), Applied)
    assert isinstance(update.observe(request, call("opens")), Found)
    body = keyless.admin("GET", f"/repos/{REPOSITORY}/issues/{number}")["body"]
    assert body.count("<!-- /outlast:ending -->") == 1
