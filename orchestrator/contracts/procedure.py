"""A browser procedure: data only, never code. Expectations state the correct behaviour.

`reproduced` means: the expectations fail, with a living page, in every one of `repeat` runs on the
base revision. `fixed` means: the same procedure passes in every run on the candidate.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from orchestrator.contracts.payload import Payload, Shape

Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,40}$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=400)]
LocalPath = Annotated[str, StringConstraints(pattern=r"^/[^\s]*$", max_length=400)]


class Target(Shape):
    """What a step acts on, resolved on the live accessibility tree; never a script.

    `control` is the button or the link of that accessible name, whichever there is; `role` takes a
    role as its value and an accessible name as `name`.

    `within` narrows the search to the row, item, form or region that contains that text.
    """

    by: Literal["control", "role", "label", "text", "test_id", "placeholder"]
    value: Text
    name: Text | None = None
    exact: bool = False
    within: Text | None = None
    nth: int | None = Field(default=None, ge=0, le=999)


class Navigate(Shape):
    """Open a path of the application under test."""

    do: Literal["navigate"] = "navigate"
    id: Id
    path: LocalPath


class Click(Shape):
    """Click the one element that the target names."""

    do: Literal["click"] = "click"
    id: Id
    target: Target


class Fill(Shape):
    """Put a value into a field; exactly one of `value` and `secret` (a name) is given."""

    do: Literal["fill"] = "fill"
    id: Id
    target: Target
    value: str | None = Field(default=None, max_length=4000)
    secret: Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]{1,60}$")] | None = None


class Select(Shape):
    """Choose an option, by its visible text, of the list that the target names."""

    do: Literal["select"] = "select"
    id: Id
    target: Target
    option: Text


class Check(Shape):
    """Set a check box or a radio button on or off."""

    do: Literal["check"] = "check"
    id: Id
    target: Target
    on: bool = True


class Press(Shape):
    """Press one key, named as the browser names it (`Enter`)."""

    do: Literal["press"] = "press"
    id: Id
    key: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9+]{1,30}$")]


Step = Annotated[Navigate | Click | Fill | Select | Check | Press, Field(discriminator="do")]


class Visible(Shape):
    """The target is (or, with `is_visible` false, is not) on the page."""

    expect: Literal["visible"] = "visible"
    id: Id
    target: Target
    is_visible: bool = True


class TextShown(Shape):
    """The page (or the target) contains (or does not contain) the text, white space folded."""

    expect: Literal["text"] = "text"
    id: Id
    contains: Text
    target: Target | None = None
    is_shown: bool = True


class ValueIs(Shape):
    """The field that the target names holds exactly this value."""

    expect: Literal["value"] = "value"
    id: Id
    target: Target
    equals: str = Field(max_length=4000)


class CountIs(Shape):
    """The target matches exactly this many elements."""

    expect: Literal["count"] = "count"
    id: Id
    target: Target
    equals: int = Field(ge=0, le=10_000)


class PathIs(Shape):
    """The browser stands on this path (query included when the path has one)."""

    expect: Literal["path"] = "path"
    id: Id
    equals: LocalPath


Expectation = Annotated[
    Visible | TextShown | ValueIs | CountIs | PathIs, Field(discriminator="expect")
]


class Procedure(Payload):
    """How to show the fault, and what correct behaviour is."""

    KIND: ClassVar[str] = "procedure"

    title: Text
    steps: tuple[Step, ...] = Field(min_length=1, max_length=60)
    expectations: tuple[Expectation, ...] = Field(min_length=1, max_length=20)
    repeat: int = Field(default=3, ge=1, le=10)
    secrets: tuple[str, ...] = ()
    step_timeout_ms: int = Field(default=5_000, ge=100, le=60_000)
