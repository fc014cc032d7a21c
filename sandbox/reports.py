"""The sample reports: what each one says, and how a run over it must truly end."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("reports")
REPOSITORY = "demo/shop"

# What the sample shop's shopper "ada" signs in with. Its repository has only the hash; workers
# get the value as a secret of their own, under this name.
DEMO_SECRETS = {"SHOP_PASSWORD": "lantern-harbour-41"}


class UnknownReport(LookupError):
    """No sample report has that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no sample report {name!r}; there are: {', '.join(sorted(REPORTS))}")
        self.name = name


@dataclass(frozen=True)
class SampleReport:
    """One report. `outcome` and `reason` are the run's true ending; no `reason` where it has none.

    `accepted_after_merge` says that the run merges, and that the acceptance check of the same name
    is red on the base and green on the merge.
    """

    name: str
    about: str
    outcome: str
    reason: str = ""
    accepted_after_merge: bool = False

    @property
    def file(self) -> Path:
        """Return where its text is."""
        return FOLDER / f"{self.name}.md"

    @property
    def text(self) -> str:
        """Return the whole Markdown text, title line included."""
        return self.file.read_text(encoding="utf-8")

    @property
    def title(self) -> str:
        """Return the text of its first line, without the mark of a heading."""
        return self.text.splitlines()[0].removeprefix("# ")


REPORTS = {
    report.name: report
    for report in (
        SampleReport("paging", "an off-by-one in paging", "merged", accepted_after_merge=True),
        SampleReport("total", "a wrong total", "merged", accepted_after_merge=True),
        SampleReport(
            "address",
            "a lost form field behind a sign-in",
            "merged",
            accepted_after_merge=True,
        ),
        SampleReport(
            "search", "its steps pass on the base", "needs-human-triage", "not-reproduced"
        ),
        SampleReport("delivery", "fails every second time", "needs-human-triage", "flaky"),
        SampleReport("vague", "has no steps", "needs-human-triage", "report-incomplete"),
        SampleReport(
            "limit", "contradicts the application's own checks", "repair-budget-exhausted"
        ),
    )
}


def get_report(name: str) -> SampleReport:
    """Return the report of that name. Raises UnknownReport, which lists the names."""
    try:
        return REPORTS[name]
    except KeyError as missing:
        raise UnknownReport(name) from missing
