"""As much of GraphQL's grammar as one mutation needs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TOKEN = re.compile(
    r'(?P<skip>[\s,]+|#[^\n]*)|(?P<string>"(?:\\.|[^"\\])*")|(?P<name>[A-Za-z_]\w*)'
    r"|(?P<number>-?\d+(?:\.\d+)?)|(?P<mark>\.\.\.|[{}()\[\]:$!=@])"
)


class Unparsable(ValueError):
    """The document is not one mutation in the supported grammar."""


@dataclass(frozen=True)
class Field:
    """A selected field: its name, the key of its value, its arguments and its own selection."""

    name: str
    key: str
    arguments: dict[str, Any]
    fields: tuple[Field, ...]


def parse_mutation(document: str, variables: Mapping[str, Any]) -> Field:
    """Return the only top field of a mutation. Raises Unparsable."""
    reader = _Reader(_tokens(document), variables)
    reader.expect("mutation")
    while reader.peek() != "{":  # the operation's name and the types of its variables
        reader.take()
    fields = reader.selection()
    if reader.peek() != "" or len(fields) != 1:
        raise Unparsable("send one mutation with one top field")
    return fields[0]


def select(fields: tuple[Field, ...], value: Any) -> Any:
    """Return what the selection asks for. Raises Unparsable for an unknown field."""
    if not fields or value is None:
        return value
    for field in fields:
        if field.name not in value:
            raise Unparsable(f"Field '{field.name}' doesn't exist")
    return {field.key: select(field.fields, value[field.name]) for field in fields}


def _tokens(document: str) -> list[str]:
    tokens, position = [], 0
    while position < len(document):
        found = TOKEN.match(document, position)
        if found is None:
            raise Unparsable(f"unexpected {document[position]!r}")
        position = found.end()
        if found.lastgroup != "skip":
            tokens.append(found.group())
    return tokens


class _Reader:
    def __init__(self, tokens: list[str], variables: Mapping[str, Any]) -> None:
        self._tokens, self._variables, self._next = tokens, variables, 0

    def peek(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def take(self) -> str:
        token = self.peek()
        if not token:
            raise Unparsable("unexpected end")
        self._next += 1
        return token

    def expect(self, token: str) -> None:
        found = self.take()
        if found != token:
            raise Unparsable(f"expected {token!r}, found {found!r}")

    def selection(self) -> tuple[Field, ...]:
        self.expect("{")
        fields = []
        while self.peek() != "}":
            fields.append(self.field())
        self.expect("}")
        return tuple(fields)

    def field(self) -> Field:
        name = key = self.take()
        if self.peek() == ":":
            self.take()
            name = self.take()
        arguments = self.pairs("(", ")") if self.peek() == "(" else {}
        fields = self.selection() if self.peek() == "{" else ()
        return Field(name, key, arguments, fields)

    def pairs(self, opening: str, closing: str) -> dict[str, Any]:
        self.expect(opening)
        found: dict[str, Any] = {}
        while self.peek() != closing:
            name = self.take()
            self.expect(":")
            found[name] = self.value()
        self.expect(closing)
        return found

    def value(self) -> Any:
        token = self.peek()
        if token == "{":
            return self.pairs("{", "}")
        self.take()
        if token == "$":
            return self._variables.get(self.take())
        if token.startswith('"') or token in ("true", "false", "null"):
            return json.loads(token)
        return token
