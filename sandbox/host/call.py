"""One request on its way through the host: who asks, and how its effect is applied once."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

from fastapi import Depends, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, ValidationError

from sandbox.host import journal, repositories
from sandbox.host.refusals import Refusal, not_found
from sandbox.host.repositories import Repository
from sandbox.host.store import Store


class Body(BaseModel):
    """A request's body; fields this host does not know are dropped, as GitHub drops them."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")
    resource: ClassVar[str] = ""
    errors_are_sentences: ClassVar[bool] = False  # GitHub words some routes' errors so


B = TypeVar("B", bound=Body)
DENIED = "Resource not accessible by this token"


@dataclass(frozen=True)
class Answer:
    """A status with its JSON, before it becomes a response."""

    status: int
    body: Any


@dataclass(frozen=True)
class Spending:
    """The journal entry and the key that belong to one effect."""

    ordinal: int
    login: str
    key: str | None
    fingerprint: str


Effect = Callable[[sqlite3.Connection], Answer]


@dataclass(frozen=True)
class Call:
    """What the outer layer learned about a request before any route saw it.

    `as_of` is the ordinal of the journal up to which lists may see; None sees everything.
    """

    store: Store
    folder: Path
    url: str
    ordinal: int
    login: str
    method: str
    path: str
    key: str | None
    raw: bytes
    as_of: int | None

    def read_body(self, shape: type[B]) -> B:
        """Return the body in its shape. Raises Refusal 422 with the fields at fault."""
        try:
            return shape.model_validate_json(self.raw or b"{}")
        except ValidationError as error:
            raise _invalid_body(shape, error) from error

    def fields_sent(self) -> dict[str, Any]:
        """Return the body's own fields, to tell null from absent."""
        sent = json.loads(self.raw or b"{}")
        return sent if isinstance(sent, dict) else {}

    def repository(self, db: sqlite3.Connection, owner: str, name: str) -> Repository:
        """Return the repository if this login may read it; 404 otherwise."""
        return repositories.visible(db, self.folder, owner, name, self.login)[0]

    def pushable(
        self, db: sqlite3.Connection, owner: str, name: str, refused: int = 403
    ) -> Repository:
        """Return the repository if this login may write to it; 404 or `refused` otherwise.

        GitHub's description knows no 403 on some routes; there the answer is 404.
        """
        found, permission = repositories.visible(db, self.folder, owner, name, self.login)
        if permission == "pull":
            raise not_found() if refused == 404 else Refusal(403, DENIED)
        return found

    def apply(self, effect: Effect) -> JSONResponse:
        """Apply the effect and its key, and note it, in one transaction; or none of them.

        A key seen before returns the first result and applies nothing, also when what it made
        is gone. The same key with another request is refused. A refusal spends no key.
        """
        with self.store.write() as db:
            answer = self.replay(db)
            if answer is None:
                answer = effect(db)
                self.settle(db, answer)
        return respond(answer)

    def replay(self, db: sqlite3.Connection) -> Answer | None:
        """Return what this key was answered first, or None. Raises Refusal for another body."""
        if self.key is None:
            return None
        row = db.execute(
            "SELECT * FROM idempotency_keys WHERE login = ? AND key = ?", (self.login, self.key)
        ).fetchone()
        if row is None:
            return None
        if row["fingerprint"] != self.spending().fingerprint:
            raise Refusal(422, "This Idempotency-Key was used for another request.")
        return Answer(row["status"], json.loads(row["answer"]))

    def settle(self, db: sqlite3.Connection, answer: Answer) -> None:
        """Note the effect and spend the key, in the transaction of the effect."""
        spend(db, self.spending(), answer)

    def spending(self) -> Spending:
        """Return what must be written beside the effect of this call."""
        return Spending(self.ordinal, self.login, self.key, self._fingerprint())

    def _fingerprint(self) -> str:
        try:
            content = json.dumps(json.loads(self.raw or b"{}"), sort_keys=True)
        except ValueError:
            content = self.raw.hex()
        asked = "\n".join((self.method, self.path, content))
        return hashlib.sha256(asked.encode()).hexdigest()


def spend(db: sqlite3.Connection, spending: Spending, answer: Answer) -> None:
    """Note the effect, and store its answer under its key if it has one."""
    journal.note(db, spending.ordinal, "applied")
    if spending.key is not None:
        db.execute(
            "INSERT INTO idempotency_keys VALUES (?, ?, ?, ?, ?)",
            (
                spending.login,
                spending.key,
                spending.fingerprint,
                answer.status,
                json.dumps(answer.body),
            ),
        )


def _invalid_body(shape: type[Body], error: ValidationError) -> Refusal:
    faults: list[Any] = []
    for one in error.errors():
        field = ".".join(map(str, one["loc"]))
        if shape.errors_are_sentences:
            faults.append(f"{field}: {one['msg']}")
        else:
            code = "missing_field" if one["type"] == "missing" else "invalid"
            faults.append({"resource": shape.resource, "field": field, "code": code})
    return Refusal(422, "Validation Failed", faults)


def respond(answer: Answer, headers: dict[str, str] | None = None) -> JSONResponse:
    """Turn an answer into a response."""
    return JSONResponse(answer.body, answer.status, headers)


def current_call(request: Request) -> Call:
    """Return the call that the outer layer put beside the request; 401 without a login."""
    call: Call | None = request.state.call
    if call is None:
        raise Refusal(401, "Bad credentials")
    return call


Current = Annotated[Call, Depends(current_call)]
