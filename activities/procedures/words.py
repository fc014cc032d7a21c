"""The small vocabulary that steps and expectations are written in."""

from __future__ import annotations

import re

QUOTED = r'"(?P<{0}>[^"]+)"'
PATH = r"(?P<path>/[^\s\"',;)]*)"
THING = r"(?:the\s+|a\s+|an\s+|our\s+)?"
FIELD_WORD = r"(?:\s+(?:text\s+)?(?:field|box|input|area|entry))?"
NAMED = r"(?:called\s+|named\s+|labell?ed\s+|saying\s+)?"
FIELD = rf"(?:(?:[\w-]+\s+)?(?:field|box|input|area)\s+{NAMED})?"
WITHIN = (
    r"(?:\s+(?:next\s+to|beside|(?:in|on)\s+the\s+(?:same\s+)?(?:row|line|section|card|item|entry|"
    r"part)(?:\s+(?:of|for|with|named|called|that\s+says))?|for|within|inside(?:\s+of)?|under|of|in|"
    r"belonging\s+to)\s+(?:the\s+)?"
    + QUOTED.format("within")
    + r"(?:\s+(?:row|line|section|item))?)?"
)
LEAD = re.compile(
    r"^(?:(?:and|then|next|now|first|finally|afterwards|after\s+that|please|once\s+there|again|"
    r"i|we|you|just)\b[,:]?\s+)+",
    re.I,
)
TRAIL = re.compile(r"[\s.!,;]+$")
OUTSIDE_QUOTES = r'(?=(?:[^"]*"[^"]*")*[^"]*$)'
FILLER = re.compile(
    r"\s+(?:please|there|here|now|simply|again|once\s+(?:more|again)|a\s+second\s+time|(?:at|in|on)\s+the\s+"
    rf"(?:top|bottom|left|right|middle|end)(?:\s+of\s+the\s+\w+)?)\b{OUTSIDE_QUOTES}",
    re.I,
)
HOST = re.compile(rf"https?://[^\s/\"]+(?P<path>/[^\s\"]*)?{OUTSIDE_QUOTES}", re.I)
ROLES = {
    "button": "button",
    "link": "link",
    "heading": "heading",
    "headline": "heading",
    "title": "heading",
    "row": "row",
    "table row": "row",
    "item": "listitem",
    "list item": "listitem",
    "entry": "listitem",
    "image": "img",
    "picture": "img",
    "check box": "checkbox",
    "checkbox": "checkbox",
    "tab": "tab",
    "alert": "alert",
    "dialog": "dialog",
}
ROLE = "(?P<role>" + "|".join(sorted(ROLES, key=len, reverse=True)) + ")"


def rule(pattern: str) -> re.Pattern[str]:
    """Return a rule for a whole sentence, in any case of letters."""
    return re.compile("^" + pattern + "$", re.I)


def plain(sentence: str) -> str:
    """Return the sentence without filler in front and stops behind, white space folded."""
    folded = " ".join(sentence.split())
    return TRAIL.sub("", LEAD.sub("", folded))


def without_filler(sentence: str) -> str:
    """Return the sentence without the small words that say how or where, outside of quotes."""
    return FILLER.sub("", sentence)


def without_host(sentence: str) -> str:
    """Return the sentence with each whole address cut to its path: there is one host to be at."""
    return HOST.sub(lambda match: match["path"] or "/", sentence)


def path_of(text: str) -> str:
    """Return a path without the stop that may follow it in a sentence."""
    return text.rstrip(".!?") or "/"
