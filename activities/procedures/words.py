"""The small vocabulary that steps and expectations are written in."""

from __future__ import annotations

import re

QUOTED = r'"(?P<{0}>[^"]+)"'
PATH = r"(?P<path>/[^\s\"',;)]*)"
THING = r"(?:the\s+|a\s+|an\s+|our\s+)?"
FIELD_WORD = r"(?:\s+(?:text\s+)?(?:field|box|input|area|entry))?"
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


def path_of(text: str) -> str:
    """Return a path without the stop that may follow it in a sentence."""
    return text.rstrip(".!?") or "/"
