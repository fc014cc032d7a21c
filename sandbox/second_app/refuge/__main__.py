"""Serve the desk on 127.0.0.1:$PORT from $DATA_DIR: python -m refuge"""

import os
from pathlib import Path
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIServer, make_server

from refuge.desk import Desk
from refuge.journal import Journal
from refuge.web import Window


class ThreadedServer(ThreadingMixIn, WSGIServer):
    daemon_threads = True


def main() -> None:
    window = Window(Desk(Journal(Path(os.environ["DATA_DIR"]))))
    port = int(os.environ["PORT"])
    make_server("127.0.0.1", port, window, server_class=ThreadedServer).serve_forever()


if __name__ == "__main__":
    main()
