"""Short ways to write a procedure's raw steps and expectations in tests."""

from __future__ import annotations

from typing import Any

Raw = dict[str, Any]


def go(path: str) -> Raw:
    """Open a path."""
    return {"do": "navigate", "path": path}


def click(name: str, **more: Any) -> Raw:
    """Click the control of that name."""
    return {"do": "click", "target": {"by": "control", "value": name, **more}}


def fill(label: str, value: str) -> Raw:
    """Type into the field with that label."""
    return {"do": "fill", "target": {"by": "label", "value": label}, "value": value}


def fill_secret(label: str, name: str) -> Raw:
    """Type a secret into the field with that label."""
    return {"do": "fill", "target": {"by": "label", "value": label}, "secret": name}


def shows(text: str, is_shown: bool = True) -> Raw:
    """Expect a text, or its absence."""
    return {"expect": "text", "contains": text, "is_shown": is_shown}


def holds(label: str, value: str) -> Raw:
    """Expect the value of a field."""
    return {"expect": "value", "target": {"by": "label", "value": label}, "equals": value}
