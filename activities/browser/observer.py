"""What the page says besides its looks: console, errors, requests; and whether it still lives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Page, Response
from playwright.sync_api import Error as BrowserError

MOST = 100
LINE_MAX = 1000


@dataclass
class Observer:
    """Listens to one page. Query strings are left out: they may carry what must not be kept.

    `hide` takes secrets out of a line, before it is cut: half a secret would not be known as one.
    """

    hide: Callable[[str], str] = str
    console: list[str] = field(default_factory=list)
    page_errors: list[str] = field(default_factory=list)
    bad_responses: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    crashed: bool = False

    def listen(self, page: Page) -> None:
        """Start listening."""
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self._keep(self.page_errors, str(error)))
        page.on("response", self._on_response)
        page.on("crash", lambda _: self._on_crash())

    def is_alive(self, page: Page) -> bool:
        """Return whether the page answers a question of ours now."""
        browser = page.context.browser
        if self.crashed or page.is_closed() or browser is None or not browser.is_connected():
            return False
        try:
            return bool(page.evaluate("1") == 1)
        except BrowserError:
            return False

    def _on_console(self, message: ConsoleMessage) -> None:
        self._keep(self.console, f"{message.type}: {message.text}")

    def _on_response(self, response: Response) -> None:
        at = urlsplit(response.url)
        line = f"{response.request.method} {at.path} {response.status}"
        self._keep(self.requests, line)
        if response.status >= 400:
            self._keep(self.bad_responses, line)

    def _on_crash(self) -> None:
        self.crashed = True

    def _keep(self, kept: list[str], line: str) -> None:
        if len(kept) < MOST:
            kept.append(self.hide(line)[:LINE_MAX])
