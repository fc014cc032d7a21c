"""Split a report into its parts: numbered steps, what was expected, what was seen."""

from __future__ import annotations

import re
from dataclasses import dataclass

NUMBERED = re.compile(r"^\s*(?:step\s*)?(?P<number>\d{1,3})\s*[.):\]]\s+(?P<text>\S.*)$", re.I)
BULLET = re.compile(r"^\s*[-*•]\s+(?P<text>\S.*)$")
EXPECTED = re.compile(
    r"^\W*(?:expected(?:\s+(?:result|behaviou?r|outcome))?|what\s+(?:should|ought\s+to)\s+happen|"
    r"what\s+i\s+expect(?:ed)?|i\s+expect(?:ed)?(?:\s+that)?|should\s+be|correct(?:\s+behaviou?r)?)"
    r"\s*[:\-\u2013\u2014]?[*_\s]*(?P<rest>.*)$",
    re.I,
)
SEEN = re.compile(
    r"^\W*(?:seen|(?:wrong|current|present|faulty)(?:\s+(?:result|behaviou?r|outcome))|actual(?:ly)?(?:\s+(?:result|behaviou?r|outcome))?|observed|"
    r"what\s+(?:happens|happened|i\s+(?:saw|see|got))(?:\s+instead)?|instead|but\s+i\s+(?:saw|see|got))"
    r"\b\s*[:\-\u2013\u2014]?[*_\s]*(?P<rest>.*)$",
    re.I,
)
QUOTES = {ord(mark): '"' for mark in "\u201c\u201d\u201e\u201f\u00ab\u00bb`\u2033"}
SINGLE = re.compile(r"(?<![\w\"])['\u2018]([^'\u2018\u2019\"\n]+)['\u2019](?!\w)")
LINE_MAX = 2_000
SENTENCE_END = re.compile(r'(?<=[.!;])\s+(?=(?:[^"]*"[^"]*")*[^"]*$)')


@dataclass(frozen=True)
class Parts:
    """A report's parts, each a list of plain sentences with straight quotes."""

    steps: tuple[str, ...]
    expected: tuple[str, ...]
    seen: tuple[str, ...]


def split(text: str) -> Parts:
    """Return the parts. A part that the report lacks is empty; nothing is guessed."""
    steps: list[str] = []
    expected: list[str] = []
    seen: list[str] = []
    current: list[str] | None = None
    is_new = False
    for whole in SINGLE.sub(r'"\1"', text.translate(QUOTES)).splitlines():
        line = whole[:LINE_MAX]
        if match := NUMBERED.match(line):
            current = expected if current is expected else steps
            current.append(match["text"].strip())
        elif match := EXPECTED.match(line):
            current = _open(expected, match["rest"])
        elif match := SEEN.match(line):
            current = _open(seen, match["rest"])
        elif match := BULLET.match(line):
            if current is not None:
                current.append(match["text"].strip())
        elif not line.strip():
            current = None if current is steps else current
        elif current and not is_new:
            current[-1] = f"{current[-1]} {line.strip()}"
        elif current is not None:
            current.append(line.strip())
        is_new = not line.strip()
    return Parts(tuple(steps), _sentences(expected), _sentences(seen))


def _open(part: list[str], rest: str) -> list[str]:
    if rest.strip():
        part.append(rest.strip())
    return part


def _sentences(lines: list[str]) -> tuple[str, ...]:
    """Split at ends of sentences that stand outside of quotes."""
    found = [piece.strip() for line in lines for piece in SENTENCE_END.split(line)]
    return tuple(piece for piece in found if piece)
