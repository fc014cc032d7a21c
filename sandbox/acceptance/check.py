"""The acceptance check of one sample report, on an application in a folder.

The data files lie beside this module, outside of the application's repository, and no worker is
given their place: a repair cannot be fitted to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sandbox.acceptance.running import CannotStart, install, read_recipe, running
from sandbox.acceptance.visiting import AcceptanceFile, play
from sandbox.reports import DEMO_SECRETS, get_report

FOLDER = Path(__file__).with_name("expected")


class NoAcceptance(LookupError):
    """The report has no acceptance check: it asks for nothing that could be checked."""

    def __init__(self, report: str) -> None:
        super().__init__(f"the report {report!r} has no acceptance check; its ending is all")
        self.report = report


def read_acceptance(report: str) -> AcceptanceFile:
    """Read a report's data file. Raises UnknownReport, or NoAcceptance for one without steps."""
    file = FOLDER / f"{get_report(report).name}.json"
    if not file.exists():
        raise NoAcceptance(report)
    return AcceptanceFile.model_validate_json(file.read_bytes())


def check(app_folder: Path, report: str, secrets: Mapping[str, str] = DEMO_SECRETS) -> list[str]:
    """Start the application from the folder and play the report's check; return the problems.

    An empty list means accepted. An application that does not install, seed or start is a problem
    too, not an exception. Installs dependencies into the folder unless they are there; leaves no
    process and no data behind.
    """
    wanted = read_acceptance(report)
    try:
        recipe = read_recipe(app_folder)
        install(recipe)
        with running(recipe) as address:
            return play(wanted, address, secrets)
    except CannotStart as problem:
        return [str(problem)]
