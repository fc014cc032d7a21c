"""PostgreSQL as an owner's child: it comes back, and it never outlives its owner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from orchestrator.clock import wait_for
from sandbox.owner.owner import Owner
from sandbox.postgres.server import Server
from tests.support.processes import descendants, is_running
from tests.support.rows import make_table, read_rows, write_until_cut

Make = Callable[[], Server]


def test_a_killed_postmaster_comes_back_on_its_port_with_every_committed_row(
    make_server: Make,
) -> None:
    server = make_server()
    with Owner() as owner:
        pid = owner.start(server.child()).pid
        port = server.port
        assert server.postmaster() == pid
        make_table(server)
        committed = write_until_cut(
            server, lambda number: os.kill(pid, signal.SIGKILL) if number == 50 else None
        )
        wait_for(lambda: owner.report("postgres").restarts == 1, 30, "the restart")
        wait_for(server.is_alive, 30, "the server's answer")
        assert committed <= read_rows(server)
        assert len(committed) > 50
        assert (server.port, server.postmaster()) == (port, owner.report("postgres").pid)
        assert owner.report("postgres").last_status == signal.SIGKILL


def test_a_killed_backend_is_the_servers_own_affair(make_server: Make) -> None:
    server = make_server()
    with Owner() as owner:
        owner.start(server.child())
        with server.connect() as connection:
            os.kill(connection.info.backend_pid, signal.SIGKILL)
        wait_for(server.is_alive, 30, "the server's answer")
        assert owner.report("postgres").restarts == 0


def test_the_folder_is_free_once_the_owner_stopped(make_server: Make) -> None:
    server = make_server()
    with Owner() as owner:
        owner.start(server.child())
    again = make_server()
    again.start()
    assert again.is_alive()


def test_a_killed_owner_leaves_nothing_running_and_loses_no_row(
    tmp_path: Path, make_server: Make
) -> None:
    program = Path(__file__).with_name("owner_program.py")
    owner = subprocess.Popen(
        [sys.executable, program, tmp_path / "postgres"], stdout=subprocess.PIPE, text=True
    )
    with owner:
        assert owner.stdout is not None
        committed = {int(owner.stdout.readline()) for _ in range(50)}
        below = descendants(owner.pid)
        assert len(below) > 5
        owner.kill()
        committed |= {
            int(line)
            for line in owner.stdout.read().splitlines(keepends=True)
            if line.endswith("\n")
        }
        wait_for(lambda: not any(map(is_running, below)), 5, "the end of all below the owner")
    server = make_server()
    server.start()
    assert committed <= read_rows(server)
