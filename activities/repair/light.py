"""Play a procedure without a browser: requests, forms, cookies. Quick, and only for screening."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import assert_never
from urllib.parse import urlencode, urljoin, urlsplit

from activities.model.provider import Answer, ScreeningSession
from activities.repair.page import Element, Page
from orchestrator.contracts.procedure import (
    Check,
    Click,
    CountIs,
    Expectation,
    Fill,
    Navigate,
    PathIs,
    Press,
    Procedure,
    Select,
    Step,
    Target,
    TextShown,
    ValueIs,
    Visible,
)
from orchestrator.domain.failures import ActivityFailed, FailureKind

REDIRECTS_MAX = 8


class NotExpressible(Exception):
    """The procedure needs a browser: screening by it is not possible."""


class StepImpossible(Exception):
    """A step's target is not on the page."""


@dataclass
class Played:
    """What a light replay came to: which expectations hold, and what each page said."""

    holds: tuple[bool, ...] = ()
    broke: str = ""
    texts: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether every step could be done and every expectation holds."""
        return not self.broke and all(self.holds)


class LightClient:
    """A client with cookies on one session."""

    def __init__(self, session: ScreeningSession, secrets: Mapping[str, str]) -> None:
        self._session, self._secrets = session, secrets
        self._cookies: dict[str, str] = {}
        self._page = Page("/", 0, "")
        self._last: Element | None = None

    def play(self, procedure: Procedure, after_step: Callable[[], None] = lambda: None) -> Played:
        """Play it once. Raises NotExpressible."""
        played = Played()
        for step in procedure.steps:
            try:
                self._step(step)
            except StepImpossible as broke:
                played.broke = str(broke)
                return played
            played.texts.append(self._page.text())
            played.paths.append(self._page.url)
            after_step()
        played.holds = tuple(self._holds(each) for each in procedure.expectations)
        return played

    def _step(self, step: Step) -> None:
        match step:
            case Navigate(path=path):
                self._load("GET", path, None)
            case Click(target=target):
                self._click(self._control(target))
            case Fill(target=target, value=value, secret=secret):
                given = self._secrets[secret] if secret is not None else (value or "")
                self._last = self._field(target)
                self._page.typed[id(self._last)] = given
            case Select(target=target, option=option):
                self._select(self._field(target), option)
            case Check(target=target, on=on):
                self._page.check(self._field(target), on)
            case Press(key=key):
                self._press(key)
            case _:
                assert_never(step)

    def _press(self, key: str) -> None:
        if key != "Enter" or self._last is None:
            raise NotExpressible(f"the key {key}")
        form = self._last.above("form")
        if form is None:
            raise NotExpressible("Enter outside of a form")
        self._submit(form, None)

    def _select(self, element: Element, option: str) -> None:
        for each in element.find("option"):
            if each.text() == option:
                self._page.typed[id(element)] = each.attributes.get("value", option)
                return
        raise StepImpossible(f"no option {option}")

    def _click(self, element: Element) -> None:
        if element.tag == "a":
            self._load("GET", urljoin(self._page.url, element.get("href")), None)
            return
        form = element.above("form")
        if form is None:
            raise NotExpressible("a button outside of a form")
        self._submit(form, element)

    def _submit(self, form: Element, pressed: Element | None) -> None:
        pairs = self._page.form_values(form, pressed)
        action = urljoin(self._page.url, form.get("action") or self._page.url)
        if (form.get("method") or "get").lower() == "post":
            self._load("POST", action, pairs)
        else:
            self._load("GET", f"{urlsplit(action).path}?{urlencode(pairs)}", None)

    def _load(self, method: str, path: str, form: list[tuple[str, str]] | None) -> None:
        for _ in range(REDIRECTS_MAX):
            headers = {"Cookie": self._cookie_line()} if self._cookies else {}
            answer = self._ask(method, path, form, headers)
            self._keep_cookies(answer.headers)
            location = dict(answer.headers).get("location", "")
            if answer.status not in (301, 302, 303, 307, 308) or not location:
                self._page = Page(path, answer.status, answer.body)
                self._last = None
                return
            parts = urlsplit(urljoin(path, location))
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            if answer.status not in (307, 308):
                method, form = "GET", None
        raise StepImpossible("too many redirects")

    def _ask(
        self, method: str, path: str, form: list[tuple[str, str]] | None, headers: dict[str, str]
    ) -> Answer:
        """Send one request; a connection that the application drops is a step that breaks."""
        try:
            return self._session.request(method, path, _grouped(form), headers)
        except ActivityFailed as fault:
            if fault.kind is not FailureKind.ENVIRONMENTAL:
                raise
            raise StepImpossible(f"no answer to {method} {path}") from fault

    def _holds(self, expectation: Expectation) -> bool:
        match expectation:
            case TextShown(contains=text, target=target, is_shown=is_shown):
                wanted = " ".join(text.split())
                places = [self._page.root] if target is None else self._matching(target)
                return any(wanted in each.text() for each in places) is is_shown
            case ValueIs(target=target, equals=equals):
                found = self._page.field(target.value) if target.by == "label" else None
                return found is not None and self._page.value(found) == equals
            case PathIs(equals=path):
                at = urlsplit(self._page.url)
                return path == (f"{at.path}?{at.query}" if "?" in path else at.path)
            case CountIs(target=target, equals=count):
                return len(self._matching(target)) == count
            case Visible(target=target, is_visible=is_visible):
                return bool(self._matching(target)) is is_visible
            case _:
                assert_never(expectation)

    def _matching(self, target: Target) -> list[Element]:
        found = None
        if target.within is None and target.nth is None and not target.exact:
            found = self._page.of_role(target.value, target.name) if target.by == "role" else None
        if found is None:
            raise NotExpressible(f"what is there by {target.by} {target.value}")
        return found

    def _control(self, target: Target) -> Element:
        if target.within is not None or target.nth is not None:
            return self._control_within(target)
        found = None
        if target.by == "control":
            found = self._page.control(target.value)
        elif target.by == "role" and target.name is not None:
            found = self._page.control(target.name, target.value)
        elif target.by == "text":
            found = self._page.control(target.value)
        if found is None:
            raise StepImpossible(f"nothing to click is named {target.name or target.value}")
        return found

    def _control_within(self, target: Target) -> Element:
        """Return the control in the smallest part of the page that contains the text."""
        name = target.name or target.value
        areas = [
            area
            for area in self._page.root.find("tr", "li", "article", "section", "form", "div", "dd")
            if (target.within or "") in area.text()
        ]
        for area in sorted(areas, key=lambda each: len(each.text())):
            inner = Page(self._page.url, 200, "")
            inner.root = area
            found = inner.control(name)
            if found is not None:
                return found
        raise StepImpossible(f"nothing to click is named {name} within {target.within}")

    def _field(self, target: Target) -> Element:
        if target.by not in ("label", "placeholder"):
            raise NotExpressible(f"a field by {target.by}")
        found = self._page.field(target.value)
        if found is None:
            raise StepImpossible(f"no field is named {target.value}")
        return found

    def _cookie_line(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self._cookies.items())

    def _keep_cookies(self, headers: list[tuple[str, str]]) -> None:
        for name, value in headers:
            if name == "set-cookie":
                key, _, rest = value.split(";", 1)[0].partition("=")
                self._cookies[key.strip()] = rest.strip()


def _grouped(form: list[tuple[str, str]] | None) -> dict[str, list[str]] | None:
    if form is None:
        return None
    grouped: dict[str, list[str]] = {}
    for name, value in form:
        grouped.setdefault(name, []).append(value)
    return grouped
