"""The grammar of reports: numbered steps and expectations in plain English become a procedure.

`docs/report-grammar.md` describes it for people who write reports. A sentence that is not
understood is named; nothing is guessed, because a guessed step proves nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from activities.procedures.expectations import read_expectation
from activities.procedures.report import split
from activities.procedures.steps import Raw, read_step
from orchestrator.contracts.procedure import Procedure

NAMES_SOMETHING = re.compile(r"\"|(?:^|\s)/\w|\d")


@dataclass(frozen=True)
class Missing:
    """Why no procedure came of a report: what it lacks, sentence by sentence."""

    lacks: tuple[str, ...]


def read_report(title: str, text: str) -> Procedure | Missing:
    """Return the procedure that the report describes, or what it lacks."""
    parts = split(text)
    lacks: list[str] = []
    steps = _read_steps(parts.steps, lacks)
    expectations = _read_expectations(parts.expected, lacks)
    if not parts.steps:
        lacks.append("numbered steps that lead to the fault")
    if not parts.expected:
        lacks.append("what was expected (a part that begins with `Expected:`)")
    if lacks:
        return Missing(tuple(lacks))
    secrets = tuple(sorted({step["secret"] for step in steps if step.get("secret")}))
    raw = {
        "title": title,
        "steps": _numbered("step", steps),
        "expectations": _numbered("expect", expectations),
        "secrets": secrets,
    }
    try:
        return Procedure.model_validate(raw)
    except ValidationError as fault:
        return Missing(tuple(_over_limit(error) for error in fault.errors()))


def _over_limit(error: ErrorDetails) -> str:
    """Return what is too large or of a wrong form, in words."""
    if error["type"] == "too_long" and len(error["loc"]) == 1:
        return f"at most {error['ctx']['max_length']} {error['loc'][0]}"
    where = " ".join(str(part) for part in error["loc"])
    return f"a procedure within its limits: {where}: {error['msg']}"


def _read_steps(sentences: tuple[str, ...], lacks: list[str]) -> list[Raw]:
    found: list[Raw] = []
    for number, sentence in enumerate(sentences, 1):
        read = read_step(sentence)
        if read is None:
            lacks.append(f"a step {number} that is understood; it says: {sentence[:120]}")
        else:
            found += read
    return found


def _read_expectations(sentences: tuple[str, ...], lacks: list[str]) -> list[Raw]:
    """Read each; only a sentence that names nothing on the page is passed over as comment."""
    found: list[Raw] = []
    unclear: list[str] = []
    for sentence in sentences:
        read = read_expectation(sentence)
        found += read or []
        if read is None and NAMES_SOMETHING.search(sentence):
            unclear.append(sentence)
    lacks += [f"an expectation that is understood; it says: {said[:200]}" for said in unclear]
    if sentences and not found and not unclear:
        said = " ".join(sentences)[:200]
        lacks.append(f"an expectation that is understood; it says: {said}")
    return found


def _numbered(stem: str, raws: list[Raw]) -> list[Raw]:
    return [{"id": f"{stem}-{number}", **raw} for number, raw in enumerate(raws, 1)]
