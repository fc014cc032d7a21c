"""Serve the shop on 127.0.0.1:$PORT from $DATA_DIR: python -m shop.serve"""

import logging
import os
from pathlib import Path

from werkzeug.serving import make_server

from shop.application import create_application


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    app = create_application(Path(os.environ["DATA_DIR"]))
    server = make_server("127.0.0.1", int(os.environ["PORT"]), app, threaded=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
