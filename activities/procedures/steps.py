"""The step sentences of the grammar, as a table: the first rule that fits a sentence reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from activities.procedures.report import SENTENCE_END
from activities.procedures.words import (
    FIELD,
    FIELD_WORD,
    NAMED,
    OUTSIDE_QUOTES,
    PATH,
    QUOTED,
    ROLES,
    THING,
    WITHIN,
    path_of,
    plain,
    rule,
    without_filler,
    without_host,
)

Raw = dict[str, Any]
Found = Mapping[str, str | None]
Maker = Callable[[Found], list[Raw]]

SECRET = r"(?:the\s+)?secret\s+(?:named\s+|called\s+)?\"?(?P<secret>[A-Z][A-Z0-9_]+)\"?"
GO = (
    r"(?:open|go(?:\s+back)?(?:\s+to)?|visit|navigate\s+to|browse\s+to|load|head(?:\s+over)?\s+to|"
    r"start\s+(?:on|at|from|with)|return\s+to|call\s+up|reload|come\s+back\s+to|look\s+at)"
)
PRESS = r"(?:click|press|hit|push|tap|follow|use|activate|choose)(?:\s+on)?"
TYPE = r"(?:type|enter|put|write|input|key\s+in|insert|fill(?:\s+in)?|give)"
PICK = r"(?:choose|select|pick|take)"
TICK = r"(?:tick|check|mark|enable|turn\s+on|switch\s+on)"
UNTICK = r"(?:untick|uncheck|unmark|disable|turn\s+off|switch\s+off)"
KEYS = r"(?P<key>enter|return|escape|tab|space|backspace|delete)"
BOX = r"(?:(?:check\s?box|box|option)\s+)?"
INTO = r"(?:in|into|in\s+to|for|as|at|under)"
BY_DOING = (
    r"(?:confirm|submit|continue|finish|send|save|go\s+on)(?:\s+(?:the\s+|my\s+|it\b)?\w*)?\s+"
    r"(?:with|by|via|using)(?:\s+(?:clicking|pressing|tapping|hitting))?(?:\s+on)?"
)
ACTED_ON = "button|link|tab|heading|row|image|picture"
CONTROL = rf"(?:(?P<before>{ACTED_ON})\s+)?"
CONTROL_AFTER = rf"(?:\s+(?P<after>{ACTED_ON}))?"
SCROLL = rule(
    r"(?:scroll|move)\s+(?:up|down|to|all\s+the\s+way)\b[^\"]*|"
    r"(?:wait|give\s+(?:it|the\s+page)\s+(?:a|some))\b[^\"]*"
)


def _target(found: Found) -> Raw:
    word = (found.get("before") or found.get("after") or "").lower()
    target: Raw = {"by": "control", "value": found["name"]}
    if word:
        target = {"by": "role", "value": ROLES[word], "name": found["name"]}
    if found.get("within"):
        target["within"] = found["within"]
    return target


def _label(found: Found) -> Raw:
    target: Raw = {"by": "label", "value": found["label"]}
    if found.get("within"):
        target["within"] = found["within"]
    return target


def _open(found: Found) -> list[Raw]:
    return [{"do": "navigate", "path": path_of(str(found["path"]))}]


def _click(found: Found) -> list[Raw]:
    return [{"do": "click", "target": _target(found)}]


def _fill(found: Found) -> list[Raw]:
    return [{"do": "fill", "target": _label(found), "value": found["value"]}]


def _clear(found: Found) -> list[Raw]:
    return [{"do": "fill", "target": _label(found), "value": ""}]


def _fill_secret(found: Found) -> list[Raw]:
    return [{"do": "fill", "target": _label(found), "secret": found["secret"]}]


def _select(found: Found) -> list[Raw]:
    return [{"do": "select", "target": _label(found), "option": found["value"]}]


def _tick(found: Found) -> list[Raw]:
    return [{"do": "check", "target": _label(found), "on": True}]


def _untick(found: Found) -> list[Raw]:
    return [{"do": "check", "target": _label(found), "on": False}]


def _press(found: Found) -> list[Raw]:
    key = str(found["key"]).capitalize()
    return [{"do": "press", "key": "Enter" if key == "Return" else key}]


def _sign_in(found: Found) -> list[Raw]:
    """A session is recreated each time: path, user, password by the secret's name, button."""
    return [
        {"do": "navigate", "path": path_of(str(found["path"]))},
        {"do": "fill", "target": {"by": "label", "value": "Username"}, "value": found["user"]},
        {"do": "fill", "target": {"by": "label", "value": "Password"}, "secret": found["secret"]},
        {"do": "click", "target": {"by": "role", "value": "button", "name": "Sign in"}},
    ]


