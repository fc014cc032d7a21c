"""Take secrets out of what is kept: plain text, and the members of a trace. Pure."""

from __future__ import annotations

import html
import io
import json
import re
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

MASK = "[secret]"
CREDENTIAL_HEADERS = frozenset(
    {"cookie", "set-cookie", "authorization", "proxy-authorization", "x-csrf-token"}
)
SHORTEST = 3
SHORTEST_LINE = 8
_LOWER = re.compile("%[0-9A-F]{2}")


def forms(secrets: Iterable[str]) -> list[str]:
    """Return every form in which a value may turn up, the longest first."""
    found: set[str] = set()
    for secret in secrets:
        lines = {line for line in secret.splitlines() if len(line) >= SHORTEST_LINE}
        for value in {secret, " ".join(secret.split()), *lines}:
            if len(value) >= SHORTEST:
                found |= {value, *_in_addresses(value), *_in_sources(value)}
    return sorted(found, key=len, reverse=True)


def _in_addresses(value: str) -> set[str]:
    """Return how browsers and servers write it into addresses, forms and cookies."""
    plain = {quote(value), quote(value, safe=""), quote(value, safe="!'()*"), quote_plus(value)}
    plain.add(quote_plus(value, safe="*").replace("~", "%7E"))
    return plain | {_LOWER.sub(lambda found: found[0].lower(), each) for each in plain}


def _in_sources(value: str) -> set[str]:
    """Return how it is quoted in JSON, in Python's own words and in pages."""
    page = html.escape(value)
    quoted = {json.dumps(value), json.dumps(value, ensure_ascii=False), repr(value)}
    return {
        page,
        html.escape(value, quote=False),
        page.replace("&quot;", "&#34;").replace("&#x27;", "&#39;"),
        *(each[1:-1] for each in quoted),
    }


def mask(text: str, secrets: Iterable[str]) -> str:
    """Return the text without any form of the secrets."""
    return _without(text, forms(secrets))


def _without(text: str, wanted: list[str]) -> str:
    for form in wanted:
        text = text.replace(form, MASK)
    return text


def mask_trace(data: bytes, secrets: Iterable[str]) -> bytes:
    """Return a trace without the secrets, cookies and authorisations; pictures stay as they are.

    Recorded bodies of requests and pages may hold a session's tokens: with secrets in play they
    are left out whole.
    """
    wanted = forms(secrets)
    target = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as source,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as masked,
    ):
        for member in source.infolist():
            content = source.read(member)
            if _is_picture(content):
                masked.writestr(member.filename, content)
            elif not (wanted and member.filename.startswith("resources/")):
                masked.writestr(member.filename, _mask_member(member.filename, content, wanted))
    return target.getvalue()


def _mask_member(name: str, content: bytes, wanted: list[str]) -> bytes:
    if name.endswith((".trace", ".network")):
        lines = [_mask_line(line, wanted) for line in content.split(b"\n")]
        content = b"\n".join(lines)
    for form in wanted:
        content = content.replace(form.encode(), MASK.encode())
    return content


def _mask_line(line: bytes, wanted: list[str]) -> bytes:
    try:
        said = json.loads(line)
    except ValueError:
        return line
    return json.dumps(_mask_value(said, wanted), ensure_ascii=False).encode()


def _mask_value(said: Any, wanted: list[str]) -> Any:
    """Return the value without cookies and credentials; with secrets, without form bodies.

    Strings are read decoded: what quotes a quoted secret again hides it from a plain search.
    """
    if isinstance(said, str):
        return _without(said, wanted)
    if isinstance(said, list):
        return [_mask_value(each, wanted) for each in said]
    if not isinstance(said, Mapping):
        return said
    if str(said.get("name", "")).lower() in CREDENTIAL_HEADERS and "value" in said:
        return {**said, "value": MASK}
    kept = {key: _mask_value(value, wanted) for key, value in said.items()}
    if isinstance(kept.get("cookies"), list):
        kept["cookies"] = []
    if wanted:
        kept.pop("postData", None)
    return kept


def _is_picture(content: bytes) -> bool:
    return content.startswith((b"\xff\xd8\xff", b"\x89PNG"))
