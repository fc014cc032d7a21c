"""Run the sandbox host: `python -m sandbox.host --folder F --port P [--keys on|off]`."""

from __future__ import annotations

import argparse
from pathlib import Path

from sandbox.host.server import serve


def main() -> None:
    """Read the arguments and serve."""
    parser = argparse.ArgumentParser(prog="sandbox.host", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--keys", choices=("on", "off"), default="on")
    chosen = parser.parse_args()
    serve(chosen.folder, chosen.port, chosen.keys == "on")


if __name__ == "__main__":
    main()
