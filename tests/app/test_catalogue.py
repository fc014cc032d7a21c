"""The catalogue of sample reports and the files it names."""

from __future__ import annotations

from sandbox.reports import FOLDER, REPORTS, get_report


def test_catalogue_and_folder_name_the_same_reports() -> None:
    assert {file.stem for file in FOLDER.glob("*.md")} == set(REPORTS)


def test_each_ending_is_there() -> None:
    endings = sorted((report.outcome, report.reason) for report in REPORTS.values())
    assert endings == [
        ("merged", ""),
        ("merged", ""),
        ("merged", ""),
        ("needs-human-triage", "flaky"),
        ("needs-human-triage", "not-reproduced"),
        ("needs-human-triage", "report-incomplete"),
        ("repair-budget-exhausted", ""),
    ]


def test_a_title_is_the_first_line() -> None:
    assert get_report("search").title == "The search does not find the kettle"


def test_every_report_but_the_vague_one_has_numbered_steps_expected_and_seen() -> None:
    for report in REPORTS.values():
        complete = all(part in report.text for part in ("\n1. ", "\nExpected:", "\nSeen:"))
        assert complete == (report.name != "vague")
