"""GitHub's own description as judge of every answer that the sandbox host gives."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import httpx
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

EXTRACT = Path(__file__).with_name("github_openapi.json")
ADDRESS = "urn:github"
# GitHub answers so on every route and describes it on a few only: a bad token, and what is hidden.
EVERYWHERE = (401, 404)
BASIC_ERROR = {"schema": {"$ref": "#/components/schemas/basic-error"}}


class NotLikeGitHub(AssertionError):
    """An answer that GitHub's description does not know; what is wrong is in the text."""


@cache
def description() -> dict[str, Any]:
    """Return the extract of the description."""
    loaded: dict[str, Any] = json.loads(EXTRACT.read_text(encoding="utf-8"))
    return loaded


def judge(response: httpx.Response) -> None:
    """Raise NotLikeGitHub unless route, status and body are as GitHub describes them."""
    response.read()
    request = response.request
    template = route_of(request.url.path)
    operation = description()["paths"].get(template, {}).get(request.method.lower())
    if operation is None:
        raise NotLikeGitHub(f"GitHub has no {request.method} {request.url.path}")
    answer = operation["responses"].get(str(response.status_code))
    undescribed = answer is None and response.status_code in EVERYWHERE
    if undescribed or (answer == {} and response.status_code >= 400):
        answer = BASIC_ERROR
    if answer is None:
        raise NotLikeGitHub(
            f"GitHub never answers {response.status_code} to {request.method} {template}:"
            f" {response.text[:300]}"
        )
    _judge_body(response, answer)


def route_of(path: str) -> str | None:
    """Return the described route with the longest fixed text that the path belongs to."""
    fitting = [route for route in description()["paths"] if _pattern(route).fullmatch(path)]
    return max(fitting, key=lambda route: len(re.sub(r"\{.*?\}", "", route)), default=None)


@cache
def _pattern(route: str) -> re.Pattern[str]:
    parts = re.split(r"(\{.*?\})", route)
    open_ended = {"{ref}": ".+", "{branch}": ".+"}
    return re.compile(
        "".join(
            open_ended.get(part, "[^/]+") if part[:1] == "{" else re.escape(part) for part in parts
        )
    )


def _judge_body(response: httpx.Response, answer: dict[str, Any]) -> None:
    if "schema" not in answer:
        if response.content:
            raise NotLikeGitHub(f"a body where GitHub sends none: {response.text[:300]}")
        return
    errors = sorted(_validator(json.dumps(answer["schema"])).iter_errors(response.json()), key=str)
    if errors:
        found = "; ".join(f"{error.json_path}: {error.message[:200]}" for error in errors[:5])
        raise NotLikeGitHub(f"{response.request.method} {response.request.url.path}: {found}")


@cache
def _validator(schema: str) -> Draft202012Validator:
    whole = DRAFT202012.create_resource(description())
    registry: Registry[Any] = Registry().with_resource(ADDRESS, whole)
    return Draft202012Validator(_absolute(json.loads(schema)), registry=registry)


def _absolute(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: ADDRESS + inner if key == "$ref" and isinstance(inner, str) else _absolute(inner)
            for key, inner in value.items()
        }
    return [_absolute(one) for one in value] if isinstance(value, list) else value
