"""README's first commands against real clusters, pasted as they stand."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.installation.building import ROOT
from tests.testbed.testbed import STATE, Testbed


def block(first: str) -> str:
    """The block of README.md whose first line begins so."""
    blocks: list[str] = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    (found,) = [block for block in blocks if block.startswith(first)]
    return found


@pytest.mark.slurm
def test_real_clusters_a_daemon_and_a_coallocated_job(
    tmp_path: Path,
    testbed: Testbed,  # its packages can be had
) -> None:
    if (ROOT / ".cache" / "clusters" / STATE).exists():
        pytest.skip("left out: clusters of `make clusters-up` are in use here")
    # What a newcomer's checkout has; the jobs' files are not to lie in this one.
    here = tmp_path / "metabroker"
    here.mkdir()
    for name in ("Makefile", "pyproject.toml", "metabroker", "tests", ".cache"):
        (here / name).symlink_to(ROOT / name)
    (here / ".venv").mkdir()
    (here / ".venv" / "bin").symlink_to(Path(sys.executable).parent)
    commands = block("make clusters-up")
    try:
        done = subprocess.run(
            ["sh", "-e", "-c", commands],
            cwd=here,
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
        )
    finally:
        subprocess.run(["make", "clusters-down"], cwd=here, check=False, capture_output=True)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    told = re.findall(r"component (\d) on \S+: (\{.*?\n\})", done.stdout, re.S)
    assert [number for number, _ in told] == ["0", "1", "2"]
    clusters = [part["cluster"] for part in json.loads(told[0][1])["components"]]
    assert sorted(clusters) == ["delft", "lab", "leiden"]
    assert "Traceback" not in done.stderr
