"""Check a document's form before people are asked to read it. Changes nothing outside."""

from __future__ import annotations

import re

from activities.activity import Context, Outcome
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import ActivityFailed, FailureKind

LONGEST_LINE = 2000
PLACEHOLDER = re.compile(r"\b(T[B]D|T[O]DO|F[I]XME|lorem ipsum)\b", re.IGNORECASE)
EMPTY_LINK = re.compile(r"\[[^\]]*\]\(\s*\)")
LINES_PER_REPORT = 500


class CheckDocument:
    """Find what a reviewer should not have to: placeholders, empty links, lone headings."""

    name = "check-document"
    queue = "text"

    def run(self, given: JsonObject, context: Context) -> Outcome:
        """Return `findings`, empty for a document in order. Resumes at the line it had reached."""
        lines = str(given["text"]).splitlines()
        substate = context.substate or {}
        findings: list[str] = list(substate.get("findings", []))
        for number in range(int(substate.get("line", 0)), len(lines)):
            if context.stop.reason is not None:
                raise ActivityFailed(FailureKind.ENVIRONMENTAL, f"stopped at line {number + 1}")
            findings += _of_line(number + 1, lines)
            if (number + 1) % LINES_PER_REPORT == 0:
                context.progress({"line": number + 1, "findings": findings})
        return Outcome({"findings": findings[:20], "lines": len(lines)})


def _of_line(number: int, lines: list[str]) -> list[str]:
    line = lines[number - 1]
    following = "".join(lines[number : number + 2]).strip()
    found = {
        f"line {number} is longer than {LONGEST_LINE} letters": len(line) > LONGEST_LINE,
        f"line {number} holds a placeholder": bool(PLACEHOLDER.search(line)),
        f"line {number} has a link to nowhere": bool(EMPTY_LINK.search(line)),
        f"line {number} is a heading with nothing under it": line.startswith("#") and not following,
    }
    return [words for words, is_so in found.items() if is_so]
