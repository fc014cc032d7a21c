"""Check the model of the protocol with spin: it must hold, and every planted fault must be found.

Run as `python3 models/check.py`. Exit 0: all of it was so. 1: it was not, or a search was not
complete. 3: spin or gcc is missing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

MODEL = Path(__file__).with_name("lease.pml")
MEMORY_MB = 3000
SEARCH_LIMIT_S = 60
BUILD_LIMIT_S = 60
DEPTH = 100_000

# What pan prints of each assertion, and what it means. A fault must break the one that it names.
PROPERTIES = {
    "one holder": "holder[s]==me",
    "one completion": "closed[s]==0",
    "one effect": "effects[s]==1",
    "one request without a key": "left[s]==0",
    "nothing lands after the end": "operation[s].status!=",
    "nothing landed before the end": "effects[s]==0)",
    "a completion confirms": "operation[s].status==",
    "a live lease stays": "claim[s].expired",
    "one taker of a row": "outbox[r].status==",
    "no row is lost": "delivered[s]",
    "every completion is followed": "followed[s]==closed[s]",
    "no run is stuck": "workflow==",
    "the run moves": "acceptance cycle",
}


@dataclass(frozen=True)
class Check:
    """One search. `breaks` names the property that a planted fault must break; None: it holds.

    `ltl` names a formula to check under weak fairness instead of assertions and end states.
    """

    name: str
    options: Sequence[str]
    breaks: str | None = None
    ltl: str | None = None


@dataclass(frozen=True)
class Found:
    """What a search came back with. `broken` is what pan says was violated, if anything was."""

    states: int
    depth: int
    seconds: float
    broken: str | None = None
    incomplete: str | None = None


HOLDS = [
    Check("assertions, key", ["KEY", "FAULTS=3"]),
    Check("assertions, no key", ["FAULTS=3"]),
    Check("assertions, key, cancelled", ["KEY", "CANCEL", "FAULTS=3", "RECONCILERS=1"]),
    Check("assertions, no key, cancelled", ["CANCEL", "FAULTS=3"]),
    Check("assertions, key, publishers", ["KEY", "PUBLISHERS", "FAULTS=3", "RECONCILERS=1"]),
    Check("run_moves, key", ["KEY", "PUBLISHERS", "RECONCILERS=1"], ltl="run_moves"),
    Check("rows_are_told, key", ["KEY", "PUBLISHERS", "RECONCILERS=1"], ltl="rows_are_told"),
    Check("run_moves, no key", ["FAULTS=3", "RECONCILERS=1"], ltl="run_moves"),
]

PLANTED = [
    Check("NO_GENERATION_GUARD", ["KEY"], "one holder"),
    Check("INTENT_AFTER_SEND", [], "one request without a key"),
    Check("TAKE_OVER_RESENDS", [], "one request without a key"),
    Check("ABSENCE_SETTLES", [], "one request without a key"),
    Check("KEY_PER_ATTEMPT", ["KEY"], "one effect"),
    Check("INTENDED_IS_PROOF", ["KEY", "FAULTS=3"], "nothing landed before the end"),
    Check("ABSENCE_FENCES", ["KEY", "CANCEL"], "nothing lands after the end"),
    Check("NO_VERSION_GUARD", ["KEY"], "a completion confirms"),
    Check("SETTLED_TWICE", ["KEY"], "one completion"),
    Check("NO_EXPIRY_GUARD", ["KEY"], "a live lease stays"),
    Check("TAKE_OVER_FORGETS", [], "no run is stuck"),
    Check("OUTBOX_IN_SECOND_TRANSACTION", ["KEY"], "every completion is followed"),
    Check("NO_ROW_LOCK", ["KEY", "PUBLISHERS"], "one taker of a row"),
    Check("PUBLISHED_BEFORE_HANDED_OVER", ["KEY", "PUBLISHERS"], "no row is lost"),
    Check("RENEWED_FOR_THE_DEAD", ["KEY", "RECONCILERS=1"], "the run moves", ltl="run_moves"),
]


@dataclass
class Builder:
    """Builds verifiers in a folder of its own; checks with the same options share one."""

    folder: Path
    built: dict[tuple[str, ...], Path] = field(default_factory=dict)

    def verifier(self, check: Check) -> Path:
        """Return the verifier of a check's options. Raises CalledProcessError, TimeoutExpired."""
        planted = [check.name] if check.breaks else []
        defines = [f"-D{option}" for option in (*check.options, *planted)]
        key = (*defines, "fair" if check.ltl else "safe")
        if key not in self.built:
            self.built[key] = self._build(defines, check)
        return self.built[key]

    def _build(self, defines: Sequence[str], check: Check) -> Path:
        place = self.folder / str(len(self.built))
        place.mkdir()
        shutil.copy(MODEL, place)
        _run(["spin", "-a", *defines, MODEL.name], place, BUILD_LIMIT_S)
        # A planted fault is found within a few hundred states: there, compiling is what takes time.
        speed = "-O0" if check.breaks else "-O2"
        mode = ["-DNFAIR=4"] if check.ltl else ["-DSAFETY", "-DNOCLAIM"]
        flags = [speed, "-w", f"-DMEMLIM={MEMORY_MB}", *mode]
        _run(["gcc", *flags, "-o", "pan", "pan.c"], place, BUILD_LIMIT_S)
        return place / "pan"


