"""Open the season in an empty DATA_DIR: python -m refuge.opening"""

import json
import os
from datetime import date
from pathlib import Path

from refuge.desk import Desk
from refuge.journal import Journal

SEASON = Path(__file__).resolve().parent.parent / "fixtures" / "season.json"


def open_desk(folder: Path) -> Desk:
    """Return a desk with the season's huts, and the stays that were asked for by letter."""
    told = json.loads(SEASON.read_text(encoding="utf-8"))
    desk = Desk(Journal(folder))
    desk.open_season(told["today"], told["huts"])
    for stay in told["stays"]:
        desk.ask(**{**stay, "arrival": date.fromisoformat(stay["arrival"])})
    return desk


if __name__ == "__main__":
    open_desk(Path(os.environ["DATA_DIR"]))
