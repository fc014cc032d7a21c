"""Make the git repository of a sample application, with the same revision on every machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

APP = Path(__file__).with_name("app")
SECOND_APP = Path(__file__).with_name("second_app")
THIRD_APP = Path(__file__).with_name("third_app")

NOT_SOURCE = (".deps", "instance", "__pycache__", ".git")
SIGNATURE = {
    "GIT_AUTHOR_NAME": "Sample Author",
    "GIT_AUTHOR_EMAIL": "author@shop.invalid",
    "GIT_AUTHOR_DATE": "2026-01-05T09:00:00+00:00",
    "GIT_COMMITTER_NAME": "Sample Author",
    "GIT_COMMITTER_EMAIL": "author@shop.invalid",
    "GIT_COMMITTER_DATE": "2026-01-05T09:00:00+00:00",
}
UNCONFIGURED = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


class CannotBuild(RuntimeError):
    """The repository was not made; what git said is in the text."""


def build(source_folder: Path, target_folder: Path) -> str:
    """Commit a copy of the source on `main` of a new repository; return the commit's id.

    `target_folder` must not exist or be empty. Equal sources give equal ids: names, dates, file
    modes and git's settings are fixed. What an application makes for itself (dependencies, caches,
    its instance folder) is left out. Raises CannotBuild.
    """
    if target_folder.exists() and any(target_folder.iterdir()):
        raise CannotBuild(f"{target_folder} is not empty; name a new folder")
    shutil.copytree(
        source_folder,
        target_folder,
        ignore=shutil.ignore_patterns(*NOT_SOURCE),
        dirs_exist_ok=True,
    )
    for path in target_folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    _git(target_folder, "init", "--quiet", "--initial-branch=main", "--object-format=sha1")
    _git(target_folder, "add", "--all", "--force")
    _git(target_folder, "commit", "--quiet", "--no-verify", "-m", "Open the application")
    return _git(target_folder, "rev-parse", "HEAD").strip()


def _git(folder: Path, *argv: str) -> str:
    env = {"PATH": os.environ.get("PATH", os.defpath), **SIGNATURE, **UNCONFIGURED}
    fixed = ("-c", "core.autocrlf=false", "-c", "core.fileMode=true", "-c", "commit.gpgSign=false")
    done = subprocess.run(
        ("git", *fixed, *argv), cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CannotBuild(f"git {argv[0]} failed: {done.stderr.strip()}")
    return done.stdout
