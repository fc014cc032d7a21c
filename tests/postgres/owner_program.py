"""A program that owns a server and prints the number of each row it committed, without end."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from sandbox.owner.owner import Owner
from sandbox.postgres.server import Server
from tests.support.rows import make_table, write_until_cut


def tell(number: int) -> None:
    """Print a committed row's number at once."""
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


server = Server.on(Path(sys.argv[1]))
with Owner() as owner:
    owner.start(server.child())
    make_table(server)
    write_until_cut(server, tell)