USER = QUOTED.format("user")
NAME, LABEL, VALUE = QUOTED.format("name"), QUOTED.format("label"), QUOTED.format("value")
SIGN = r"(?:sign|log)\s*-?\s*(?:yourself\s+)?in(?:to\s+the\s+site)?"
AS = rf"as\s+(?:the\s+)?(?:user\s+|member\s+)?{USER}"
BY = rf"(?:with|using|by|and)\s+{SECRET}(?:\s+as\s+(?:the\s+)?password)?"
AT = rf"(?:on|at|through|via|from)\s+(?:the\s+page\s+)?{PATH}"

RULES: tuple[tuple[re.Pattern[str], Maker], ...] = (
    (rule(rf"{SIGN}\s+{AS}\s+{BY},?\s+{AT}"), _sign_in),
    (rule(rf"{SIGN}\s+{AT},?\s+{AS},?\s+{BY}"), _sign_in),
    (rule(rf"{SIGN}\s+{AS},?\s+{AT},?\s+{BY}"), _sign_in),
    (rule(rf"(?:on|at)\s+{PATH},?\s+{SIGN}\s+{AS},?\s+{BY}"), _sign_in),
    (
        rule(
            rf"{GO}(?:\s+(?:\"[^\"]*\"|[\w-]+))*?\s+\(?\"?{PATH}\"?\)?"
            r"(?:\s+in\s+(?:a|the)\s+browser)?"
        ),
        _open,
    ),
    (rule(rf"{PRESS}\s+{THING}{KEYS}(?:\s+key)?"), _press),
    (
        rule(rf"{TYPE}\s+{SECRET}\s+{INTO}\s+{THING}{FIELD}{LABEL}{FIELD_WORD}"),
        _fill_secret,
    ),
    (
        rule(
            rf"{PICK}\s+{THING}{VALUE}\s+(?:from|in|under|for|as)\s+{THING}"
            rf"(?:(?:drop-?\s?down|list|menu|select)\s+)?{LABEL}(?:\s+(?:drop-?\s?down|list|menu))?"
        ),
        _select,
    ),
    (
        rule(
            rf"(?:in|from)\s+{THING}{LABEL}(?:\s+(?:drop-?\s?down|list|menu))?,?\s+{PICK}\s+{VALUE}"
        ),
        _select,
    ),
    (rule(rf"set\s+{THING}(?:drop-?\s?down|list|menu)\s+{LABEL}\s+to\s+{VALUE}"), _select),
    (
        rule(rf"{TYPE}\s+{THING}{VALUE}\s+{INTO}\s+{THING}{FIELD}{LABEL}{FIELD_WORD}{WITHIN}"),
        _fill,
    ),
    (
        rule(
            rf"(?:fill(?:\s+in|\s+out)?|complete|replace|overwrite)\s+{THING}{FIELD}{LABEL}"
            rf"{FIELD_WORD}{WITHIN}\s+(?:with|as|by)\s+{VALUE}"
        ),
        _fill,
    ),
    (
        rule(
            rf"(?:set|change|correct|edit|adjust|update|increase|decrease|raise|lower)\s+{THING}{FIELD}{LABEL}{FIELD_WORD}"
            rf"{WITHIN}\s+(?:to|into)\s+{VALUE}"
        ),
        _fill,
    ),
    (
        rule(rf"(?:in|into)\s+{THING}{FIELD}{LABEL}{FIELD_WORD},?\s+{TYPE}\s+{THING}{VALUE}"),
        _fill,
    ),
    (
        rule(
            r"(?:clear|empty|blank|leave|(?:remove|delete|erase)\s+(?:the\s+|all\s+)*"
            rf"(?:text|content|value|words?)s?\s+(?:from|in|of|out\s+of))\s+{THING}{FIELD}"
            rf"{LABEL}{FIELD_WORD}{WITHIN}"
            r"(?:\s+(?:empty|blank|as\s+empty))?"
        ),
        _clear,
    ),
    (rule(rf"{PICK}\s+{THING}(?:radio(?:\s+button)?|option)\s+{NAMED}{LABEL}{WITHIN}"), _tick),
    (rule(rf"{UNTICK}\s+{THING}{BOX}{LABEL}(?:\s+(?:check\s?box|box|option))?{WITHIN}"), _untick),
    (rule(rf"{TICK}\s+{THING}{BOX}{LABEL}(?:\s+(?:check\s?box|box|option))?{WITHIN}"), _tick),
    (
        rule(
            rf"(?:{PRESS}|{GO}|{BY_DOING}|select)\s+{THING}{CONTROL}{NAMED}"
            rf"{NAME}{CONTROL_AFTER}{WITHIN}"
        ),
        _click,
    ),
)
ALSO = re.compile(
    rf'^(?P<verb>(?:fill(?:\s+in|\s+out)?|set|change)\s+){THING}(?P<first>"[^"]+"\s+(?:with|to)\s+"[^"]+")'
    rf'(?:,\s+|,?\s+and\s+){THING}(?P<rest>"[^"]+"{FIELD_WORD}\s+(?:with|to)\s+.+)$',
    re.I,
)
VERBS = (
    rf"(?:{SIGN}|{GO}|{PRESS}|{TYPE}|{PICK}|{TICK}|{UNTICK}|set|change|clear|leave|confirm|submit)"
)
JOINED = re.compile(rf"(?:,|;)?\s+(?:and(?:\s+then)?|then)\s+(?={VERBS}\s){OUTSIDE_QUOTES}", re.I)
LISTED = re.compile(rf"{JOINED.pattern}|[,;]\s+(?={VERBS}\s){OUTSIDE_QUOTES}", re.I)
PLACE = r"(?:row|line|section|card|item|entry|part|box)"
INSIDE = re.compile(
    rf"^(?:with)?in(?:side)?\s+{THING}(?:{PLACE}\s+(?:of\s+|for\s+|with\s+)?{NAMED}"
    rf'"(?P<after>[^"]+)"|"(?P<before>[^"]+)"\s+{PLACE}),?\s+(?P<rest>.+)$',
    re.I,
)


