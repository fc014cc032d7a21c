"""Larder & Loom, a small web shop. Its dependencies are vendored beside the package, in .deps."""

import sys
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
VENDORED = HOME / ".deps"

if VENDORED.is_dir() and str(VENDORED) not in sys.path:
    sys.path.insert(0, str(VENDORED))
