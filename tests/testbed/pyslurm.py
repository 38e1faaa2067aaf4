"""An interpreter that has pyslurm, and the release of Slurm that it is for.

METABROKER_TEST_PYSLURM names it. pyslurm is built against the headers and the library of one
release of Slurm: upstream's tag v22.5.3 fits Debian 12's 22.05 and v24.11.0 trixie's 24.11. Where
its library does not find what it needs, the interpreter may be a script that says where it is.
"""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from tests.testbed.fixtures import RELEASES

VARIABLE = "METABROKER_TEST_PYSLURM"
# Not imported: some releases end the process at once where there is no cluster.
_ASK = """
import importlib.util, pathlib
folder = pathlib.Path(importlib.util.find_spec("pyslurm").origin).parent
print(*(file.read_text() for file in folder.glob("*version*.py")))
"""


def interpreter() -> str:
    """The one that is named; skips where none is."""
    named = os.environ.get(VARIABLE)
    if not named:
        pytest.skip(f"left out, it needs pyslurm: {VARIABLE} names no Python that has it")
    return named


def release(python: str) -> str:
    """The release of Slurm that its pyslurm is for, as "22.05"; fails where it has none."""
    done = subprocess.run(
        [python, "-I", "-c", _ASK], capture_output=True, text=True, timeout=60, check=False
    )
    found = re.search(r'__version__ = "(\d+)\.(\d+)\.', done.stdout)
    name = f"{found[1]}.{int(found[2]):02}" if found else "?"
    if name not in RELEASES:
        said = (
            done.stderr.strip() or f"it is for Slurm {name}, and tests have {', '.join(RELEASES)}"
        )
        pytest.fail(f"{VARIABLE}={python}: {said}", pytrace=False)
    return name
