"""The lending desk of a neighbourhood workshop; what it depends on lies beside it in .deps."""

import sys
from pathlib import Path

DEPENDENCIES = Path(__file__).resolve().parents[1] / ".deps"

if DEPENDENCIES.is_dir():
    sys.path.insert(0, str(DEPENDENCIES))
