"""The tables as SQLAlchemy Core knows them. `alembic/` makes them; a test holds the two equal."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Integer,
    MetaData,
    Table,
    Text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

metadata = MetaData()


def _text(name: str, *, null: bool = False, key: bool = False) -> Column[str]:
    return Column(name, Text, nullable=null and not key, primary_key=key)


def _integer(name: str, *, null: bool = False, key: bool = False) -> Column[int]:
    return Column(name, Integer, nullable=null and not key, primary_key=key, autoincrement=False)


def _json(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, JSONB(none_as_null=True), nullable=null)


def _instant(name: str, *, null: bool = False) -> Column[datetime]:
    return Column(name, DateTime(timezone=True), nullable=null)


def _run() -> Column[str]:
    return Column("workflow_id", Text, ForeignKey("workflow.id"), primary_key=True)


installation = Table(
    "installation", metadata, Column("only_row", Boolean, primary_key=True), _text("id")
)

workflow = Table(
    "workflow",
    metadata,
    _text("id", key=True),
    _text("definition"),
    _integer("definition_version"),
    _text("status"),
    _text("phase"),
    _text("outcome", null=True),
    _text("reason", null=True),
    _text("cleanup"),
    _text("cancel_stage"),
    _text("cancel_by", null=True),
    _text("cancel_because", null=True),
    _text("paused_by", null=True),
    _instant("deadline", null=True),
    _json("state"),
    _integer("state_version"),
    Column("position", BigInteger, nullable=False),
    _integer("generation"),
    _text("submitter"),
    _instant("created_at"),
    _instant("updated_at"),
    _instant("ended_at", null=True),
)

event = Table(
    "event",
    metadata,
    _run(),
    Column("position", BigInteger, primary_key=True, autoincrement=False),
    _text("kind"),
    _json("payload"),
    _text("cause"),
    _text("code_version"),
    _instant("recorded_at"),
)

submission = Table(
    "submission",
    metadata,
    _text("principal", key=True),
    _text("idempotency_key", key=True),
    _text("fingerprint"),
    Column("workflow_id", Text, ForeignKey("workflow.id"), nullable=False),
)

step = Table(
    "step",
    metadata,
    _run(),
    _integer("number", key=True),
    _text("name"),
    _integer("ordinal"),
    _text("activity"),
    _text("queue"),
    _text("operation_id", null=True),
    _json("input"),
    _text("input_fingerprint"),
    _json("limits"),
    _json("spent"),
    _text("status"),
    _integer("generation"),
    _integer("run_generation"),
    _integer("attempts"),
    _json("result", null=True),
    _json("failure", null=True),
    _json("substate", null=True),
    _instant("created_at"),
    _instant("ended_at", null=True),
)

attempt = Table(
    "attempt",
    metadata,
    _text("workflow_id", key=True),
    _integer("step", key=True),
    _integer("number", key=True),
    _integer("generation"),
    _integer("run_generation"),
    _text("worker"),
    _text("code_version"),
    _text("outcome"),
    _json("failure", null=True),
    _json("late", null=True),
    _instant("started_at"),
    _instant("ended_at", null=True),
)

claim = Table(
    "claim",
    metadata,
    _text("workflow_id", key=True),
    _integer("step", key=True),
    _text("queue"),
    _text("activity"),
    _instant("due_at"),
    _text("owner", null=True),
    _integer("generation"),
    _instant("expires_at", null=True),
    _instant("gives_up_at"),
    _instant("total_until"),
    _instant("attempt_until", null=True),
    _instant("progress_until", null=True),
)

timer = Table("timer", metadata, _run(), _text("name", key=True), _instant("fires_at"))

worker = Table(
    "worker",
    metadata,
    _text("id", key=True),
    Column("queues", ARRAY(Text), nullable=False),
    _text("code_version"),
    _instant("started_at"),
    _instant("seen_at"),
    Column("holds_session", Boolean, nullable=False),
    _instant("server_started_at", null=True),
)

breaker = Table(
    "breaker",
    metadata,
    _text("receiver", key=True),
    _integer("failures"),
    _instant("open_until"),
    _text("reason"),
)

operation = Table(
    "operation",
    metadata,
    _text("id", key=True),
    _text("workflow_id"),
    _integer("step"),
    _text("activity"),
    _json("request"),
    _text("fingerprint"),
    _text("guarantee", null=True),
    _integer("approval", null=True),
    _json("makes", null=True),
    _json("cleans", null=True),
    _text("status"),
    _integer("version"),
    _integer("sent_attempt", null=True),
    _instant("sent_at", null=True),
    _text("reference", null=True),
    _json("facts", null=True),
    _json("observations"),
    _instant("observe_at", null=True),
    _text("settled_by", null=True),
    _instant("settled_at", null=True),
)

approval = Table(
    "approval",
    metadata,
    _run(),
    _integer("ordinal", key=True),
    _text("status"),
    _json("scope"),
    _instant("requested_at"),
    _instant("expires_at"),
    _text("decided_by", null=True),
    _instant("decided_at", null=True),
    _text("comment", null=True),
)

artifact = Table(
    "artifact",
    metadata,
    _run(),
    _text("sha256", key=True),
    _text("kind"),
    _text("name", key=True),
    Column("size", BigInteger, nullable=False),
    _integer("step"),
    _integer("attempt"),
    _text("revision", null=True),
    _text("procedure_sha256", null=True),
    _text("environment_sha256", null=True),
    _instant("recorded_at"),
)

resource = Table(
    "resource",
    metadata,
    _run(),
    _text("kind", key=True),
    _text("tag", key=True),
    _text("status"),
    _integer("generation"),
    _text("reference", null=True),
    _text("note", null=True),
    _instant("registered_at"),
    _instant("changed_at"),
)

inbox = Table(
    "inbox",
    metadata,
    _run(),
    _text("subject", key=True),
    _text("principal", key=True),
    _text("message_id", key=True),
    Column("serial", BigInteger, Identity(always=True), nullable=False),
    _text("kind"),
    _text("fingerprint"),
    _json("payload"),
    _instant("received_at"),
    _json("answer", null=True),
    _instant("decided_at", null=True),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("workflow_id", Text, ForeignKey("workflow.id"), nullable=False),
    _text("message_id"),
    _text("topic"),
    _json("payload"),
    _text("status"),
    _instant("due_at"),
    _integer("attempts"),
    _instant("published_at", null=True),
)

principal = Table(
    "principal",
    metadata,
    _text("name", key=True),
    Column("roles", ARRAY(Text), nullable=False),
    _text("token_sha256"),
    _instant("disabled_at", null=True),
)
