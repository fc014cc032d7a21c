"""The layer around all routes: who asks, the journal, and the faults.

It reads the whole request, lets the routes make the whole answer, and only then decides whether
the client gets it. A client that leaves meanwhile stops nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, assert_never

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers

from sandbox.host import journal
from sandbox.host.call import Call
from sandbox.host.connections import Connections
from sandbox.host.faults import Action, Fault, FaultOrder, Release, Switchboard
from sandbox.host.store import Store
from sandbox.host.tokens import Tokens

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

SWITCHES = "/outlast/"
KEYED = ("/issues", "/comments", "/pulls", "/git/refs", "/reviews")
PUSH_PROBE = b"0000"


@dataclass
class Made:
    """An answer that no client has seen yet."""

    status: int = 500
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""

    async def take(self, message: Message) -> None:
        """Collect what a route sends."""
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message.get("headers", ()))
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")


@dataclass
class Visit:
    """One request while it is inside: what was read, its entry, and whether the client left."""

    scope: Scope
    send: Send
    body: bytes
    login: str | None
    ordinal: int
    gone: asyncio.Task[None]


@dataclass
class Outer:
    """The host's ASGI application."""

    inner: App
    store: Store
    folder: Path
    tokens: Tokens
    keys: bool
    connections: Connections
    switchboard: Switchboard = field(default_factory=Switchboard)
    _delivering: int = 0
    _idle: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection's request."""
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return
        body = await _whole_body(receive)
        if body is None:
            return
        headers = Headers(scope=scope)
        login = self.tokens.login_of(headers.get("authorization"))
        scope["state"] = {**scope.get("state", {}), "login": login, "outer": self, "call": None}
        if scope["path"].startswith(SWITCHES):
            await self.inner(scope, _replay(body, receive), send)
            return
        visit = await self._enter(scope, receive, send, body, login)
        try:
            await self._serve(visit)
        finally:
            visit.gone.cancel()

    async def settled(self) -> None:
        """Return when no answer is half delivered, so that the journal says what clients saw."""
        async with self._idle:
            await self._idle.wait_for(lambda: self._delivering == 0)

    async def _enter(
        self, scope: Scope, receive: Receive, send: Send, body: bytes, login: str | None
    ) -> Visit:
        asked = journal.Asked(
            method=scope["method"],
            path=scope["path"],
            login=login,
            idempotency_key=Headers(scope=scope).get("idempotency-key"),
            marker=None if _is_git(scope) else journal.marker_in(body),
            body_sha256=hashlib.sha256(body).hexdigest() if body else None,
        )
        ordinal = await run_in_threadpool(self._open_entry, asked)
        gone = asyncio.create_task(_left(receive))
        return Visit(scope, send, body, login, ordinal, gone)

    async def _serve(self, visit: Visit) -> None:
        fault = self._pick(visit)
        if fault is None:
            await self._deliver(visit, await self._make(visit, None), None)
            return
        order, as_of = fault.order, None
        match order.action:
            case Action.CUT_BEFORE:
                await self.switchboard.fire(fault)
                await self._drop(visit, None, order.action)
                return
            case Action.REFUSE:
                await self.switchboard.fire(fault)
                await self._deliver(visit, _refusal(order), order.action)
                return
            case Action.DELAY:
                await self.switchboard.fire(fault)
                await asyncio.sleep(order.seconds)
            case Action.HOLD_BEFORE:
                await self.switchboard.hold(fault, visit.ordinal)
            case Action.STALE_LIST:
                as_of = fault.set_at
                await self.switchboard.fire(fault)
            case Action.HOLD_AFTER | Action.DROP_AFTER | Action.ERROR_AFTER:
                pass
            case _:
                assert_never(order.action)
        await self._answer(visit, fault, await self._make(visit, as_of))

    async def _answer(self, visit: Visit, fault: Fault, made: Made) -> None:
        action = fault.order.action
        match action:
            case Action.HOLD_AFTER:
                how = await self.switchboard.hold(fault, visit.ordinal)
                if how is Release.DROP:
                    await self._drop(visit, made, action)
                else:
                    await self._deliver(visit, made, action)
            case Action.DROP_AFTER:
                await self.switchboard.fire(fault)
                await self._drop(visit, made, action)
            case Action.ERROR_AFTER:
                await self.switchboard.fire(fault)
                await self._deliver(visit, _bad_gateway(), action)
            case _:
                await self._deliver(visit, made, action)

    def _pick(self, visit: Visit) -> Fault | None:
        scope = visit.scope
        probe = _is_git(scope) and visit.body == PUSH_PROBE
        if visit.login is None or probe:
            return None
        return self.switchboard.pick(scope["method"], scope["path"], visit.login, visit.body)

    async def _make(self, visit: Visit, as_of: int | None) -> Made:
        scope, made = visit.scope, Made()
        scope["state"]["call"] = self._call(visit, as_of)

        async def leave() -> Message:
            await visit.gone
            return {"type": "http.disconnect"}

        await self.inner(scope, _replay(visit.body, leave), made.take)
        return made

    def _call(self, visit: Visit, as_of: int | None) -> Call | None:
        if visit.login is None:
            return None
        scope = visit.scope
        keyed = self.keys and scope["method"] == "POST" and scope["path"].endswith(KEYED)
        host, port = scope["server"]
        return Call(
            store=self.store,
            folder=self.folder,
            url=f"http://{host}:{port}",
            ordinal=visit.ordinal,
            login=visit.login,
            method=scope["method"],
            path=scope["path"],
            key=Headers(scope=scope).get("idempotency-key") if keyed else None,
            raw=visit.body,
            as_of=as_of,
        )

    async def _deliver(self, visit: Visit, made: Made, fault: Action | None) -> None:
        self._delivering += 1
        try:
            await run_in_threadpool(self._note, visit.ordinal, made.status, fault)
            if visit.gone.done():
                return
            start = {"type": "http.response.start", "status": made.status, "headers": made.headers}
            await visit.send(start)
            await visit.send({"type": "http.response.body", "body": made.body})
            await run_in_threadpool(self._note_delivered, visit.ordinal)
        finally:
            async with self._idle:
                self._delivering -= 1
                self._idle.notify_all()

    async def _drop(self, visit: Visit, made: Made | None, fault: Action) -> None:
        await run_in_threadpool(self._note, visit.ordinal, made.status if made else None, fault)
        self.connections.abort(visit.scope.get("client"))
        await visit.gone

    def _open_entry(self, asked: journal.Asked) -> int:
        with self.store.write() as db:
            return journal.open_entry(db, asked)

    def _note(self, ordinal: int, status: int | None, fault: Action | None) -> None:
        with self.store.write() as db:
            if status is not None:
                journal.note(db, ordinal, "status", status)
            if fault is not None:
                journal.note(db, ordinal, "fault", fault)

    def _note_delivered(self, ordinal: int) -> None:
        with self.store.write() as db:
            journal.note(db, ordinal, "delivered")


def _is_git(scope: Scope) -> bool:
    return ".git/" in scope["path"]


async def _whole_body(receive: Receive) -> bytes | None:
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _replay(body: bytes, then: Receive) -> Receive:
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return left.pop() if left else await then()

    return receive


def _refusal(order: FaultOrder) -> Made:
    message = "You have exceeded a secondary rate limit." if order.status == 429 else "Refused"
    headers = [(b"content-type", b"application/json; charset=utf-8")]
    if order.retry_after is not None:
        headers.append((b"retry-after", str(order.retry_after).encode()))
    return _sized(Made(order.status, headers, json.dumps({"message": message}).encode()))


def _bad_gateway() -> Made:
    headers = [(b"content-type", b"text/html")]
    return _sized(Made(502, headers, b"<html><h1>502 Bad Gateway</h1></html>"))


def _sized(made: Made) -> Made:
    made.headers.append((b"content-length", str(len(made.body)).encode()))
    return made
