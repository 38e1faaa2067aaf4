"""README's first commands against real clusters, pasted as they stand."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.installation.building import ROOT
from tests.testbed.testbed import STATE, Testbed


def block(first: str) -> str:
    """The block of README.md whose first line begins so."""
    blocks: list[str] = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    (found,) = [block for block in blocks if block.startswith(first)]
    return found


@pytest.fixture
def here() -> Iterator[Path]:
    """A folder with a short path: a socket is made in it."""
    folder = Path(tempfile.mkdtemp(prefix="mb-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.slurm
def test_real_clusters_a_daemon_and_a_coallocated_job(
    here: Path,
    testbed: Testbed,  # its packages can be had
) -> None:
    if (ROOT / ".cache" / "clusters" / STATE).exists():
        pytest.skip("left out: clusters of `make clusters-up` are in use here")
    earlier = ROOT / ".cache" / "clusters" / "metabroker.db"  # of clusters that are no more
    earlier.parent.mkdir(parents=True, exist_ok=True)
    earlier.write_text("a store of a daemon over them")
    # What a newcomer's checkout has; the jobs' files are not to lie in this one.
    for name in ("Makefile", "pyproject.toml", "metabroker", "tests", ".cache"):
        (here / name).symlink_to(ROOT / name)
    programs = here / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name, command in (("python", ""), ("metabroker", " -m metabroker")):
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable}{command} "$@"\n')
        (programs / name).chmod(0o755)
    (programs / ".ready").touch()  # nothing is to be installed
    commands = subprocess.Popen(
        ["sh", "-e", "-c", block("make clusters-up")],
        cwd=here,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        stdout, stderr = commands.communicate(timeout=150)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(commands.pid, signal.SIGKILL)
        subprocess.run(["make", "clusters-down"], cwd=here, check=False, capture_output=True)
    assert commands.returncode == 0, f"{stdout}{stderr}"
    told = re.findall(r"component (\d) on \S+: (\{.*?\n\})", stdout, re.S)
    assert [number for number, _ in told] == ["0", "1", "2"]
    clusters = [part["cluster"] for part in json.loads(told[0][1])["components"]]
    assert sorted(clusters) == ["delft", "lab", "leiden"]
    assert "Traceback" not in stderr
