"""Play a procedure n times, each on fresh data in a fresh context, and say what was seen.

`failed` is said only of an expectation that is not met on a page and an application that provably
live; everything else that goes wrong is the procedure's or the infrastructure's fault.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, BrowserContext, Locator, Page, Playwright, sync_playwright
from playwright.sync_api import Error as BrowserError

from activities.browser.expectations import expect
from activities.browser.fence import Fence
from activities.browser.limit import Limit
from activities.browser.masking import mask, mask_trace
from activities.browser.observer import Observer
from activities.browser.steps import play
from activities.browser.targets import TargetUnclear, locate
from activities.environment.application import Application
from orchestrator import seam
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
OBSERVED_MAX = 1_000
LOOKING_S = 10.0
ENDING_S = 20.0
LOST = (
    "Target crashed",
    "Page crashed",
    "has been closed",
    "ERR_CONNECTION",
    "ERR_ABORTED",
    "ERR_EMPTY_RESPONSE",
)
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
    with _driver() as driver:
        limit = Limit()
        browser = _launch(driver, chromium, limit)
        progress({"browser": browser.version})
        for number in range(1, procedure.repeat + 1):
            progress({"run": number, "of": procedure.repeat})
            application.start({})
            one = _OneRun(procedure, application, folder, secrets, number, limit)
            runs.append(one.play(browser))
            application.stop()
            if runs[-1].verdict == "infrastructure":
                break
        with contextlib.suppress(BrowserError), limit.of(ENDING_S):
            browser.close()
    return runs


def _require_secrets(procedure: Procedure, secrets: Mapping[str, str]) -> None:
    used = {step.secret for step in procedure.steps if isinstance(step, Fill) and step.secret}
    lacking = sorted((used | set(procedure.secrets)) - set(secrets))
    if lacking:
        reason = f"the procedure needs secrets that were not given: {', '.join(lacking)}"
        raise ActivityFailed(FailureKind.PERMANENT, reason)


@contextlib.contextmanager
def _driver() -> Iterator[Playwright]:
    """Yield the process that speaks to browsers; it ends with the block."""
    with seam.crossing("call", "start-browser-driver"):
        driver = sync_playwright().start()
    try:
        yield driver
    finally:
        driver.stop()


def _launch(driver: Playwright, chromium: str, limit: Limit) -> Browser:
    env: dict[str, str | float | bool] = {**os.environ, **limit.environment}
    try:
        with seam.crossing("call", "start-browser"):
            return driver.chromium.launch(executable_path=chromium, args=ARGUMENTS, env=env)
    except BrowserError as fault:
        reason = f"the browser did not start: {str(fault)[:1500]}"
        raise ActivityFailed(FailureKind.ENVIRONMENTAL, reason) from fault


@dataclass(frozen=True)
class _Seen:
    """What came of one step or expectation, not yet masked."""

    status: StepStatus
    expected: str
    observed: str
    error: str = ""


@dataclass
class _OneRun:
    procedure: Procedure
    application: Application
    folder: Path
    secrets: Mapping[str, str]
    number: int
    limit: Limit

    def play(self, browser: Browser) -> ProcedureRun:
        """Play one run in a fresh context. With secrets the trace has no pictures of its own."""
        try:
            context = self._context(browser)
            page, observer = context.new_page(), Observer(self._masked)
        except BrowserError as fault:
            return _lost(str(fault))
        observer.listen(page)
        steps, verdict = self._steps(page, observer)
        with self.limit.of(ENDING_S):
            text = self._text(page)
            trace = self._trace(lambda path: context.tracing.stop(path=path))
            with contextlib.suppress(BrowserError):
                context.close()
        return ProcedureRun(
            verdict=verdict,
            steps=tuple(steps),
            console=tuple(observer.console),
            page_errors=tuple(observer.page_errors),
            bad_responses=tuple(observer.bad_responses),
            requests=tuple(observer.requests),
            page_text=text,
            application_log_tail=self._masked(self.application.log_tail()),
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
        """Do one thing, in a limited time, and look at the page after it."""
        began = monotonic()
        with self.limit.of(3 * self.procedure.step_timeout_ms / 1000 + LOOKING_S):
            seen, picture = self._seen(act), self._picture(page, name)
            if seen.status != "ok" and not self._lives(page, observer, picture):
                seen = replace(seen, status="infrastructure")
        return StepResult(
            id=name,
            status=seen.status,
            expected=self._masked(seen.expected),
            observed=self._masked(seen.observed)[:OBSERVED_MAX],
            error_class=seen.error,
            took_ms=round((monotonic() - began) * 1000),
            screenshot=picture,
        )

    def _seen(self, act: Callable[[], tuple[bool, str, str]]) -> _Seen:
        try:
            holds, expected, observed = act()
        except TargetUnclear as unclear:
            return _Seen("procedure-error", "", str(unclear), "TargetUnclear")
        except BrowserError as fault:
            said = self._masked(str(fault)).split("\n", 1)[0]
            return _Seen(_of_browser(fault), "", said, type(fault).__name__)
        return _Seen("ok" if holds else "assertion-failed", expected, observed)

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
        return self._masked(text)[:20_000]

    def _keep(self, data: bytes, kind: str, name: str) -> ArtifactRef:
        sha256 = hashlib.sha256(data).hexdigest()
        (self.folder / sha256).write_bytes(data)
        return ArtifactRef(sha256=sha256, kind=kind, name=name, size=len(data))

    def _masked(self, text: str) -> str:
        """Return the text without the secrets; to be cut only afterwards."""
        return mask(text, self.secrets.values())


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
