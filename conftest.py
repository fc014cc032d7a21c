"""Puts the root on the path, so that tests share their support code as `tests.support`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
