"""Wheels built from this source."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ("metabroker", "systemd", "configs")
FILES = ("pyproject.toml", "setup.py", "README.md", "LICENSE")


def source(folder: Path, version: str | None = None) -> Path:
    """A copy of what a wheel is built from, perhaps of another version."""
    folder.mkdir(parents=True)
    unwanted = shutil.ignore_patterns("__pycache__", "*.so")
    for name in SOURCES:
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=unwanted)
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    if version is not None:
        for name in ("pyproject.toml", "metabroker/__init__.py"):
            text = (folder / name).read_text()
            before = next(line for line in text.splitlines() if "version" in line and "=" in line)
            after = f'{before.split("=")[0]}= "{version}"'
            (folder / name).write_text(text.replace(before, after))
    return folder


def wheel(source: Path, out: Path) -> Path:
    """The wheel of a source."""
    words = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(out)]
    subprocess.run([sys.executable, "-m", "pip", *words, str(source)], check=True, timeout=150)
    (built,) = out.glob("metabroker-*.whl")
    return built
