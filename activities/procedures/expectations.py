"""The sentences that say what is correct, as a table beside the steps' one."""

from __future__ import annotations

import re
from typing import Any

from activities.procedures.words import (
    FIELD_WORD,
    OUTSIDE_QUOTES,
    PATH,
    QUOTED,
    ROLE,
    ROLES,
    THING,
    path_of,
    plain,
    rule,
    without_host,
)

Raw = dict[str, Any]
NUMBERS = {
    word: number
    for number, word in enumerate(
        ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
}
COUNT = r"(?P<count>\d+|" + "|".join(NUMBERS) + ")"
PAGE = r"(?:it|(?:(?:the|that|this|its|my)\s+)?[\w-]+(?:\s+[\w-]+)?)"
MAY = r"(?:(?:should|must|ought\s+to|will|would|to)\s+)?(?:then\s+|now\s+|still\s+|again\s+)?"
SHOWS = r"(?:shows?|says?|displays?|contains?|reads?|has|have|lists?|tells?|stands?|see)"
NOT = r"(?:(?:does|do|should|must)(?:\s+not|n't)|no\s+longer|never|cannot|can't)"
QUOTES = r"\"[^\"]+\"(?:(?:,|\s+and|,\s+and)\s+(?:also\s+)?\"[^\"]+\")*"
THERE = (
    r"(?:there\s+(?:is|are|should\s+be|must\s+be)(?:\s+still|\s+now)?|"
    r"(?:(?:i|we|you)\s+)?(?:should\s+|can\s+|must\s+)?(?:also\s+|still\s+)?(?:see|find))"
)
HOLDS = (
    r"(?:(?:still\s+)?(?:holds?|contains?|has|shows?|reads?)|is(?:\s+still)?(?:\s+set\s+to)?|"
    r"should\s+(?:still\s+)?(?:hold|contain|be|read|show))"
)
WHERE = r"(?:\s+(?:in|on|among|at)\s+(?:the\s+)?[\w-]+(?:\s+of\s+the\s+[\w-]+)?)?"
VISIBLE = (
    r"(?:(?:is|are|should\s+be|must\s+be)\s+(?P<not>not\s+|no\s+longer\s+)?(?:visible|shown|there|"
    r"present|displayed|to\s+be\s+seen|on\s+the\s+page)|becomes?\s+visible|"
    r"(?:should\s+|must\s+)?(?:appears?|become\s+visible|shows?\s+up)|"
    r"(?P<gone>(?:does|do|should|must)(?:\s+not|n't)\s+(?:appear|show(?:\s+up)?)|is\s+gone|"
    rf"(?:has\s+)?(?:disappeared|vanished)))(?:\s+any\s?more)?{WHERE}"
)
TEXT = re.compile(r'"([^"]+)"')

FIELD_HOLDS = rule(
    rf"{THING}(?:(?:field|box)\s+)?{QUOTED.format('label')}{FIELD_WORD}\s+{HOLDS}\s+"
    rf"{THING}(?:value\s+)?{QUOTED.format('value')}"
)
FIELD_EMPTY = rule(
    rf"{THING}(?:(?:field|box)\s+)?{QUOTED.format('label')}{FIELD_WORD}\s+"
    r"(?:is|should\s+be|must\s+be)\s+(?:empty|blank)"
)
HIDES = rule(
    rf"(?:{PAGE}\s+|i\s+|we\s+)?{NOT}\s+(?:(?:should|must)\s+)?(?:any\s+more\s+|longer\s+)?"
    rf"{SHOWS}\s+{THING}(?:text\s+|message\s+|words?\s+)?(?P<texts>{QUOTES})(?:\s+any\s?more)?"
)
SHOWS_TEXT = rule(
    rf"(?:{PAGE}\s+|i\s+|we\s+)?{MAY}(?:can\s+)?{SHOWS}\s+{THING}"
    rf"(?:text\s+|message\s+|words?\s+|line\s+)?(?P<texts>{QUOTES})(?:\s+(?:again|there|on\s+it|"
    r"on\s+the\s+page))?"
)
ROLE_SEEN = rule(
    rf"(?:{THERE}\s+)?(?P<no>no\s+)?{THING}{ROLE}\s+(?:called\s+|named\s+|saying\s+)?"
    rf"{QUOTED.format('name')}(?:\s+{VISIBLE})?"
)
NAMED_ROLE_SEEN = rule(
    rf"(?:{THERE}\s+)?(?P<no>no\s+)?{THING}{QUOTED.format('name')}\s+{ROLE}(?:\s+{VISIBLE})?"
)
TEXT_SEEN = rule(
    rf"(?:{THERE}\s+)?{THING}(?:text\s+|message\s+|words?\s+|line\s+|notice\s+)?"
    rf"(?P<texts>{QUOTES})(?:\s+{VISIBLE})?"
)
COUNT_SHOWN = rule(rf"(?:exactly\s+)?{COUNT}\s+{ROLE}s?\s+{VISIBLE}")
COUNTED = rule(
    rf"(?:{THERE}\s+|{PAGE}\s+{MAY}{SHOWS}\s+)(?:exactly\s+)?{COUNT}\s+{ROLE}s?"
    r"(?:\s+(?:on|in)\s+the\s+(?:page|list|table))?"
)
BE_AT = r"(?:is(?:\s+(?:now|still))?(?:\s+on|\s+at)?|should\s+be(?:\s+on|\s+at)?|stands\s+on)"
BE_TAKEN = (
    r"(?:(?:i|we|you)\s+)?(?:(?:am|are|get|should\s+be|to\s+be|be)\s+)?"
    r"(?:taken|sent|redirected|brought|led)\s+(?:back\s+)?to(?:\s+the\s+page)?"
)
STANDS = rule(
    rf"(?:(?:the\s+)?(?:address|url|path|browser|page)\s+(?:{BE_AT}|shows\s+the\s+address)|"
    rf"(?:i\s+)?(?:should\s+|must\s+)?(?:am|be|stay|land|arrive|end\s+up)\s+(?:still\s+)?(?:on|at)|{BE_TAKEN})\s+\"?{PATH}\"?"
)
LEAD_IN = re.compile(
    r"^(?:(?:and|but|so|also)\s+)*(?:(?:i|we)\s+)?(?:also\s+|would\s+(?:also\s+)?)?expect(?:ed)?"
    r"(?:\s+that)?\s+|^(?:that|in\s+other\s+words),?\s+",
    re.I,
)
BARE = rule(rf"{THING}{QUOTES}")
PARTS_MAX = 12
JOINT = re.compile(rf"(?:,|;)?\s+(?:and|but)\s+{OUTSIDE_QUOTES}", re.I)


def read_expectation(sentence: str) -> list[Raw] | None:
    """Return what the sentence says is correct, or None when it is not understood.

    A sentence with several parts is understood only if all of them are.
    """
    words = plain(LEAD_IN.sub("", plain(without_host(sentence))))
    ends = [joint.span() for joint in JOINT.finditer(words)][:PARTS_MAX]
    cuts = [(0, 0), *ends, (len(words), len(words))]
    found: list[Raw] = []
    at = 0
    while at < len(cuts) - 1:
        read, at = _read_longest(words, cuts, at)
        if read is None:
            return None
        found += read
    return found


def _read_longest(words: str, cuts: list[tuple[int, int]], at: int) -> tuple[list[Raw] | None, int]:
    """Read as much as is one expectation; return it and where the rest begins.

    A bare quotation goes with what was said before it, and is never read by itself there.
    """
    for end in range(len(cuts) - 1, at, -1):
        part = plain(LEAD_IN.sub("", plain(words[cuts[at][1] : cuts[end][0]])))
        if at > 0 and BARE.match(part):
            continue
        read = _read_one(part)
        if read is not None:
            return read, end
    return None, at


def _read_one(words: str) -> list[Raw] | None:
    if match := FIELD_HOLDS.match(words):
        label = {"by": "label", "value": match["label"]}
        return [{"expect": "value", "target": label, "equals": match["value"]}]
    if match := FIELD_EMPTY.match(words):
        return [
            {"expect": "value", "target": {"by": "label", "value": match["label"]}, "equals": ""}
        ]
    if match := STANDS.match(words):
        return [{"expect": "path", "equals": path_of(match["path"])}]
    if match := COUNTED.match(words) or COUNT_SHOWN.match(words):
        return [_count(match)] if not _denies(match) else None
    if match := HIDES.match(words):
        return [_text(text, is_shown=False) for text in TEXT.findall(match["texts"])]
    if match := ROLE_SEEN.match(words) or NAMED_ROLE_SEEN.match(words):
        return [_role(match)]
    if match := SHOWS_TEXT.match(words):
        return [_text(text, is_shown=True) for text in TEXT.findall(match["texts"])]
    if match := TEXT_SEEN.match(words):
        is_shown = not _denies(match)
        return [_text(text, is_shown=is_shown) for text in TEXT.findall(match["texts"])]
    return None


def _denies(match: re.Match[str]) -> bool:
    said = match.groupdict()
    return bool(said.get("not") or said.get("gone"))


def _text(text: str, *, is_shown: bool) -> Raw:
    return {"expect": "text", "contains": text, "is_shown": is_shown}


def _count(match: re.Match[str]) -> Raw:
    said = match["count"].lower()
    number = int(said) if said.isdigit() else NUMBERS[said]
    role = ROLES[" ".join(match["role"].lower().split())]
    return {"expect": "count", "target": {"by": "role", "value": role}, "equals": number}


def _role(match: re.Match[str]) -> Raw:
    role = ROLES[" ".join(match["role"].lower().split())]
    is_visible = not (match["no"] or _denies(match))
    target = {"by": "role", "value": role, "name": match["name"]}
    return {"expect": "visible", "target": target, "is_visible": is_visible}
