"""The desk's window to the web: a WSGI application with a table of routes."""

import json
import os
import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from typing import Any
from urllib.parse import parse_qs, quote

from refuge.desk import Declined, Desk
from refuge.model import Standing
from refuge.tariff import bed_rate, price_of
from refuge.views import Markup, fill, fill_each, francs, whole_page

Answer = tuple[str, list[tuple[str, str]], bytes]
WEEK = 7
LARGEST_FORM = 10_000


class Window:
    """Answers requests for one desk."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.routes: list[tuple[str, re.Pattern[str], Callable[..., Answer]]] = [
            ("GET", re.compile(r"/"), self.show_huts),
            ("GET", re.compile(r"/up"), self.show_up),
            ("GET", re.compile(r"/huts/(?P<key>\w+)"), self.show_hut),
            ("POST", re.compile(r"/huts/(?P<key>\w+)/stays"), self.take_stay),
            ("GET", re.compile(r"/stays/(?P<code>\w+)"), self.show_stay),
            ("POST", re.compile(r"/stays/(?P<code>\w+)/cancel"), self.cancel_stay),
        ]

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., object]
    ) -> Iterable[bytes]:
        status, headers, body = self._answer(environ)
        start_response(status, [*headers, ("Content-Length", str(len(body)))])
        return [body]

    def _answer(self, environ: dict[str, Any]) -> Answer:
        for method, pattern, handler in self.routes:
            match = pattern.fullmatch(environ.get("PATH_INFO", "/"))
            if match and method == environ["REQUEST_METHOD"]:
                try:
                    return handler(_read_form(environ), **match.groupdict())
                except Declined as no:
                    return _page("Sorry", fill("sorry", why=no), "422 Unprocessable Content")
        return _page("Lost", fill("sorry", why="There is no such path."), "404 Not Found")

    def show_up(self, _form: dict[str, str]) -> Answer:
        told = {
            "nonce": os.environ.get("OUTLAST_NONCE", ""),
            "revision": os.environ.get("OUTLAST_REVISION", ""),
        }
        status = "200 OK" if self.desk.huts else "503 Service Unavailable"
        return status, [("Content-Type", "application/json")], json.dumps(told).encode()

    def show_huts(self, _form: dict[str, str]) -> Answer:
        huts = sorted(self.desk.huts.values(), key=lambda hut: hut.height, reverse=True)
        rows: list[dict[str, object]] = [
            {"key": hut.key, "name": hut.name, "height": hut.height, "beds": hut.beds}
            for hut in huts
        ]
        return _page("Our huts", fill("huts", rows=fill_each("huts_row", rows)))

    def show_hut(self, form: dict[str, str], key: str) -> Answer:
        hut = self.desk.huts.get(key)
        if hut is None:
            raise Declined("We have no such hut.")
        first = _read_date(form["from"]) if "from" in form else self.desk.today
        nights = [first + timedelta(days=offset) for offset in range(WEEK)]
        rows: list[dict[str, object]] = [
            {
                "night": night,
                "free": self.desk.free_beds(key, night),
                "names": ", ".join(stay.guest for stay in self.desk.sleeping(key, night))
                or "nobody",
            }
            for night in nights
        ]
        body = fill(
            "hut",
            name=hut.name,
            key=key,
            rate=francs(bed_rate(hut, False)),
            member_rate=francs(bed_rate(hut, True)),
            rows=fill_each("hut_row", rows),
            later=first + timedelta(days=WEEK),
            waiting=len(self.desk.waiting(key)),
        )
        return _page(hut.name, body)

    def take_stay(self, form: dict[str, str], key: str) -> Answer:
        stay = self.desk.ask(
            hut=key,
            guest=form.get("guest", ""),
            arrival=_read_date(form.get("arrival", "")),
            nights=_read_count(form.get("nights", ""), "nights"),
            beds=_read_count(form.get("beds", ""), "beds"),
            member=form.get("member") == "yes",
        )
        return _see(f"/stays/{stay.code}")

    def show_stay(self, form: dict[str, str], code: str) -> Answer:
        stay = self.desk.stays.get(code)
        if stay is None:
            raise Declined(f"There is no stay {code}.")
        hut = self.desk.huts[stay.hut]
        fee = form.get("fee", "")
        body = fill(
            "stay",
            code=code,
            guest=stay.guest,
            hut=hut.name,
            arrival=stay.arrival,
            departure=stay.departure,
            beds=stay.beds,
            standing=stay.standing.value,
            price=francs(price_of(hut, stay)),
            fee=fill("fee", fee=francs(int(fee))) if fee.isdecimal() else Markup(),
            action=fill("cancel", code=code)
            if stay.standing is not Standing.CANCELLED
            else Markup(),
        )
        return _page(f"Stay {code}", body)

    def cancel_stay(self, _form: dict[str, str], code: str) -> Answer:
        fee = self.desk.cancel(code)
        return _see(f"/stays/{code}?fee={fee}")


def _read_form(environ: dict[str, Any]) -> dict[str, str]:
    """Merge query and body; the first value of a name counts."""
    text = environ.get("QUERY_STRING", "")
    if environ["REQUEST_METHOD"] == "POST":
        length = min(int(environ.get("CONTENT_LENGTH") or 0), LARGEST_FORM)
        text = f"{text}&{environ['wsgi.input'].read(length).decode('utf-8', 'replace')}"
    return {name: values[0] for name, values in parse_qs(text).items()}


def _read_date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise Declined("Please give the day as 2026-07-31.") from error


def _read_count(text: str, what: str) -> int:
    if not text.strip().isdecimal():
        raise Declined(f"How many {what}? Please give a number.")
    return int(text)


def _page(title: str, body: Markup, status: str = "200 OK") -> Answer:
    headers = [("Content-Type", "text/html; charset=utf-8")]
    return status, headers, whole_page(title, body).encode()


def _see(path: str) -> Answer:
    return "303 See Other", [("Location", quote(path, safe="/?=&"))], b""
