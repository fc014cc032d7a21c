"""The sentences that say what is correct, as a table beside the steps' one."""

from __future__ import annotations

import re
from typing import Any

from activities.procedures.words import (
    FIELD_WORD,
    PATH,
    QUOTED,
    ROLE,
    ROLES,
    THING,
    path_of,
    plain,
    rule,
)

Raw = dict[str, Any]
NUMBERS = {
    word: number
    for number, word in enumerate(
        ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
}
COUNT = r"(?P<count>\d+|" + "|".join(NUMBERS) + ")"
PAGE = r"(?:(?:the|that|this|its|my)\s+)?(?:page|screen|site|list|view|it)"
MAY = r"(?:(?:should|must|ought\s+to|will|would|to)\s+)?(?:then\s+|now\s+|still\s+|again\s+)?"
SHOWS = r"(?:shows?|says?|displays?|contains?|reads?|has|have|lists?|tells?|see)"
NOT = r"(?:(?:does|do|should|must)(?:\s+not|n't)|no\s+longer|never|cannot|can't)"
QUOTES = r"\"[^\"]+\"(?:(?:,|\s+and|,\s+and)\s+(?:also\s+)?\"[^\"]+\")*"
THERE = (
    r"(?:there\s+(?:is|are|should\s+be|must\s+be)|(?:i|we|you)\s+(?:should\s+|can\s+)?(?:see|find))"
)
HOLDS = (
    r"(?:(?:still\s+)?(?:holds?|contains?|has|shows?|reads?)|is(?:\s+still)?(?:\s+set\s+to)?|"
    r"should\s+(?:still\s+)?(?:hold|contain|be|read|show))"
)
VISIBLE = (
    r"(?:is|are|should\s+be|must\s+be)\s+(?P<not>not\s+)?(?:visible|shown|there|present|"
    r"displayed|on\s+the\s+page)"
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
TEXT_SEEN = rule(rf"(?:{THERE}\s+)?{THING}(?P<texts>{QUOTES})(?:\s+{VISIBLE})?")
COUNTED = rule(
    rf"(?:{THERE}\s+|{PAGE}\s+{MAY}{SHOWS}\s+)(?:exactly\s+)?{COUNT}\s+{ROLE}s?"
    r"(?:\s+(?:on|in)\s+the\s+(?:page|list|table))?"
)
STANDS = rule(
    rf"(?:(?:the\s+)?(?:address|url|path|browser|page)\s+(?:is(?:\s+now)?(?:\s+on|\s+at)?|should\s+be"
    rf"(?:\s+on|\s+at)?|stands\s+on|shows\s+the\s+address)|i\s+(?:am|should\s+be|land|end\s+up)\s+"
    rf"(?:on|at))\s+\"?{PATH}\"?"
)


def read_expectation(sentence: str) -> list[Raw] | None:
    """Return what the sentence says is correct, or None when it is not understood."""
    words = plain(sentence)
    if match := FIELD_HOLDS.match(words):
        label = {"by": "label", "value": match["label"]}
        return [{"expect": "value", "target": label, "equals": match["value"]}]
    if match := FIELD_EMPTY.match(words):
        return [
            {"expect": "value", "target": {"by": "label", "value": match["label"]}, "equals": ""}
        ]
    if match := STANDS.match(words):
        return [{"expect": "path", "equals": path_of(match["path"])}]
    if match := COUNTED.match(words):
        return [_count(match)]
    if match := HIDES.match(words):
        return [_text(text, is_shown=False) for text in TEXT.findall(match["texts"])]
    if match := ROLE_SEEN.match(words) or NAMED_ROLE_SEEN.match(words):
        return [_role(match)]
    if match := SHOWS_TEXT.match(words):
        return [_text(text, is_shown=True) for text in TEXT.findall(match["texts"])]
    if match := TEXT_SEEN.match(words):
        is_shown = not match["not"]
        return [_text(text, is_shown=is_shown) for text in TEXT.findall(match["texts"])]
    return None


def _text(text: str, *, is_shown: bool) -> Raw:
    return {"expect": "text", "contains": text, "is_shown": is_shown}


def _count(match: re.Match[str]) -> Raw:
    said = match["count"].lower()
    number = int(said) if said.isdigit() else NUMBERS[said]
    role = ROLES[" ".join(match["role"].lower().split())]
    return {"expect": "count", "target": {"by": "role", "value": role}, "equals": number}


def _role(match: re.Match[str]) -> Raw:
    role = ROLES[" ".join(match["role"].lower().split())]
    is_visible = not (match["no"] or match["not"])
    target = {"by": "role", "value": role, "name": match["name"]}
    return {"expect": "visible", "target": target, "is_visible": is_visible}
