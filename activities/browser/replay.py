"""Play a procedure n times, each on fresh data in a fresh context, and say what was seen.

`failed` is said only of an expectation that is not met on a page and an application that provably
live; everything else that goes wrong is the procedure's or the infrastructure's fault.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, BrowserContext, Locator, Page, Playwright, sync_playwright
from playwright.sync_api import Error as BrowserError
from playwright.sync_api import TimeoutError as BrowserTimeout

from activities.browser.expectations import expect
from activities.browser.fence import Fence
from activities.browser.masking import mask, mask_trace
from activities.browser.observer import Observer
from activities.browser.steps import play
from activities.browser.targets import TargetUnclear, locate
from activities.environment.application import Application
from orchestrator.clock import monotonic
from orchestrator.contracts.evidence import ArtifactRef, ProcedureRun, StepResult, StepStatus
from orchestrator.contracts.payload import JsonObject
from orchestrator.contracts.procedure import Expectation, Fill, Procedure, Step
from orchestrator.domain.failures import ActivityFailed, FailureKind

ARGUMENTS = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
VIEWPORT = {"width": 1024, "height": 768}
EXPECT_MS = 2_500
LOST = ("crashed", "has been closed", "ERR_CONNECTION", "ERR_ABORTED", "ERR_EMPTY_RESPONSE")
Progress = Callable[[JsonObject], None]
RunVerdict = Literal["passed", "failed", "procedure-error", "infrastructure"]


def replay(
    procedure: Procedure,
    application: Application,
    folder: Path,
    secrets: Mapping[str, str],
    progress: Progress,
    chromium: str,
) -> list[ProcedureRun]:
    """Play it `procedure.repeat` times. Files are left in `folder`, named by their hash.

    Ends early after a run that the infrastructure lost: the rest would be lost as well. Raises
    ActivityFailed: permanent for a secret that was not given, environmental when the browser or
    the application does not start.
    """
    _require_secrets(procedure, secrets)
    runs: list[ProcedureRun] = []
    with sync_playwright() as driver:
        browser = _launch(driver, chromium)
        progress({"browser": browser.version})
        for number in range(1, procedure.repeat + 1):
            progress({"run": number, "of": procedure.repeat})
            application.start({})
            one = _OneRun(procedure, application, folder, secrets, number)
            runs.append(one.play(browser))
            application.stop()
            if runs[-1].verdict == "infrastructure":
                break
        with contextlib.suppress(BrowserError):
            browser.close()
    return runs


def _require_secrets(procedure: Procedure, secrets: Mapping[str, str]) -> None:
    used = {step.secret for step in procedure.steps if isinstance(step, Fill) and step.secret}
    lacking = sorted((used | set(procedure.secrets)) - set(secrets))
    if lacking:
        reason = f"the procedure needs secrets that were not given: {', '.join(lacking)}"
        raise ActivityFailed(FailureKind.PERMANENT, reason)


def _launch(driver: Playwright, chromium: str) -> Browser:
    try:
        return driver.chromium.launch(executable_path=chromium, args=ARGUMENTS)
    except BrowserError as fault:
        reason = f"the browser did not start: {str(fault)[:1500]}"
        raise ActivityFailed(FailureKind.ENVIRONMENTAL, reason) from fault


@dataclass
class _OneRun:
    procedure: Procedure
    application: Application
    folder: Path
    secrets: Mapping[str, str]
    number: int

    def play(self, browser: Browser) -> ProcedureRun:
        """Play one run in a fresh context. With secrets the trace has no pictures of its own."""
        try:
            context = self._context(browser)
            page, observer = context.new_page(), Observer()
        except BrowserError as fault:
            return _lost(str(fault))
        observer.listen(page)
        steps, verdict = self._steps(page, observer)
        text = self._text(page)
        trace = self._trace(lambda path: context.tracing.stop(path=path))
        with contextlib.suppress(BrowserError):
            context.close()
        return ProcedureRun(
            verdict=verdict,
            steps=tuple(steps),
            console=self._masked(observer.console),
            page_errors=self._masked(observer.page_errors),
            bad_responses=self._masked(observer.bad_responses),
            requests=self._masked(observer.requests),
            page_text=text,
            application_log_tail=mask(self.application.log_tail(), self.secrets.values()),
            artifacts=trace,
        )

    def _context(self, browser: Browser) -> BrowserContext:
        context = browser.new_context(
            viewport=VIEWPORT,  # type: ignore[arg-type]  # a literal of the right shape
            locale="en-GB",
            timezone_id="UTC",
            service_workers="block",
        )
        Fence(self.application.url).put_around(context)
        pictures = not self.secrets
        context.tracing.start(screenshots=pictures, snapshots=True, sources=False)
        return context

    def _steps(self, page: Page, observer: Observer) -> tuple[list[StepResult], RunVerdict]:
        """Play steps, then compare; the first thing that goes wrong ends the run."""
        done: list[StepResult] = []
        for step in self.procedure.steps:
            result = self._one(page, observer, step.id, partial(self._did, page, step))
            done.append(result)
            if result.status != "ok":
                return done, _verdict(result.status)
        for wanted in self.procedure.expectations:
            result = self._one(page, observer, wanted.id, partial(self._compared, page, wanted))
            done.append(result)
            if result.status not in ("ok", "assertion-failed"):
                return done, _verdict(result.status)
        unmet = any(result.status == "assertion-failed" for result in done)
        return done, "failed" if unmet else "passed"

    def _did(self, page: Page, step: Step) -> tuple[bool, str, str]:
        wait = self.procedure.step_timeout_ms
        return True, play(page, step, self.application.url, self.secrets, wait), ""

    def _compared(self, page: Page, wanted: Expectation) -> tuple[bool, str, str]:
        compared = expect(page, wanted, EXPECT_MS)
        return compared.holds, compared.expected, compared.observed

    def _one(
        self,
        page: Page,
        observer: Observer,
        name: str,
        act: Callable[[], tuple[bool, str, str]],
    ) -> StepResult:
        began = monotonic()
        status: StepStatus
        try:
            holds, expected, observed = act()
            status, error = ("ok", "") if holds else ("assertion-failed", "")
        except TargetUnclear as unclear:
            status, expected, observed, error = "procedure-error", "", str(unclear), "TargetUnclear"
        except (BrowserTimeout, BrowserError) as fault:
            status, expected, observed = _of_browser(fault), "", str(fault).split("\n", 1)[0]
            error = type(fault).__name__
        picture = self._picture(page, name)
        if status != "ok" and not self._lives(page, observer, picture):
            status = "infrastructure"
        return StepResult(
            id=name,
            status=status,
            expected=mask(expected, self.secrets.values()),
            observed=mask(observed, self.secrets.values())[:1000],
            error_class=error,
            took_ms=round((monotonic() - began) * 1000),
            screenshot=picture,
        )

    def _lives(self, page: Page, observer: Observer, picture: ArtifactRef | None) -> bool:
        """Prove that page and application live: only then is an unmet expectation evidence."""
        return picture is not None and observer.is_alive(page) and self.application.is_ready()

    def _picture(self, page: Page, name: str) -> ArtifactRef | None:
        try:
            data = page.screenshot(timeout=5_000, mask=self._hidden(page))
        except BrowserError:
            return None
        return self._keep(data, "screenshot", f"run-{self.number}-{name}.png")

    def _hidden(self, page: Page) -> list[Locator]:
        """Return what is painted over: fields that secrets went into, places that show one."""
        filled = [
            locate(page, step.target, exact=step.target.exact)
            for step in self.procedure.steps
            if isinstance(step, Fill) and step.secret is not None
        ]
        return filled + [page.get_by_text(value) for value in self.secrets.values() if value]

    def _trace(self, stop: Callable[[str], None]) -> tuple[ArtifactRef, ...]:
        path = self.folder / f"trace-{self.number}.zip"
        try:
            stop(str(path))
        except BrowserError:
            return ()
        data = mask_trace(path.read_bytes(), self.secrets.values())
        path.unlink()
        return (self._keep(data, "trace", f"run-{self.number}-trace.zip"),)

    def _text(self, page: Page) -> str:
        try:
            text = page.locator("body").inner_text(timeout=1_000)
        except BrowserError:
            return ""
        return mask(text, self.secrets.values())[:20_000]

    def _keep(self, data: bytes, kind: str, name: str) -> ArtifactRef:
        sha256 = hashlib.sha256(data).hexdigest()
        (self.folder / sha256).write_bytes(data)
        return ArtifactRef(sha256=sha256, kind=kind, name=name, size=len(data))

    def _masked(self, lines: list[str]) -> tuple[str, ...]:
        return tuple(mask(line, self.secrets.values()) for line in lines)


def _lost(why: str) -> ProcedureRun:
    """Return a run that could not even begin."""
    seen = StepResult(id="browser", status="infrastructure", observed=why.split("\n", 1)[0])
    return ProcedureRun(verdict="infrastructure", steps=(seen,))


def _of_browser(fault: BrowserError) -> StepStatus:
    """Return whose fault a browser's error is (measured; see docs/decisions)."""
    text = str(fault)
    if any(word in text for word in LOST) or "Page.goto" in text:
        return "infrastructure"
    return "procedure-error"


def _verdict(status: StepStatus) -> RunVerdict:
    return "infrastructure" if status == "infrastructure" else "procedure-error"
