"""Our own part of a text that others may edit: between two marks, set to a value. Pure.

Marks are what adoption goes by, so words that came from a report, a page or a model never carry
one: `plain` takes its power away before it is written.
"""

from __future__ import annotations

import re

FORGED = re.compile(r"<!--(?=\s*/?\s*outlast:)", re.IGNORECASE)


def mark(marker: str) -> str:
    """Return the comment that carries a marker, invisible to readers."""
    return f"<!-- {marker} -->"


def carries(text: str | None, marker: str) -> bool:
    """Return whether a text carries exactly this marker."""
    return mark(marker) in (text or "")


def marked(words: str, marker: str) -> str:
    """Return others' words with our marker below them, and no other mark of ours within."""
    return f"{plain(words)}\n{mark(marker)}\n"


def plain(words: str) -> str:
    """Return the words with every mark of ours in them made visible text."""
    return FORGED.sub("&lt;!--", words)


def put(text: str | None, name: str, content: str) -> str:
    """Return the text with our section set to the content; everything else stays as it is.

    A section that somebody cut open keeps what follows its beginning: that may be their words.
    """
    begin, end = _marks(name)
    block = f"{begin}\n{plain(content).strip()}\n{end}"
    before, found, rest = (text or "").partition(begin)
    if not found:
        return f"{before.rstrip()}\n\n{block}\n".lstrip()
    _, closed, after = rest.partition(end)
    return f"{before}{block}{after if closed else rest}"


def get(text: str | None, name: str) -> str | None:
    """Return our section's content, or None when the text has none."""
    begin, end = _marks(name)
    rest = (text or "").replace("\r\n", "\n").partition(begin)[2]
    content, found, _ = rest.partition(end)
    return content.strip() if found else None


def says(text: str | None, name: str, content: str) -> bool:
    """Return whether our section of the text is what `put` would make of this content."""
    return get(text, name) == plain(content).strip().replace("\r\n", "\n")


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- outlast:{name} -->", f"<!-- /outlast:{name} -->"
