"""Our own part of a text that others may edit: between two marks, set to a value. Pure."""

from __future__ import annotations


def mark(marker: str) -> str:
    """Return the comment that carries a marker, invisible to readers."""
    return f"<!-- {marker} -->"


def carries(text: str | None, marker: str) -> bool:
    """Return whether a text carries exactly this marker."""
    return mark(marker) in (text or "")


def put(text: str | None, name: str, content: str) -> str:
    """Return the text with our section set to the content; everything else stays as it is."""
    begin, end = _marks(name)
    block = f"{begin}\n{content.strip()}\n{end}"
    before, found, rest = (text or "").partition(begin)
    if not found:
        return f"{before.rstrip()}\n\n{block}\n".lstrip()
    after = rest.partition(end)[2]
    return f"{before}{block}{after}"


def get(text: str | None, name: str) -> str | None:
    """Return our section's content, or None when the text has none."""
    begin, end = _marks(name)
    rest = (text or "").replace("\r\n", "\n").partition(begin)[2]
    content, found, _ = rest.partition(end)
    return content.strip() if found else None


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- outlast:{name} -->", f"<!-- /outlast:{name} -->"
