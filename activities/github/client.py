"""Speak GitHub's REST dialect. What an answer proves is decided here, once, for every mutation."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx

from activities.mutation import NotSent, Refused, Unsettled
from activities.secrets import SecretSource
from orchestrator import seam
from orchestrator.clock import monotonic
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import ActivityFailed, FailureKind

TIMEOUT = httpx.Timeout(10.0, connect=3.0)
PAGES_MAX = 50
ANNOUNCEMENT_LIVES_S = 60.0
GRAPHQL = "/graphql"


@dataclass(frozen=True)
class Parsed:
    """A readable answer: the receiver has spoken, for or against."""

    status: int
    body: Any
    message: str = ""

    @property
    def is_ok(self) -> bool:
        """Whether the receiver did what was asked."""
        return 200 <= self.status < 300


Answer = Parsed | NotSent | Unsettled


class HostUnreadable(Exception):
    """A read failed; it says nothing about what stands at the host (P9)."""


@dataclass
class Host:
    """A host that speaks the dialect, and the name of the secret that authorises us."""

    url: str
    secrets: SecretSource
    token_name: str = "HOST_TOKEN"
    _announced: tuple[float, bool] | None = field(default=None, repr=False)
    _login: str | None = field(default=None, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def send(
        self, method: str, path: str, body: JsonObject, *, name: str, key: str | None = None
    ) -> Answer:
        """Send one mutation, once, and say what its answer proves (R8)."""
        headers = {"Idempotency-Key": key} if key is not None else {}
        try:
            with seam.crossing("call", name):
                response = self._request(method, path, json=body, headers=headers)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as fault:
            return NotSent(FailureKind.TRANSIENT, f"{name}: no connection ({type(fault).__name__})")
        except httpx.HTTPError as fault:
            return Unsettled(f"{name}: the answer was lost ({type(fault).__name__})")
        return classify(response, name)

    def read(self, path: str, **params: str) -> Any:
        """Read one thing. Raises HostUnreadable; returns None for 404 alone."""
        try:
            with seam.crossing("call", "read"):
                response = self._request("GET", path, params=params)
        except httpx.HTTPError as fault:
            raise HostUnreadable(f"{path}: {type(fault).__name__}") from fault
        if response.status_code == 404:
            return None
        return _json(response, path)

    def read_all(self, path: str, **params: str) -> list[JsonObject]:
        """Read every page of a list. Raises HostUnreadable rather than return a part of it."""
        return list(self._pages(path, {**params, "per_page": "100"}))

    def has_keys(self) -> bool:
        """Return whether the host announces idempotency keys; asked again once a minute.

        Raises ActivityFailed, transient, when it cannot be asked: a guarantee is never assumed.
        """
        with self._lock:
            if self._announced and monotonic() - self._announced[0] < ANNOUNCEMENT_LIVES_S:
                return self._announced[1]
        try:
            said = self.read("/outlast/extensions")
        except HostUnreadable as fault:
            raise ActivityFailed(FailureKind.TRANSIENT, f"host out of reach: {fault}") from fault
        keys = isinstance(said, dict) and said.get("idempotency_keys") is True
        with self._lock:
            self._announced = (monotonic(), keys)
        return keys

    def login(self) -> str:
        """Return whose token we use, as the host says. Raises HostUnreadable."""
        if self._login is None:
            user = self.read("/user")
            if not isinstance(user, dict):
                raise HostUnreadable("/user: the token belongs to nobody")
            self._login = str(user["login"])
        return self._login

    def _pages(self, path: str, params: dict[str, str]) -> Iterator[JsonObject]:
        for page in range(1, PAGES_MAX + 1):
            found = self.read(path, **params, page=str(page))
            if not isinstance(found, list):
                raise HostUnreadable(f"{path}: page {page} is no list")
            yield from found
            if len(found) < int(params["per_page"]):
                return
        raise HostUnreadable(f"{path}: more than {PAGES_MAX} pages")

    def _request(
        self,
        method: str,
        path: str,
        *,
        json: JsonObject | None = None,
        params: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        authorised = {
            "Authorization": f"Bearer {self.secrets.get(self.token_name)}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        with httpx.Client(base_url=self.url, timeout=TIMEOUT, trust_env=False) as client:
            return client.request(
                method, path, json=json, params=params, headers={**authorised, **(headers or {})}
            )


def classify(response: httpx.Response, name: str) -> Answer:
    """Say what an answer proves: parsed, provably not done, or nothing at all (R8)."""
    status = response.status_code
    if status >= 500:
        return Unsettled(f"{name}: status {status} after it was sent")
    wait = _asked_wait(response)
    if status == 429 or (status == 403 and wait is not None):
        return NotSent(FailureKind.TRANSIENT, f"{name}: rate limited", wait)
    if status == 204:
        return Parsed(status, None)
    try:
        body = response.json()
    except ValueError:
        return Unsettled(f"{name}: status {status} with a body that is no JSON")
    message = str(body.get("message", "")) if isinstance(body, dict) else ""
    return Parsed(status, body, message)


def refusal(answer: Parsed, name: str) -> Refused:
    """Return a parsed 4xx as the refusal it is; sending it again would not change it."""
    details = ""
    if isinstance(answer.body, dict) and answer.body.get("errors"):
        details = f" {answer.body['errors']}"
    reason = f"{name}: status {answer.status}: {answer.message}{details}"[:800]
    return Refused(FailureKind.PERMANENT, reason, {"status": answer.status})


def _asked_wait(response: httpx.Response) -> float | None:
    """Return the seconds that the receiver asks us to wait, or None when it asks for none."""
    after = response.headers.get("retry-after", "")
    if after.isdigit():
        return float(after)
    if response.headers.get("x-ratelimit-remaining") == "0":
        return 60.0
    return None


def _json(response: httpx.Response, path: str) -> Any:
    if not response.is_success:
        raise HostUnreadable(f"{path}: status {response.status_code}")
    try:
        return response.json()
    except ValueError as fault:
        raise HostUnreadable(f"{path}: the body is no JSON") from fault
