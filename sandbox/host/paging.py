"""Pages of a list, and the Link header that leads through them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import JSONResponse

from sandbox.host.call import Answer, Call, respond
from sandbox.host.store import written

PER_PAGE = 30
PER_PAGE_MAX = 100


def paged(
    call: Call,
    request: Request,
    rows: Sequence[sqlite3.Row],
    show: Callable[[sqlite3.Row], Any],
) -> JSONResponse:
    """Answer with the page that the query asks for; only its rows are shown."""
    per_page = min(max(_number(request, "per_page", PER_PAGE), 1), PER_PAGE_MAX)
    page, last = max(_number(request, "page", 1), 1), max(-(-len(rows) // per_page), 1)
    start = (page - 1) * per_page
    body = [show(row) for row in rows[start : start + per_page]]
    links = _links(call.url + call.path, dict(request.query_params), page, last)
    return respond(Answer(200, body), {"Link": links} if links else None)


def seen(call: Call, rows: Sequence[sqlite3.Row]) -> list[sqlite3.Row]:
    """Leave out what a stale list does not know yet."""
    return [row for row in rows if call.as_of is None or row["born"] <= call.as_of]


def since(request: Request) -> str:
    """Return the query's instant as this host writes instants; the beginning if it has none."""
    try:
        instant = datetime.fromisoformat(request.query_params.get("since", ""))
    except ValueError:
        return ""
    whole = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
    return written(whole.astimezone(UTC))


def _links(address: str, query: dict[str, str], page: int, last: int) -> str:
    wanted = {
        "prev": page - 1 if page > 1 else 0,
        "next": page + 1 if page < last else 0,
        "last": last if page < last else 0,
        "first": 1 if page > 1 else 0,
    }
    return ", ".join(
        f'<{address}?{urlencode({**query, "page": number})}>; rel="{name}"'
        for name, number in wanted.items()
        if number
    )


def _number(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else default
