"""Take secrets out of what is kept: plain text, and the members of a trace. Pure."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

MASK = "[secret]"
CREDENTIAL = re.compile(
    rb'("name":\s*"(?:cookie|set-cookie|authorization)",\s*"value":\s*")(?:[^"\\]|\\.)*"', re.I
)
SHORTEST = 3


def forms(secrets: Iterable[str]) -> list[str]:
    """Return every form in which a value may turn up, the longest first."""
    found: set[str] = set()
    for secret in secrets:
        if len(secret) >= SHORTEST:
            found |= {secret, quote(secret), quote_plus(secret), json.dumps(secret)[1:-1]}
    return sorted(found, key=len, reverse=True)


def mask(text: str, secrets: Iterable[str]) -> str:
    """Return the text without any form of the secrets."""
    for form in forms(secrets):
        text = text.replace(form, MASK)
    return text


def mask_trace(data: bytes, secrets: Iterable[str]) -> bytes:
    """Return a trace without the secrets, cookies and authorisations; pictures stay as they are.

    Recorded bodies of requests and pages may hold a session's tokens: with secrets in play they
    are left out whole.
    """
    wanted = [form.encode() for form in forms(secrets)]
    target = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as source,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as masked,
    ):
        for member in source.infolist():
            content = source.read(member)
            if wanted and member.filename.startswith("resources/") and not _is_picture(content):
                continue
            if not _is_picture(content):
                content = CREDENTIAL.sub(rb"\1" + MASK.encode() + b'"', content)
                for form in wanted:
                    content = content.replace(form, MASK.encode())
            masked.writestr(member.filename, content)
    return target.getvalue()


def _is_picture(content: bytes) -> bool:
    return content.startswith((b"\xff\xd8\xff", b"\x89PNG"))