def read_step(sentence: str) -> list[Raw] | None:
    """Return the steps that a numbered line says, or None when part of it is not understood.

    A sentence that only scrolls or waits says no step: targets are brought into view and awaited.
    """
    found: list[Raw] = []
    for said in SENTENCE_END.split(without_host(sentence)):
        read = _read_parts(JOINED.split(said))
        if read is None:
            read = _read_parts(LISTED.split(said))
        if read is None:
            return None
        found += read
    return found


def _read_parts(parts: list[str]) -> list[Raw] | None:
    found: list[Raw] = []
    for part in parts:
        read = _read_one(plain(without_filler(plain(part))))
        if read is None:
            return None
        found += read
    return found


def _read_one(sentence: str) -> list[Raw] | None:
    if SCROLL.match(sentence):
        return []
    for pattern, make in RULES:
        if match := pattern.match(sentence):
            return make(match.groupdict())
    return _read_list(sentence) or _read_inside(sentence)


def _read_list(sentence: str) -> list[Raw] | None:
    """Read `fill in "A" with "1" and "B" with "2"`: one verb for several fields."""
    match = ALSO.match(sentence)
    if match is None:
        return None
    first, rest = (_read_one(match["verb"] + match[part]) for part in ("first", "rest"))
    return None if first is None or rest is None else first + rest


def _read_inside(sentence: str) -> list[Raw] | None:
    """Read `in the row "X", do this`: the place is said first, and narrows what is done there."""
    match = INSIDE.match(sentence)
    read = _read_one(plain(match["rest"])) if match else None
    if match is None or read is None:
        return None
    place = match["after"] or match["before"]
    return [
        {**raw, "target": {"within": place, **raw["target"]}} if "target" in raw else raw
        for raw in read
    ]
