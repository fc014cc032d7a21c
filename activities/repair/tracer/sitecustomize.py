"""Loaded by Python itself when this folder is on PYTHONPATH: notes each line that is executed.

Standard library only. Writes `path:line` once for each line of files under OUTLAST_TRACE_ROOT to
OUTLAST_TRACE_FILE, at once, so that a killed process leaves what it did.
"""

import os
import sys
import threading
from types import FrameType
from typing import Any

ROOT = os.environ.get("OUTLAST_TRACE_ROOT", "")
FILE = os.environ.get("OUTLAST_TRACE_FILE", "")


def install() -> None:
    """Start noting lines in every thread."""
    out = os.open(FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    seen: set[tuple[str, int]] = set()
    ours: dict[str, bool] = {}

    def is_ours(name: str) -> bool:
        known = ours.get(name)
        if known is None:
            inside = name.startswith(ROOT + os.sep)
            known = inside and f"{os.sep}." not in name[len(ROOT) :]
            ours[name] = known
        return known

    def note_line(frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line":
            place = (frame.f_code.co_filename, frame.f_lineno)
            if place not in seen:
                seen.add(place)
                os.write(out, f"{place[0][len(ROOT) + 1 :]}:{place[1]}\n".encode())
        return note_line

    def note_call(frame: FrameType, _event: str, _argument: Any) -> Any:
        return note_line if is_ours(frame.f_code.co_filename) else None

    threading.settrace(note_call)
    sys.settrace(note_call)


if ROOT and FILE:
    install()
