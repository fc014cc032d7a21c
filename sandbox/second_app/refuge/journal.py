"""The desk's memory: a file with one JSON object a line, only ever added to."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Journal:
    def __init__(self, folder: Path) -> None:
        self._file = folder / "journal.jsonl"

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield everything that was written, oldest first; a journal not begun has nothing."""
        if self._file.exists():
            with self._file.open(encoding="utf-8") as lines:
                for line in lines:
                    yield json.loads(line)

    def write(self, entry: dict[str, Any]) -> None:
        """Add one entry; it is on the disk when this returns."""
        with self._file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(entry, ensure_ascii=False) + "\n")
            out.flush()
            os.fsync(out.fileno())
