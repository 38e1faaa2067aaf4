"""Released tools, as the package index has them, before front ends over two real clusters: both of
Slurm, and one of Slurm and a live OpenPBS, where METABROKER_TEST_PBS names one.

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
from tests.daemon.kinds import Kind, Slurm
from tests.daemon.pbs import live, mixed
from tests.testbed import SlurmCluster

TOOLS = os.environ.get("METABROKER_TEST_TOOLS", "")
SECONDS = 600.0  # for one program of a tool
OF_PBS = {"names": {"queue": {"batch": "workq"}}}
Run = Callable[[str], str]


@pytest.fixture(params=["slurm", live("mixed")])
def kind(request: pytest.FixtureRequest, clusters: dict[str, SlurmCluster]) -> Kind:
    """Leiden and lab, both of Slurm; `mixed`: leiden is an OpenPBS."""
    if not TOOLS:
        pytest.skip("`make tools` runs it: it needs packages of the index")
    return mixed(lambda: Slurm(clusters)) if request.param == "mixed" else Slurm(clusters)


@pytest.fixture
def site(kind: Kind, make_site: MakeSite) -> Site:
    """A daemon over two clusters of the same partition, which is a queue of another name in one of
    PBS; tools name a wckey, which it drops."""
    made = make_site(kind)
    made.configure({"drop_options": ["wckey"]})
    with made.changing() as text:
        kept = {name: text["clusters"][name] for name in ("leiden", "lab")}
        text["clusters"] = {
            name: {**each, **(OF_PBS if each["system"] == "openpbs" else {"partition": "batch"})}
            for name, each in kept.items()
        }
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
