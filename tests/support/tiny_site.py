"""A tiny application under test: `lay_out` makes a workspace of it."""

from __future__ import annotations

import shutil
from pathlib import Path

REVISION = "a" * 40
TEMPLATE = """[outlast]
schema = 1
name = "tiny"
[install]
commands = {install}
lockfiles = ["lock.txt"]
produces = {produces}
timeout_s = {install_s}
[start]
command = ["{{python}}", "server.py"]
env = {{ MODE = "{mode}" }}
[seed]
commands = [["{{python}}", "seed.py"]]
timeout_s = 10
[ready]
path = "/ready"
timeout_s = {ready_s}
[check]
commands = {check}
timeout_s = {check_s}
[source]
paths = ["server.py"]
"""
SEED = """import os, pathlib
folder = pathlib.Path(os.environ["DATA_DIR"])
assert not any(folder.iterdir()), "the data folder is not empty"
(folder / "seeded").write_text("yes")
"""


def lay_out(
    workspace: Path,
    mode: str = "",
    install: str = "[]",
    produces: str = "[]",
    check: str = '[["{python}", "-c", "print(\'all is well\')"]]',
    ready_s: int = 10,
    check_s: int = 20,
    install_s: int = 20,
) -> Path:
    """Put the application into a folder, with the mode and the commands wished for."""
    workspace.mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("tiny_server.py"), workspace / "server.py")
    (workspace / "seed.py").write_text(SEED)
    (workspace / "lock.txt").write_text("nothing\n")
    said = TEMPLATE.format(
        mode=mode,
        install=install,
        produces=produces,
        check=check,
        ready_s=ready_s,
        check_s=check_s,
        install_s=install_s,
    )
    (workspace / ".outlast.toml").write_text(said)
    return workspace
