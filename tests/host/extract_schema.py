"""Make `github_openapi.json`: what GitHub's published description says about this host's routes.

Run it on the description's file: `python tests/host/extract_schema.py api.github.com.json`. Words
for people (descriptions, examples, titles) are left out; what judges an answer stays.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).with_name("github_openapi.json")
REPOSITORY = "/repos/{owner}/{repo}"
ROUTES = {
    "/user": ("get",),
    REPOSITORY: ("get",),
    f"{REPOSITORY}/issues": ("get", "post"),
    f"{REPOSITORY}/issues/{{issue_number}}": ("get", "patch"),
    f"{REPOSITORY}/issues/{{issue_number}}/comments": ("get", "post"),
    f"{REPOSITORY}/issues/comments/{{comment_id}}": ("get", "patch"),
    f"{REPOSITORY}/git/ref/{{ref}}": ("get",),
    f"{REPOSITORY}/git/matching-refs/{{ref}}": ("get",),
    f"{REPOSITORY}/git/refs": ("post",),
    f"{REPOSITORY}/git/refs/{{ref}}": ("patch", "delete"),
    f"{REPOSITORY}/branches/{{branch}}": ("get",),
    f"{REPOSITORY}/branches/{{branch}}/protection": ("get",),
    f"{REPOSITORY}/commits/{{ref}}": ("get",),
    f"{REPOSITORY}/pulls": ("get", "post"),
    f"{REPOSITORY}/pulls/{{pull_number}}": ("get", "patch"),
    f"{REPOSITORY}/pulls/{{pull_number}}/requested_reviewers": ("get", "post"),
    f"{REPOSITORY}/pulls/{{pull_number}}/reviews": ("get", "post"),
    f"{REPOSITORY}/pulls/{{pull_number}}/merge": ("get", "put"),
}
WORDS = {"description", "example", "examples", "title", "summary", "externalDocs", "deprecated"}
NAMES = {"properties", "schemas", "responses"}  # below these, keys are names and never words


def main() -> None:
    """Read the description named on the command line and write the extract."""
    whole = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    TARGET.write_text(json.dumps(extract(whole), separators=(",", ":")) + "\n", encoding="utf-8")


def extract(whole: dict[str, Any]) -> dict[str, Any]:
    """Return version, routes with their answers, and every component they reach."""
    paths = {
        path: {method: {"responses": _answers(whole, path, method)} for method in methods}
        for path, methods in ROUTES.items()
    }
    schemas = _reached(whole["components"]["schemas"], [paths, _ref("basic-error")])
    return {
        "version": whole["info"]["version"],
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _answers(whole: dict[str, Any], path: str, method: str) -> dict[str, Any]:
    answers = {}
    for status, answer in whole["paths"][path][method]["responses"].items():
        if "$ref" in answer:
            answer = whole["components"]["responses"][answer["$ref"].rsplit("/", 1)[1]]
        content = answer.get("content", {}).get("application/json")
        answers[status] = {"schema": _strip(content["schema"], False)} if content else {}
    return answers


def _reached(schemas: dict[str, Any], start: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    waiting = list(start)
    while waiting:
        for name in _names(waiting.pop()):
            if name not in found:
                found[name] = _strip(schemas[name], False)
                waiting.append(found[name])
    return dict(sorted(found.items()))


def _names(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"].rsplit("/", 1)[1]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*map(_names, value.values()))
    return set().union(*map(_names, value)) if isinstance(value, list) else set()


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _strip(value: Any, keys_are_names: bool) -> Any:
    """Drop words for people, and turn `nullable` into the draft's own way of saying it."""
    if isinstance(value, list):
        return [_strip(one, False) for one in value]
    if not isinstance(value, dict):
        return value
    kept = {
        key: _strip(inner, key in NAMES and not keys_are_names)
        for key, inner in value.items()
        if keys_are_names or not (key in WORDS or key.startswith("x-"))
    }
    if keys_are_names or not kept.pop("nullable", False):
        return kept
    return {"anyOf": [kept, {"type": "null"}]}


if __name__ == "__main__":
    main()
