"""Play one acceptance file against a running application, over HTTP, without a browser."""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any, Literal

import httpx
from pydantic import BaseModel, ConfigDict, Field, model_validator


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SecretValue(_Record):
    """A form value that is looked up by its name when it is sent."""

    secret: str


class VisitStep(_Record):
    """One request (redirects followed) and what its page must be. Exactly one kind of request."""

    open: str | None = None
    follow: str | None = None
    send: str | None = None
    form: dict[str, str | SecretValue] = {}
    status: int = 200
    at: str | None = None
    shows: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    holds: dict[str, str] = {}

    @model_validator(mode="after")
    def _has_one_request(self) -> VisitStep:
        if sum(request is not None for request in (self.open, self.follow, self.send)) != 1:
            raise ValueError("a step has exactly one of open, follow and send")
        return self


class Visit(_Record):
    """Steps of one visitor, who comes without any cookie."""

    name: str
    steps: tuple[VisitStep, ...] = Field(min_length=1)


class AcceptanceFile(_Record):
    """What a correct repair must show."""

    schema_: Literal[1] = Field(alias="schema")
    about: str
    visits: tuple[Visit, ...] = Field(min_length=1)


class ReadPage(HTMLParser):
    """The parts of a page that a visitor notices: its text, its links, its fields' values."""

    SILENT = {"script", "style", "title"}

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.links: dict[str, str] = {}
        self.fields: dict[str, str] = {}
        self._texts: list[str] = []
        self._silent_in: str | None = None
        self._link: tuple[str, list[str]] | None = None
        self.feed(html)
        self.close()
        self.text = " ".join(" ".join(self._texts).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a link's address and a field's value."""
        told = {name: value or "" for name, value in attrs}
        if tag in self.SILENT:
            self._silent_in = tag
        elif tag == "a" and "href" in told:
            self._link = (told["href"], [])
        elif tag == "input" and "name" in told:
            self.fields[told["name"]] = told.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        """Close a link or a silent part."""
        if tag == self._silent_in:
            self._silent_in = None
        elif tag == "a" and self._link:
            address, words = self._link
            self.links[" ".join("".join(words).split())] = address
            self._link = None

    def handle_data(self, data: str) -> None:
        """Collect visible text."""
        if self._silent_in:
            return
        self._texts.append(data)
        if self._link:
            self._link[1].append(data)


def play(file: AcceptanceFile, address: str, secrets: Mapping[str, str]) -> list[str]:
    """Return what is wrong, one sentence each; empty means accepted. A visit ends at its first."""
    problems = []
    for visit in file.visits:
        with httpx.Client(
            base_url=address, follow_redirects=True, timeout=10, trust_env=False
        ) as client:
            problems += _play_visit(visit, client, secrets)
    return problems


def _play_visit(visit: Visit, client: httpx.Client, secrets: Mapping[str, str]) -> list[str]:
    page = ReadPage("")
    for number, step in enumerate(visit.steps, start=1):
        where = f"{visit.name}, step {number}"
        if step.follow is not None and step.follow not in page.links:
            return [f"{where}: there is no link {step.follow!r}"]
        try:
            answer = _request(step, page, client, secrets)
        except httpx.HTTPError as error:
            return [f"{where}: no answer ({type(error).__name__})"]
        page = ReadPage(answer.text)
        found = _judge(step, answer, page)
        if found:
            return [f"{where}: {problem}" for problem in found]
    return []


def _request(
    step: VisitStep, page: ReadPage, client: httpx.Client, secrets: Mapping[str, str]
) -> httpx.Response:
    if step.send is not None:
        return client.post(step.send, data=_filled(step.form, secrets))
    if step.follow is not None:
        return client.get(page.links[step.follow])
    return client.get(step.open or "/")


def _filled(form: Mapping[str, str | SecretValue], secrets: Mapping[str, str]) -> dict[str, Any]:
    return {
        name: secrets[value.secret] if isinstance(value, SecretValue) else value
        for name, value in form.items()
    }


def _judge(step: VisitStep, answer: httpx.Response, page: ReadPage) -> list[str]:
    found = []
    if answer.status_code != step.status:
        found.append(f"status {answer.status_code} instead of {step.status}")
    if step.at is not None and answer.url.path != step.at:
        found.append(f"the visitor stands on {answer.url.path} instead of {step.at}")
    found += [f"the page does not show {text!r}" for text in step.shows if text not in page.text]
    found += [f"the page shows {text!r}" for text in step.lacks if text in page.text]
    found += [
        f"{name!r} holds {page.fields.get(name)!r} instead of {value!r}"
        for name, value in step.holds.items()
        if page.fields.get(name) != value
    ]
    return found
