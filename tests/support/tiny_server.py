"""A very small web application with every misbehaviour that an environment must survive.

Standard library only; it runs as the application under test and knows nothing of us.
"""

from __future__ import annotations

import html
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

DATA = Path(os.environ["DATA_DIR"])
MODE = os.environ.get("MODE", "")
SESSION = f"session-{4711 * 3}"  # not in this source, so that a search finds copies of it alone
FORM = """<h1>Order desk</h1><form method="post" action="/order">
<label>Amount <input name="amount" value="1"></label>
<label>Colour <select name="colour"><option>Red</option><option>Blue</option></select></label>
<label><input type="checkbox" name="wrap"> Wrap it</label>
<input name="note" placeholder="A note" data-testid="note">
<button>Order</button></form>"""
LIST = """<table><tr><td>Blue mug</td><td><a href="/item/1">Edit</a></td></tr>
<tr><td>Red mug</td><td><a href="/item/2">Edit</a></td></tr></table>
<ul><li>one</li><li>two</li><li>three</li></ul><button>Twice</button><button>Twice</button>
<button disabled>Locked</button>"""
SIGN_IN = """<form method="post" action="/sign-in"><label>Username <input name="user"></label>
<label>Password <input type="password" name="password"></label><button>Sign in</button></form>"""
NOISY = """<h1>Noise</h1><script>console.error("a complaint");
fetch("/missing"); fetch("http://192.0.2.7/elsewhere").catch(() => console.log("fenced"));
new Image().src = "http://elsewhere.test/pixel.png"; setTimeout(() => { throw Error("boom") }, 1);
</script>"""
LATER = """<h1>Soon</h1><script>setTimeout(() => { location = "/list" }, 150)</script>"""
BUSY = """<h1>Busy</h1><button onclick="setTimeout(() => { for (;;) {} }, 400)">Spin</button>"""

PAGES = {
    "/busy": BUSY,
    "/form": FORM,
    "/list": LIST,
    "/sign-in": SIGN_IN,
    "/noisy": NOISY,
    "/later": LATER,
}


class Site(BaseHTTPRequestHandler):
    """Answers one request."""

    def do_GET(self) -> None:
        """Answer the fixed pages, and the ones that do harm."""
        at = urlsplit(self.path)
        harm: dict[str, Callable[[], None]] = {
            "/kill-renderer": lambda: kill_ours("--type=renderer"),
            "/kill-browser": lambda: kill_ours("--remote-debugging-pipe"),
            "/die": lambda: os.kill(os.getpid(), signal.SIGKILL),
        }
        if at.path == "/ready":
            self.answer_ready()
        elif at.path in harm:
            self.page("<h1>Farewell</h1>")
            harm[at.path]()
        elif at.path in PAGES:
            self.page(PAGES[at.path])
        elif at.path == "/private":
            known = SESSION in (self.headers["Cookie"] or "")
            self.page("<h1>Hello ada</h1>" if known else "<h1>Who are you?</h1>")
        elif at.path.startswith("/go/"):
            self.redirect()
        elif at.path == "/visits":
            self.page(f"<h1>Visit {count_visit()}</h1>")
        else:
            self.page(f"<h1>Nothing at {html.escape(at.path)}</h1>", 404)

    def do_POST(self) -> None:
        """Take an order or a sign-in; a sign-in carelessly repeats the password.

        It stands where a careless reader would cut it in two: near the 1000th character of a line,
        and near the 4000th of the log, counted from its end.
        """
        size = int(self.headers["Content-Length"])
        form = {key: value[0] for key, value in parse_qs(self.rfile.read(size).decode()).items()}
        if self.path.startswith("/go/"):
            self.redirect()
        elif self.path == "/sign-in":
            said = f"You are {form['user']} with {form['password']}"
            log(said)
            for_line = "." * (990 - len("log: You are ada with "))
            script = f"<script>console.log({json.dumps(for_line + said)})</script>"
            log("." * (3990 - len(form["password"])))
            more = {"Set-Cookie": f"session={SESSION}"}
            body = f"<p>{for_line}</p><h1>{said}</h1>{script}<a href='/private'>On</a>"
            self.page(body, headers=more)
        elif form.get("amount") == "13":
            self.page("<h1>Sorry</h1>", 500)
        else:
            self.page(
                f"<h1>Ordered {form['amount']} {form['colour']} {form.get('wrap', 'off')}</h1>"
            )

    def redirect(self) -> None:
        """Send the caller on: `/go/STATUS?to=LOCATION`."""
        at = urlsplit(self.path)
        status = int(at.path.removeprefix("/go/"))
        self.page("<h1>Elsewhere</h1>", status, {"Location": parse_qs(at.query)["to"][0]})

    def answer_ready(self) -> None:
        """Show nonce and revision, or what the mode wants."""
        said: object = {
            "nonce": "of another" if MODE == "stale" else os.environ["OUTLAST_NONCE"],
            "revision": os.environ["OUTLAST_REVISION"],
        }
        said = ["odd"] if MODE == "odd" else said
        self.page(json.dumps(said), 503 if MODE == "never" else 200)

    def page(self, body: str, status: int = 200, headers: dict[str, str] | None = None) -> None:
        """Send a page."""
        data = f"<!doctype html><title>Tiny</title>{body}" if body.startswith("<") else body
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of ordinary requests."""


def log(said: str) -> None:
    """Write a line of the application's log."""
    sys.stdout.write(f"log: {said}\n")
    sys.stdout.flush()


def count_visit() -> int:
    """Count in the data folder, which is new at every start."""
    counter = DATA / "visits"
    counter.write_text(str(int(counter.read_text() if counter.exists() else "0") + 1))
    return int(counter.read_text())


def kill_ours(word: str) -> None:
    """Kill the browser processes of our own sandbox that carry this word."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").split(b" ")
        except OSError:
            continue
        if word.encode() in words and is_ours(int(entry.name)):
            os.kill(int(entry.name), signal.SIGKILL)


def is_ours(pid: int) -> bool:
    """Return whether the process or one above it carries our tag; some wipe their own."""
    tag = f"OUTLAST_RUN_TAG={os.environ['OUTLAST_RUN_TAG']}".encode()
    while pid > 1:
        entry = Path(f"/proc/{pid}")
        try:
            if tag in (entry / "environ").read_bytes().split(b"\0"):
                return True
            pid = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return False


def leave_a_stray() -> None:
    """Start a grandchild in a session of its own, which its parent does not wait for."""
    sleeper = "import os, signal; os.setsid(); signal.pause()"
    nested = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {sleeper!r}])"
    subprocess.run([sys.executable, "-c", nested], check=True)


def main() -> None:
    """Serve until told otherwise."""
    if MODE == "dies":
        sys.exit("cannot find the frobnicator")
    if MODE == "strays":
        leave_a_stray()
    log("serving")
    ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Site).serve_forever()


if __name__ == "__main__":
    main()
