"""A server of the matrix's own, the undisturbed runs, and the cells that follow from them."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest
from sqlalchemy.engine import make_url

from orchestrator.clock import wait_for
from orchestrator.contracts.payload import JsonObject
from orchestrator.store import principals
from sandbox.postgres.server import Server
from tests.recovery.points import Cell, Fault, Point, choose, read_points
from tests.recovery.world import World, world
from tests.support.database import Databases, apply_schema, render

EVER_FAILED = Path(__file__).with_name("ever_failed.txt")
DEFINITIONS = ("notice", "document")


@dataclass(frozen=True)
class Undisturbed:
    """What a run comes to when nothing happens to it, where it crossed the seam, what it wrote."""

    points: list[Point]
    normal_form: JsonObject
    writes_at_the_seam: int
    transactions: int


class Bench:
    """One server whose postmaster may be killed, and a template to start each cell from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.server = Server.on(folder / "postgres")
        self.server.start()
        with contextlib.closing(self.server.connect()) as connection:
            connection.execute("ALTER SYSTEM SET autovacuum = off")
            connection.execute("SELECT pg_reload_conf()")
        self.databases = Databases(make_url(self.server.url("postgres")))
        self.databases.create("template_of_cells")
        url = make_url(self.server.url("template_of_cells"))
        apply_schema(url)

    @contextlib.contextmanager
    def fresh(self) -> Iterator[World]:
        """Yield a world of its own, started from the template."""
        with (
            TemporaryDirectory(dir=self.folder) as folder,
            self.databases.lend("cell", "template_of_cells") as url,
            world(render(url), Path(folder)) as made,
        ):
            with made.line.database.commit("principal") as tx:
                principals.put(tx, "rita", ["reviewer"], "a token of rita's")
            yield made

    def restart_at_once(self) -> None:
        """End the server without a checkpoint, as a power cut would, and start it again."""
        postmaster = psutil.Process(self.server.postmaster())
        os.kill(postmaster.pid, signal.SIGQUIT)
        wait_for(lambda: not self.server.is_alive(), 30, "PostgreSQL to end")
        self.server.stop()
        self.server.start()

    def highest_transaction(self) -> int:
        """Return the next transaction id; only transactions that write have taken one."""
        with contextlib.closing(self.server.connect()) as connection:
            query = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
            return int(connection.execute(query).fetchall()[0][0])


def start(made: World, definition: str) -> str:
    """Start a run of the definition."""
    return made.line.start() if definition == "notice" else made.line.document()


@cache
def bench() -> Bench:
    """Return the one bench of this process."""
    return Bench(Path(HOLDER.name))


@cache
def undisturbed(definition: str) -> Undisturbed:
    """Run the definition with one recording worker and nothing else."""
    with bench().fresh() as made:
        run = start(made, definition)
        record = made.service.path.with_name("crossings")
        before = bench().highest_transaction()
        worker = made.start("recording", "record", str(record))
        made.end(run)
        made.published(run)
        worker.terminate()
        worker.wait(30)
        after = bench().highest_transaction()
        return Undisturbed(
            points=read_points(record.read_text()),
            normal_form=made.normal_form(run),
            writes_at_the_seam=writes(made, run, record.read_text()),
            transactions=after - before,
        )


def writes(made: World, run: str, recorded: str) -> int:
    """Return how many of the crossings wrote: all commits, of the claims those that found a step,
    and what the test itself had accepted meanwhile."""
    names = [line.removeprefix("commit ") for line in recorded.splitlines() if "commit " in line]
    attempts: int = sum(step["attempts"] for step in made.line.steps(run))
    return len([name for name in names if name != "claim"]) + attempts + len(made.answered)


HOLDER = TemporaryDirectory(prefix="outlast-recovery-")


def cells() -> list[Cell]:
    """Return every point with every fault."""
    return [
        Cell(definition, point, fault)
        for definition in DEFINITIONS
        for point in undisturbed(definition).points
        for fault in Fault
    ]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run choose its part of the matrix."""
    parser.addoption("--slice", default=None, help="k/n or all; default each point once")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each chosen cell; nothing is run where the matrix was not asked for."""
    if "cell" in metafunc.fixturenames:
        asked = "not recovery" not in str(metafunc.config.getoption("-m"))
        failed = frozenset(EVER_FAILED.read_text().split())
        selection = metafunc.config.getoption("--slice")
        chosen = choose(cells(), selection, failed) if asked else []
        metafunc.parametrize("cell", chosen, ids=str)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was covered: points found, cells run, cells passed, by definition and fault."""
    passed = {report.nodeid for report in terminalreporter.getreports("passed")}
    failed = {report.nodeid for report in terminalreporter.getreports("failed")}
    ran = [name.partition("test_cell[")[2].rstrip("]") for name in passed | failed]
    good = [name.partition("test_cell[")[2].rstrip("]") for name in passed]
    for definition in DEFINITIONS if any(ran) else ():
        points = len(undisturbed(definition).points)
        for fault in Fault:
            mine = [name for name in ran if _is_of(name, definition, fault)]
            held = [name for name in good if _is_of(name, definition, fault)]
            line = f"| {definition} | {fault} | {points} | {len(mine)} | {len(held)} |"
            terminalreporter.write_line(line)


def _is_of(name: str, definition: str, fault: Fault) -> bool:
    return name.startswith(f"{definition}/") and name.endswith(f"/{fault}")


def pytest_unconfigure() -> None:
    """Stop the server."""
    if bench.cache_info().currsize:
        bench().server.stop()
    HOLDER.cleanup()
