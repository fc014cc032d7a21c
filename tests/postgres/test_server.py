"""The embedded server: its folder, its port, its death and what it keeps."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
from sqlalchemy import create_engine, text

from orchestrator.clock import wait_for
from sandbox.postgres import folder as folder_module
from sandbox.postgres.errors import FolderInUse, WrongMajor
from sandbox.postgres.folder import is_free, keep_port, occupants
from sandbox.postgres.identity import as_account
from sandbox.postgres.locate import find_binaries
from sandbox.postgres.server import Server
from tests.support.accounts import NOBODY, run_as_nobody
from tests.support.processes import is_running
from tests.support.rows import make_table, read_rows, write_until_cut

Make = Callable[[], Server]


def test_a_killed_server_has_every_committed_row_at_the_next_start(make_server: Make) -> None:
    server = make_server()
    server.start()
    port, pid = server.port, server.postmaster()
    make_table(server)
    committed = write_until_cut(
        server, lambda number: os.kill(pid, signal.SIGKILL) if number == 50 else None
    )
    server.stop()
    again = make_server()
    again.start()
    assert len(committed) > 50
    assert committed <= read_rows(again)
    assert again.port == port


def test_nothing_of_a_killed_server_stays_running(make_server: Make) -> None:
    server = make_server()
    server.start()
    parts = occupants(server.data)
    assert len(parts) > 3
    os.kill(server.postmaster(), signal.SIGKILL)
    wait_for(lambda: not any(map(is_running, parts)), 10, "the end of every part of the server")


def test_two_owners_cannot_run_one_folder(make_server: Make) -> None:
    first, second = make_server(), make_server()
    first.start()
    with pytest.raises(FolderInUse, match=str(os.getpid())):
        second.start()
    assert first.is_alive()
    first.stop()
    second.start()
    assert second.is_alive()


def test_a_pid_file_that_names_a_living_stranger_does_not_stop_the_server(
    make_server: Make,
) -> None:
    server = make_server()
    server.start()
    lines = (server.data / "postmaster.pid").read_text().splitlines()
    os.kill(server.postmaster(), signal.SIGKILL)
    server.stop()
    stale = [str(os.getpid()), *lines[1:]]
    (server.data / "postmaster.pid").write_text("\n".join(stale) + "\n")
    server.start()
    assert server.postmaster() != os.getpid()


def test_a_half_made_folder_is_made_anew(make_server: Make) -> None:
    server = make_server()
    (server.folder / "data.new" / "base").mkdir(parents=True)
    server.start()
    assert server.is_alive()
    assert not (server.folder / "data.new").exists()


def test_data_of_another_major_is_refused_with_what_to_do(make_server: Make) -> None:
    server = make_server()
    server.data.mkdir(parents=True)
    (server.data / "PG_VERSION").write_text("9\n")
    with pytest.raises(WrongMajor, match=r"made by PostgreSQL 9 .*OUTLAST_POSTGRES"):
        server.start()
    with pytest.raises(WrongMajor):
        make_server().start()


def test_it_listens_on_the_loopback_only_and_asks_for_its_password(make_server: Make) -> None:
    server = make_server()
    server.start()
    listening = {
        one.laddr.ip
        for one in psutil.net_connections("tcp")
        if one.status == psutil.CONN_LISTEN and one.laddr and one.laddr.port == server.port
    }
    assert listening == {"127.0.0.1"}
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(host="127.0.0.1", port=server.port, user="postgres", password="guess")
    assert stat.S_IMODE((server.folder / "password").stat().st_mode) == 0o600


def test_what_is_committed_is_flushed(make_server: Make) -> None:
    server = make_server()
    server.start()
    with contextlib.closing(server.connect()) as connection:
        shown = [
            connection.execute(f"SHOW {name}").fetchall()[0][0]
            for name in ("fsync", "synchronous_commit", "full_page_writes")
        ]
    assert shown == ["on", "on", "on"]


def test_the_dsn_is_good_for_sqlalchemy_and_hides_its_password_there(make_server: Make) -> None:
    server = make_server()
    server.start()
    server.create_database("outlast")
    server.create_database("outlast")
    engine = create_engine(server.url("outlast"))
    with engine.connect() as connection:
        assert connection.execute(text("SELECT current_database()")).scalar_one() == "outlast"
    password = (server.folder / "password").read_text()
    assert password in server.url()
    assert password not in repr(engine)
    engine.dispose()


def test_a_port_that_was_taken_meanwhile_is_replaced_and_otherwise_kept(tmp_path: Path) -> None:
    file = tmp_path / "port"
    port = keep_port(file)
    assert keep_port(file) == port
    with socket.socket() as thief:
        thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        thief.bind((folder_module.ADDRESS, port))
        thief.listen()
        assert not is_free(port)
        assert keep_port(file) != port


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Yield a folder that every account can enter."""
    with tempfile.TemporaryDirectory(prefix="outlast-open-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be another account")
def test_without_user_namespaces_root_starts_it_as_another_account(open_folder: Path) -> None:
    server = Server(open_folder / "postgres", find_binaries(), as_account("nobody"))
    server.start()
    try:
        assert psutil.Process(server.postmaster()).uids().effective == NOBODY
    finally:
        server.stop()
    again = Server.on(open_folder / "postgres")
    assert again.identity.kind == "account"
    again.start()
    again.stop()


ORDINARY = """
import os, sys
from pathlib import Path
from sandbox.postgres.server import Server
server = Server.on(Path(sys.argv[1]))
server.start()
print(os.geteuid(), server.identity.kind, server.is_alive())
server.stop()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be another account")
def test_an_ordinary_user_starts_it_directly(open_folder: Path) -> None:
    result = run_as_nobody(ORDINARY, str(open_folder / "postgres"), home=open_folder)
    if result is None:
        pytest.skip("no Python here that another account can run")
    assert result.stdout == f"{NOBODY} direct True\n", result.stderr
