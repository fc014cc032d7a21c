"""Open connections, so that one can be closed without an answer."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

Peer = tuple[str, int]


class Connections:
    """The transports of all clients, by their address."""

    def __init__(self) -> None:
        self._transports: dict[Peer, asyncio.Transport] = {}

    def protocol(self) -> type[H11Protocol]:
        """Return an HTTP protocol that registers its connections here."""
        transports = self._transports

        class Registered(H11Protocol):
            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
                self.peer: Peer = transport.get_extra_info("peername")[:2]
                transports[self.peer] = transport
                super().connection_made(transport)

            def connection_lost(self, exc: Exception | None) -> None:
                transports.pop(self.peer, None)
                super().connection_lost(exc)

        return Registered

    def abort(self, client: Any) -> None:
        """Close the client's connection at once; bytes not yet sent are lost."""
        transport = self._transports.get(tuple(client or ()))
        if transport is not None:
            transport.abort()
