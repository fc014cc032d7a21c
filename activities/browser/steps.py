"""Play one step on the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from playwright.sync_api import Page

from activities.browser.targets import describe, resolve
from orchestrator.contracts.procedure import Check, Click, Fill, Navigate, Press, Select, Step


def play(page: Page, step: Step, base_url: str, secrets: Mapping[str, str], wait_ms: int) -> str:
    """Do what the step says and return what it was, in words without a secret's value."""
    match step:
        case Navigate(path=path):
            page.goto(base_url + path, timeout=wait_ms)
            return f"open {path}"
        case Click(target=target):
            resolve(page, target, wait_ms).click(timeout=wait_ms)
            page.wait_for_load_state("load", timeout=wait_ms)
            return f"click {describe(target)}"
        case Fill(target=target, value=value, secret=secret):
            given = value or "" if secret is None else secrets[secret]
            resolve(page, target, wait_ms).fill(given, timeout=wait_ms)
            shown = f"the secret {secret}" if secret is not None else repr(value)
            return f"fill {describe(target)} with {shown}"
        case Select(target=target, option=option):
            resolve(page, target, wait_ms).select_option(label=option, timeout=wait_ms)
            return f"choose {option!r} of {describe(target)}"
        case Check(target=target, on=on):
            resolve(page, target, wait_ms).set_checked(on, timeout=wait_ms)
            return f"set {describe(target)} {'on' if on else 'off'}"
        case Press(key=key):
            page.keyboard.press(key)
            page.wait_for_load_state("load", timeout=wait_ms)
            return f"press {key}"
        case _:
            assert_never(step)
