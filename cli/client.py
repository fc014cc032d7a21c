"""Talks to the REST API for the commands that people use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Self

import httpx

from cli.settings import NotConfigured, Settings
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import OutlastError

ACCESS = "access.json"


class ApiRefused(OutlastError):
    """The API answered with a problem; its type and detail are in the text."""

    def __init__(self, status: int, problem: JsonObject) -> None:
        kind = str(problem.get("type", "")).rpartition(":")[2] or f"status {status}"
        super().__init__(f"{kind}: {problem.get('detail', '')}")
        self.status, self.problem = status, problem


class ApiUnreachable(OutlastError):
    """Nothing that is our API answered at the address."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(f"{url}: {why}; run `outlast up`, or correct OUTLAST_API_URL")
        self.url = url


class Client:
    """One caller of the API. Without a token of its own it uses what `up` left in the home."""

    def __init__(self, url: str, token: str) -> None:
        if not token.isascii() or not token.isprintable():
            raise NotConfigured("OUTLAST_TOKEN is no token; copy the one that you were given")
        self._url = url
        self._http = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=30.0,
            trust_env=False,
        )

    @classmethod
    def of(cls, settings: Settings, role: str) -> Client:
        """Return a client for a role. Raises NotConfigured.

        What `up` left are tokens of its own API; no other address is ever sent one of them.
        """
        access = read_access(settings.home)
        url = settings.api_url or access.get("api")
        own = access.get("tokens", {}) if url == access.get("api") else {}
        token = settings.token or own.get(role)
        if not url or not token:
            raise NotConfigured("set OUTLAST_API_URL and OUTLAST_TOKEN, or run `outlast up` first")
        return cls(url, token)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def get(self, path: str, **params: Any) -> JsonObject:
        """Read. Raises ApiRefused, ApiUnreachable."""
        return self._answer(self._ask("GET", path, params=params))

    def post(self, path: str, body: JsonObject, key: str | None = None) -> JsonObject:
        """Say. Raises ApiRefused, ApiUnreachable."""
        headers = {"Idempotency-Key": key} if key else {}
        return self._answer(self._ask("POST", path, json=body, headers=headers))

    def download(self, path: str) -> bytes:
        """Return a stored file. Raises ApiRefused, ApiUnreachable."""
        response = self._ask("GET", path)
        if not response.is_success:
            self._answer(response)
        return response.content

    def _ask(self, method: str, path: str, **what: Any) -> httpx.Response:
        """Send. A fault is told by its class alone: its text may carry the token."""
        try:
            return self._http.request(method, path, **what)
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            raise ApiUnreachable(self._url, type(fault).__name__) from fault

    def _answer(self, response: httpx.Response) -> JsonObject:
        try:
            body = response.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise ApiUnreachable(self._url, f"status {response.status_code}, not from this API")
        if not response.is_success:
            raise ApiRefused(response.status_code, body)
        return body


def read_access(home: Path) -> JsonObject:
    """Return what a running `up` wrote down: addresses and tokens, or nothing."""
    try:
        return dict(json.loads((home / ACCESS).read_text()))
    except FileNotFoundError:
        return {}
    except ValueError as fault:
        advice = "delete it and run `outlast up` again"
        raise NotConfigured(f"{home / ACCESS} is unreadable; {advice}") from fault
