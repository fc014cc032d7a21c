"""git over HTTP: a bridge to `git http-backend`, with this host's tokens and permissions."""

from __future__ import annotations

import gzip
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from sandbox.host import journal, pull_rows
from sandbox.host.bare import environment
from sandbox.host.call import Call, Current
from sandbox.host.refusals import Refusal, not_found
from sandbox.host.repositories import Repository

router = APIRouter()

READ, WRITE = "git-upload-pack", "git-receive-pack"
FLUSH = b""
# libcurl silently sends a request again if a connection that served before closes without a byte.
# With one request to a connection, a lost answer reaches git as a lost answer.
ONE_REQUEST = {"Connection": "close"}


@dataclass(frozen=True)
class Command:
    """What a push asks for one ref."""

    ref: str
    old: str
    new: str


@router.api_route("/{owner}/{repo}.git/{rest:path}", methods=["GET", "POST"])
def serve_git(owner: str, repo: str, rest: str, request: Request, call: Current) -> Response:
    """Serve fetches and pushes; pushes of the default branch are declined by the hook."""
    service = _service(request, rest)
    with call.store.read() as db:
        if service == WRITE:
            repository = call.pushable(db, owner, repo)
        else:
            repository = call.repository(db, owner, repo)
    if request.method == "POST" and service == WRITE:
        return _receive_push(call, request, repository, rest)
    return _run_backend(call, request, repository, rest)


def _service(request: Request, rest: str) -> str:
    asked = request.query_params.get("service", "") if rest == "info/refs" else rest
    allowed = request.method == ("GET" if rest == "info/refs" else "POST")
    if asked not in (READ, WRITE) or not allowed:
        raise not_found()
    return asked


def _receive_push(call: Call, request: Request, repository: Repository, rest: str) -> Response:
    """Let git change the refs, then note what it did and bring pull requests in line."""
    commands = _commands(_plain(call.raw, request))
    with call.store.exclusive():
        response = _run_backend(call, request, repository, rest)
        results = _results(bytes(response.body))
        with call.store.write() as db:
            for one in commands:
                result = results.get(one.ref, "unknown")
                asked = {"ref": one.ref, "old": one.old, "new": one.new, "result": result}
                journal.note(db, call.ordinal, "ref", asked)
            if "ok" in results.values():
                journal.note(db, call.ordinal, "applied")
            pull_rows.follow_branches(db, repository)
    return response


def _run_backend(call: Call, request: Request, repository: Repository, rest: str) -> Response:
    headers = request.headers
    variables = {
        "GIT_PROJECT_ROOT": str(repository.bare.path.parent.parent),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_PROTOCOL": headers.get("git-protocol", ""),
        "PATH_INFO": f"/{repository.full_name}.git/{rest}",
        "REQUEST_METHOD": request.method,
        "QUERY_STRING": request.url.query,
        "CONTENT_TYPE": headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(call.raw)),
        "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
        "REMOTE_USER": call.login,
        "REMOTE_ADDR": "127.0.0.1",
        "SERVER_PROTOCOL": "HTTP/1.1",
    }
    done = subprocess.run(
        ("git", "http-backend"),
        input=call.raw,
        env=environment(variables),
        capture_output=True,
        check=False,
    )
    if not done.stdout:
        raise Refusal(500, f"git http-backend: {done.stderr.decode(errors='replace').strip()}")
    return _response(done.stdout)


def _response(output: bytes) -> Response:
    head, _, body = output.partition(b"\r\n\r\n")
    pairs = [line.split(":", 1) for line in head.decode("latin-1").split("\r\n")]
    headers = {name.strip(): value.strip() for name, value in pairs}
    status = int(headers.pop("Status", "200").split()[0])
    return Response(body, status, {**headers, **ONE_REQUEST})


def _plain(raw: bytes, request: Request) -> bytes:
    return gzip.decompress(raw) if request.headers.get("content-encoding") == "gzip" else raw


def _packets(data: bytes) -> Iterator[bytes]:
    """Yield pkt-lines; FLUSH for a flush packet. Stops at what is none (the pack)."""
    position = 0
    while position + 4 <= len(data):
        try:
            length = int(data[position : position + 4], 16)
        except ValueError:
            return
        yield data[position + 4 : position + length] if length > 4 else FLUSH
        position += max(length, 4)


def _commands(body: bytes) -> list[Command]:
    found = []
    for packet in _packets(body):
        if packet == FLUSH:
            break
        words = packet.split(b"\0")[0].decode(errors="replace").split()
        if len(words) == 3:
            found.append(Command(ref=words[2], old=words[0], new=words[1]))
    return found


def _results(body: bytes) -> dict[str, str]:
    """Return what git reported for each ref, `ok` or its reason, out of the first side band."""
    banded = b"".join(packet[1:] for packet in _packets(body) if packet[:1] == b"\1")
    results = {}
    for packet in _packets(banded or body):
        words = packet.decode(errors="replace").strip().split(" ", 2)
        if words[0] == "ok" and len(words) == 2:
            results[words[1]] = "ok"
        elif words[0] == "ng" and len(words) == 3:
            results[words[1]] = words[2]
    return results
