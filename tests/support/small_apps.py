"""Small applications made by hand, each with one fault and with checks that miss it.

`lay_out` puts one into a folder. They stand on the standard library alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DECLARATION = """[outlast]
schema = 1
name = "small"
[install]
commands = []
lockfiles = []
produces = []
timeout_s = 20
[start]
command = ["{python}", "server.py"]
[seed]
commands = []
timeout_s = 10
[ready]
path = "/ready"
timeout_s = 10
[check]
commands = [["{python}", "check.py"]]
timeout_s = 20
[source]
paths = ["app"]
"""
SERVER = """import json, os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit
from app import pages

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        at = urlsplit(self.path)
        self.answer(at.path, at.query)

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        self.answer(urlsplit(self.path).path, self.rfile.read(length).decode())

    def answer(self, path, query):
        if path == "/ready":
            env = os.environ
            said = {"nonce": env["OUTLAST_NONCE"], "revision": env["OUTLAST_REVISION"]}
            body, kind = json.dumps(said), "application/json"
        else:
            form = {name: values[0] for name, values in parse_qs(query).items()}
            body, kind = f"<main>{pages.show(path, form)}</main>", "text/html; charset=utf-8"
        data = body.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass

ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""
FERRY = '''"""Fares of a ferry."""


def fare(cars, people):
    price = cars * 30 + people * 8
    if people > 5:
        price = price - 10
    return price


def show(path, form):
    if path == "/fare":
        price = fare(int(form["cars"]), int(form["people"]))
        return f"<p>The crossing is {price} crowns.</p>"
    return """<form action="/fare"><label>Cars <input name="cars"></label>
<label>People <input name="people"></label><button>Ask</button></form>"""
'''
CHOIR = '''"""Who sings, in a list by voice."""

import sqlite3

SINGERS = (("Ada", "alto", 1931), ("Bo", "bass", 1958), ("Cleo", "alto", 1974))


def singers():
    store = sqlite3.connect(":memory:")
    store.execute("CREATE TABLE singer (name TEXT, voice TEXT, born INTEGER)")
    store.executemany("INSERT INTO singer VALUES (?, ?, ?)", SINGERS)
    return store.execute("SELECT name, born FROM singer ORDER BY born DESC LIMIT 2").fetchall()


def show(path, form):
    rows = "".join(f"<li>{name}, {born}</li>" for name, born in singers())
    return f"<h1>Our eldest</h1><ul>{rows}</ul>"
'''
CINEMA = '''"""Seats of a cinema, asked for by a form that stands in a file."""

from pathlib import Path

FORM = Path(__file__).with_name("form.html")


def booked(form):
    return f"{form['visitor']} has {form['seats']} seats"


def show(path, form):
    return f"<p>{booked(form)}</p>" if path == "/book" else FORM.read_text()
'''
CINEMA_FORM = """<form method="post" action="/book">
<label>Name <input name="visitor"></label>
<label>Seats <input name="seat"></label>
<button>Book</button></form>
"""
LIFT = '''"""A lift that takes six."""

MOST = 6


def admitted(people):
    return min(people, MOST)


def greeting(people):
    return "Come in" if people < MOST else "It is full"


def show(path, form):
    people = int(form.get("people", "1"))
    return f"<p>{greeting(people)}: {admitted(people)} may ride, {people - MOST} wait.</p>"
'''


@dataclass(frozen=True)
class SmallApp:
    """The files of an application, and its own checks."""

    files: Mapping[str, str]
    check: str


APPS = {
    "ferry": SmallApp({"pages.py": FERRY}, "from app.pages import fare\nassert fare(1, 2) == 46\n"),
    "choir": SmallApp(
        {"pages.py": CHOIR}, "from app.pages import singers\nassert len(singers()) == 2\n"
    ),
    "cinema": SmallApp(
        {"pages.py": CINEMA, "form.html": CINEMA_FORM},
        'from app.pages import booked\nassert booked({"visitor": "Bo", "seats": 2})\n',
    ),
    "lift": SmallApp(
        {"pages.py": LIFT}, "from app.pages import admitted\nassert admitted(9) == 6\n"
    ),
}


def lay_out(app: SmallApp, workspace: Path) -> Path:
    """Put an application into a folder that does not exist yet."""
    (workspace / "app").mkdir(parents=True)
    (workspace / ".outlast.toml").write_text(DECLARATION)
    (workspace / "server.py").write_text(SERVER)
    (workspace / "check.py").write_text(app.check)
    for name, text in app.files.items():
        (workspace / "app" / name).write_text(text)
    return workspace
