"""Released tools, as the package index has them, before front ends over two real Slurm clusters.

`make tools` installs them into a virtual environment of their own and names it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from metabroker.cli.front_ends import front_ends
from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site
from tests.daemon.kinds import Slurm
from tests.testbed import SlurmCluster

TOOLS = os.environ.get("METABROKER_TEST_TOOLS", "")
SECONDS = 600.0  # for one program of a tool
Run = Callable[[str], str]


@pytest.fixture
def site(clusters: dict[str, SlurmCluster], make_site: MakeSite) -> Site:
    """A daemon over two clusters of the same partition; tools name a wckey, which it drops."""
    if not TOOLS:
        pytest.skip("`make tools` runs it: it needs packages of the index")
    made = make_site(Slurm(clusters))
    made.configure({"drop_options": ["wckey"]})
    with made.changing() as text:
        kept = {name: text["clusters"][name] for name in ("leiden", "lab")}
        text["clusters"] = {name: {**each, "partition": "batch"} for name, each in kept.items()}
    made.start_and_look()
    return made


@pytest.fixture
def run(site: Site, clusters: dict[str, SlurmCluster]) -> Run:
    """Runs a Python program of a tool in `work`, with the front ends in front of PATH; its
    output."""
    folder = site.folder / "front"
    CliRunner().invoke(front_ends, [str(folder)], standalone_mode=False, catch_exceptions=False)
    path = f"{folder}:{Path(TOOLS) / 'bin'}:{clusters['lab'].bin}:{os.environ['PATH']}"
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "PYTHON", "VIRTUAL"))}
    environment = {**kept, "PATH": path, "METABROKER_SOCKET": str(site.socket)}

    def run(program: str) -> str:
        file = site.work / "program.py"
        file.write_text(program)
        words = [str(Path(TOOLS) / "bin" / "python"), str(file)]
        done = subprocess.run(
            words, cwd=site.work, env=environment, capture_output=True, text=True, timeout=SECONDS
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{site.story()}"
        return done.stdout

    return run
