"""A program that owns one child until a signal ends it; prints the child's pid."""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from sandbox.owner.child import Child
from sandbox.owner.owner import Owner

order = json.loads(sys.argv[1])
child = Child(
    name="family",
    argv=order["argv"],
    env={"PATH": os.environ["PATH"]},
    log=Path(order["log"]),
    cwd=Path(order["cwd"]),
)
with Owner() as owner, owner.ending_on_signals():
    sys.stdout.write(f"{owner.start(child).pid}\n")
    sys.stdout.flush()
    owner.wait()
