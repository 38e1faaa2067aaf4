"""Programs of MPI for tests, where the machine has what makes and starts them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def compiled(compiler: str, launcher: str, source: Path, program: Path) -> None:
    """Compile it, or leave the test out: the launcher is often installed without the headers."""
    for tool in (compiler, launcher):
        if shutil.which(tool) is None:
            pytest.skip(f"there is no {tool}")
    words = [compiler, "-E", "-include", "mpi.h", "-xc", "/dev/null"]
    if subprocess.run(words, capture_output=True, timeout=120).returncode:
        pytest.skip(f"{compiler} finds no mpi.h")
    subprocess.run([compiler, "-o", program, source], check=True, timeout=120)
