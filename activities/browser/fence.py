"""Keeps a page's traffic with the application under test; nothing else leaves."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Route, WebSocketRoute

LOCAL_SCHEMES = ("data", "blob", "about")


@dataclass
class Fence:
    """Lets through what goes to exactly one host and port. Names resolve to nothing anyway.

    Not frozen: the browser's library keeps notes on the object whose methods it calls.
    """

    url: str

    def put_around(self, context: BrowserContext) -> None:
        """Judge every request and socket of the context; it must allow no service workers."""
        context.route("**/*", self._judge)
        context.route_web_socket("**/*", self._judge_socket)

    def lets_through(self, url: str) -> bool:
        """Return whether the address is the application's."""
        asked, ours = urlsplit(url), urlsplit(self.url)
        return asked.scheme in LOCAL_SCHEMES or asked.netloc == ours.netloc

    def _judge(self, route: Route) -> None:
        if self.lets_through(route.request.url):
            route.continue_()
        else:
            route.abort()

    def _judge_socket(self, socket: WebSocketRoute) -> None:
        if self.lets_through(socket.url):
            socket.connect_to_server()
        else:
            socket.close()