def search(verifier: Path, check: Check) -> Found:
    """Run a verifier and read its report."""
    words = ["-a", "-f", "-N", check.ltl] if check.ltl else []
    begun = perf_counter()
    try:
        report = _run([str(verifier), f"-m{DEPTH}", *words], verifier.parent, SEARCH_LIMIT_S)
    except subprocess.TimeoutExpired:
        return Found(0, 0, perf_counter() - begun, incomplete=f"over {SEARCH_LIMIT_S} s")
    return read_report(report, perf_counter() - begun)


def read_report(report: str, seconds: float) -> Found:
    """Read what pan printed; whatever is not a full report of a full search is incomplete."""
    violated = re.search(r"pan:1: (.*) \(at depth \d+\)", report)
    errors = re.search(r"depth reached (\d+), errors: (\d+)", report)
    states = re.search(r"(\d+) states, stored", report)
    if errors is None or states is None:
        return Found(0, 0, seconds, incomplete="no report")
    found = (int(states[1]), int(errors[1]), seconds)
    if violated is not None:
        return Found(*found, broken=violated[1])
    for sign in (
        "Search not completed",
        "max search depth too small",
        "pan: error",
        "reached -DMEM",
    ):
        if sign in report:
            return Found(*found, incomplete=sign)
    return Found(*found, incomplete=None if errors[2] == "0" else "an unnamed error")


def judge(check: Check, found: Found) -> tuple[bool, str]:
    """Return whether a check came out as it must, and the word for the table."""
    if found.incomplete is not None:
        return False, f"INCOMPLETE: {found.incomplete}"
    if check.breaks is None:
        return found.broken is None, "holds" if found.broken is None else f"BROKEN: {found.broken}"
    if found.broken is None:
        return False, "NOT FOUND"
    if PROPERTIES[check.breaks] not in found.broken:
        return False, f"BREAKS ANOTHER: {found.broken}"
    return True, f"found: {check.breaks}"


def check_one(builder: Builder, check: Check) -> bool:
    """Build, search and print a line of the table."""
    begun = perf_counter()
    try:
        found = search(builder.verifier(check), check)
    except subprocess.CalledProcessError as failed:
        said = (failed.stdout or "").strip().splitlines() or [""]
        found = Found(0, 0, 0.0, incomplete=f"{Path(failed.cmd[0]).name}: {said[0]}")
    except subprocess.TimeoutExpired as late:
        found = Found(
            0, 0, 0.0, incomplete=f"{Path(late.cmd[0]).name} took over {late.timeout:g} s"
        )
    good, word = judge(check, found)
    seconds = perf_counter() - begun
    _say(f"{check.name:<32}{found.states:>10,}{found.depth:>7}{seconds:>7.1f}  {word}")
    return good


def main() -> int:
    """Check everything and return the exit code."""
    missing = [tool for tool in ("spin", "gcc") if shutil.which(tool) is None]
    if missing:
        _say(f"{' and '.join(missing)} not found; run: apt-get install {' '.join(missing)}")
        return 3
    begun = perf_counter()
    with tempfile.TemporaryDirectory(prefix="model-") as folder:
        builder = Builder(Path(folder))
        _say(f"{'property or planted fault':<32}{'states':>10}{'depth':>7}{'s':>7}  result")
        results = [check_one(builder, check) for check in (*HOLDS, *PLANTED)]
    bad = results.count(False)
    verdict = "all as it must be" if not bad else f"{bad} not as they must be"
    _say(f"{len(results)} checks in {perf_counter() - begun:.0f} s: {verdict}")
    return 1 if bad else 0


def _run(argv: Sequence[str], place: Path, limit_s: float) -> str:
    """Run a program to its end and return what it said. pan ends with 0 whatever it finds."""
    done = subprocess.run(
        argv,
        cwd=place,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=limit_s,
    )
    return done.stdout


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
