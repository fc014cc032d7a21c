"""Run the workshop: python -m workshop seed, python -m workshop serve."""

import logging
import os
import sys
from pathlib import Path

from werkzeug.serving import make_server

from .application import create_app
from .database import seed


def serve(data_dir: Path, port: int) -> None:
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    make_server("127.0.0.1", port, create_app(data_dir), threaded=True).serve_forever()


def main(argv: list[str]) -> int:
    data_dir = Path(os.environ["DATA_DIR"])
    if argv == ["seed"]:
        seed(data_dir)
    elif argv == ["serve"]:
        serve(data_dir, int(os.environ["PORT"]))
    else:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
