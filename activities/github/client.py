"""Speak GitHub's REST dialect. What an answer proves is decided here, once, for every mutation."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from activities.mutation import Applied, NotSent, Refused, Unreadable, Unsettled
from activities.secrets import SecretSource
from orchestrator import seam
from orchestrator.clock import monotonic
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import ActivityFailed, FailureKind

TIMEOUT = httpx.Timeout(10.0, connect=3.0)
PAGES_MAX = 50
ANNOUNCEMENT_LIVES_S = 60.0
LIMITED_S = 60.0
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
    """A read failed; it says nothing about what stands at the host (P9).

    `kind` says whether reading again may help.
    """

    def __init__(
        self,
        reason: str,
        kind: FailureKind = FailureKind.TRANSIENT,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(reason)
        self.kind, self.retry_after_s = kind, retry_after_s

    def before_sending(self) -> NotSent:
        """Return what this means to a mutation that had to look first."""
        return NotSent(self.kind, str(self), self.retry_after_s)

    def as_observed(self) -> Unreadable:
        """Return what this means to who only looked."""
        return Unreadable(str(self), self.kind)


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
            authorised = self._authorised(headers)
            with seam.crossing("call", name):
                response = self._request(method, path, authorised, json=body)
        except ActivityFailed as failed:
            return NotSent(failed.kind, failed.reason)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as fault:
            return NotSent(FailureKind.TRANSIENT, f"{name}: no connection ({type(fault).__name__})")
        except httpx.HTTPError as fault:
            return Unsettled(f"{name}: the answer was lost ({type(fault).__name__})")
        return classify(response, name)

    def read(self, path: str) -> JsonObject | None:
        """Read one thing. Returns None for 404 alone. Raises HostUnreadable."""
        response = self._get(path, {})
        found = None if response is None else _json(response, path)
        if found is not None and not isinstance(found, dict):
            raise HostUnreadable(f"{path}: the answer is no object")
        return found

    def read_all(self, path: str, **params: str) -> list[JsonObject]:
        """Read every page of a list. Raises HostUnreadable rather than return a part of it."""
        return list(self._pages(path, {**params, "per_page": "100"}))

    def has_keys(self) -> bool:
        """Return whether the host announces idempotency keys; asked again once a minute.

        Raises ActivityFailed when it cannot be asked: a guarantee is never assumed.
        """
        with self._lock:
            if self._announced and monotonic() - self._announced[0] < ANNOUNCEMENT_LIVES_S:
                return self._announced[1]
        try:
            said = self.read("/outlast/extensions")
        except HostUnreadable as fault:
            reason = f"the host did not say what it guarantees: {fault}"
            raise ActivityFailed(fault.kind, reason, retry_after_s=fault.retry_after_s) from fault
        keys = said is not None and said.get("idempotency_keys") is True
        with self._lock:
            self._announced = (monotonic(), keys)
        return keys

    def login(self) -> str:
        """Return whose token we use, as the host says. Raises HostUnreadable."""
        if self._login is None:
            login = (self.read("/user") or {}).get("login")
            if not isinstance(login, str):
                raise HostUnreadable("/user: the token belongs to nobody")
            self._login = login
        return self._login

    def _pages(self, path: str, params: dict[str, str]) -> Iterator[JsonObject]:
        for page in range(1, PAGES_MAX + 1):
            response = self._get(path, {**params, "page": str(page)})
            found = None if response is None else _json(response, path)
            if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
                raise HostUnreadable(f"{path}: page {page} is no list of objects")
            yield from found
            leads_on = response is not None and "next" in response.links
            if not leads_on and len(found) < int(params["per_page"]):
                return
        raise HostUnreadable(f"{path}: more than {PAGES_MAX} pages")

    def _get(self, path: str, params: dict[str, str]) -> httpx.Response | None:
        try:
            authorised = self._authorised({})
            with seam.crossing("call", "read"):
                response = self._request("GET", path, authorised, params=params)
        except ActivityFailed as failed:
            raise HostUnreadable(failed.reason, failed.kind) from failed
        except httpx.HTTPError as fault:
            raise HostUnreadable(f"{path}: {type(fault).__name__}") from fault
        return None if response.status_code == 404 else response

    def _authorised(self, headers: dict[str, str]) -> dict[str, str]:
        """Return the headers of one request. Raises ActivityFailed for a secret that is no token.

        It is looked at here because the HTTP library quotes a header that it cannot send.
        """
        token = self.secrets.get(self.token_name)
        if not token.isascii() or not token.isprintable() or " " in token:
            reason = f"secret {self.token_name} has characters that no token has; set it anew"
            raise ActivityFailed(FailureKind.PERMANENT, reason)
        return {
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            **headers,
        }

    def _request(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        *,
        json: JsonObject | None = None,
        params: dict[str, str] | None = None,
    ) -> httpx.Response:
        with httpx.Client(base_url=self.url, timeout=TIMEOUT, trust_env=False) as client:
            return client.request(method, path, json=json, params=params, headers=headers)


def classify(response: httpx.Response, name: str) -> Answer:
    """Say what an answer proves: parsed, provably not done, or nothing at all (R8)."""
    status = response.status_code
    if status >= 500:
        return Unsettled(f"{name}: status {status} after it was sent")
    if status == 204:
        return Parsed(status, None)
    try:
        body = response.json()
    except ValueError:
        body = None
    message = str(body.get("message", "")) if isinstance(body, dict) else ""
    if status == 429 or (status == 403 and _is_limit(response, message)):
        return NotSent(FailureKind.TRANSIENT, f"{name}: rate limited", _asked_wait(response))
    if not isinstance(body, dict):
        return Unsettled(f"{name}: status {status} with a body that is no JSON object")
    return Parsed(status, body, message)


def refusal(answer: Parsed, name: str) -> Refused:
    """Return a parsed 4xx as the refusal it is; sending it again would not change it."""
    details = ""
    if isinstance(answer.body, dict) and answer.body.get("errors"):
        details = f" {answer.body['errors']}"
    reason = f"{name}: status {answer.status}: {answer.message}{details}"[:800]
    return Refused(FailureKind.PERMANENT, reason, {"status": answer.status})


def created(answer: Parsed, name: str) -> Applied | Unsettled:
    """Return what an answer says was created. One that names no number has proved nothing."""
    number = answer.body.get("number") if isinstance(answer.body, dict) else None
    if answer.status != 201 or not isinstance(number, int):
        return Unsettled(f"{name}: status {answer.status} that names no number")
    return Applied(str(number), {"number": number})


def _is_limit(response: httpx.Response, message: str) -> bool:
    """Tell a rate limit from a lack of permission: GitHub answers 403 to both."""
    spent = response.headers.get("x-ratelimit-remaining") == "0"
    return spent or "retry-after" in response.headers or "rate limit" in message.lower()


def _asked_wait(response: httpx.Response) -> float:
    """Return the seconds to stay away: as asked, else until the limit's end, else a minute.

    The end is compared with the receiver's own clock, which its answer carries.
    """
    after = response.headers.get("retry-after", "")
    if after.isascii() and after.isdigit():
        return float(after)
    end, at = response.headers.get("x-ratelimit-reset", ""), response.headers.get("date", "")
    spent = response.headers.get("x-ratelimit-remaining") == "0"
    if not (spent and end.isascii() and end.isdigit() and at):
        return LIMITED_S
    try:
        return max(1.0, float(end) - parsedate_to_datetime(at).timestamp())
    except ValueError:
        return LIMITED_S


def _json(response: httpx.Response, path: str) -> Any:
    if response.is_success:
        try:
            return response.json()
        except ValueError as fault:
            raise HostUnreadable(f"{path}: the body is no JSON") from fault
    reason = f"{path}: status {response.status_code}"
    match classify(response, path):
        case NotSent(kind, _, retry_after_s):
            raise HostUnreadable(reason, kind, retry_after_s)
        case Parsed(status=401 | 403):
            raise HostUnreadable(reason, FailureKind.PERMANENT)
        case _:
            raise HostUnreadable(reason)
