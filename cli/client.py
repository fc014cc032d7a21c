"""Talks to the REST API for the commands that people use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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


class Client:
    """One caller of the API. Without a token of its own it uses what `up` left in the home."""

    def __init__(self, url: str, token: str) -> None:
        self._http = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=30.0,
            trust_env=False,
        )

    @classmethod
    def of(cls, settings: Settings, role: str) -> Client:
        """Return a client for a role. Raises NotConfigured."""
        access = read_access(settings.home)
        url = settings.api_url or access.get("api")
        token = settings.token or access.get("tokens", {}).get(role)
        if not url or not token:
            raise NotConfigured("set OUTLAST_API_URL and OUTLAST_TOKEN, or run `outlast up` first")
        return cls(url, token)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def get(self, path: str, **params: Any) -> JsonObject:
        """Read. Raises ApiRefused."""
        return self._answer(self._http.get(path, params=params))

    def post(self, path: str, body: JsonObject, key: str | None = None) -> JsonObject:
        """Say. Raises ApiRefused."""
        headers = {"Idempotency-Key": key} if key else {}
        return self._answer(self._http.post(path, json=body, headers=headers))

    def download(self, path: str) -> bytes:
        """Return a stored file. Raises ApiRefused."""
        response = self._http.get(path)
        if not response.is_success:
            self._answer(response)
        return response.content

    def _answer(self, response: httpx.Response) -> JsonObject:
        try:
            body = response.json()
        except ValueError:
            body = {"detail": response.text[:200]}
        if not response.is_success:
            raise ApiRefused(response.status_code, body)
        return dict(body)


def read_access(home: Path) -> JsonObject:
    """Return what a running `up` wrote down: addresses and tokens, or nothing."""
    try:
        return dict(json.loads((home / ACCESS).read_text()))
    except FileNotFoundError:
        return {}
