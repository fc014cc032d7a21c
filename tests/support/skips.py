"""Judges a whole test run: a skip needs a reason that is on the short list, and a test must run."""

from __future__ import annotations

import fnmatch
from pathlib import Path

import pytest

ALLOWED = Path(__file__).with_name("allowed_skips.txt")


def read_allowed(file: Path = ALLOWED) -> list[str]:
    """Return the patterns of reasons that may skip a test; `#` starts a comment."""
    lines = (line.partition("#")[0].strip() for line in file.read_text().splitlines())
    return [line for line in lines if line]


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the bare reason of a skip or of an expected failure."""
    expected = getattr(report, "wasxfail", None)
    if expected is not None:
        return f"expected failure: {expected}"
    told = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return told.removeprefix("Skipped: ")


class SkipJudge:
    """A pytest plugin. Turns a green run red if it skipped without leave, or executed nothing."""

    def __init__(self, allowed: list[str]) -> None:
        self.allowed = allowed
        self.skipped: list[tuple[str, str]] = []
        self.executed = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count what ran and note what did not."""
        if report.skipped:
            self.skipped.append((report.nodeid, reason_of(report)))
        elif report.when == "call":
            self.executed += 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note whole files that were skipped."""
        if report.skipped:
            self.skipped.append((report.nodeid, reason_of(report)))

    def complaints(self) -> list[str]:
        """Return what is wrong with the run, in words."""
        found = [
            f"skip without leave: {test}: {reason}"
            for test, reason in self.skipped
            if not any(fnmatch.fnmatchcase(reason, pattern) for pattern in self.allowed)
        ]
        if not self.executed:
            found.append("no test was executed")
        return found

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the run. What only lists tests is left alone."""
        if session.config.option.collectonly:
            return
        if self.complaints() and session.exitstatus in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say why, where people look."""
        if terminalreporter.config.option.collectonly:
            return
        for test, reason in self.skipped:
            terminalreporter.write_line(f"skipped: {test}: {reason}")
        for complaint in self.complaints():
            terminalreporter.write_line(f"FAILED RUN: {complaint}", red=True)
