"""An interpreter that has pyslurm, and the test-bed's clusters of the release that it is for.

METABROKER_TEST_PYSLURM names it. pyslurm is built against the headers and the library of one
release of Slurm: upstream's tag v22.5.3 fits Debian 12's 22.05 and v24.11.0 trixie's 24.11. Where
its library does not find what it needs, the interpreter may be a script that says where it is.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.testbed.fixtures import RELEASES

VARIABLE = "METABROKER_TEST_PYSLURM"
_CONF = "ClusterName=none\nSlurmctldHost=localhost\nNodeName=n1\nPartitionName=all Nodes=n1\n"
_ASK = "import pyslurm; print('%d.%02d' % tuple(pyslurm.slurm_api_version()[:2]))"


def interpreter() -> str:
    """The one that is named; skips where none is."""
    named = os.environ.get(VARIABLE)
    if not named:
        pytest.skip(f"left out, it needs pyslurm: {VARIABLE} names no Python that has it")
    return named


def release(python: str, folder: Path) -> str:
    """The release of Slurm that its pyslurm is for; fails where it cannot be imported."""
    conf = folder / "slurm.conf"
    conf.write_text(f"{_CONF}PluginDir={folder}\n")
    done = subprocess.run(
        [python, "-I", "-c", _ASK],
        env={"SLURM_CONF": str(conf), "PATH": os.defpath},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    found = done.stdout.strip()
    if done.returncode != 0 or found not in RELEASES:
        pytest.fail(f"{VARIABLE}={python}: {found}{done.stderr}", pytrace=False)
    return found
