"""PSI/J's own tests of its executor for Slurm: no more of them fail over front ends than over one
Slurm cluster's own commands.

METABROKER_TEST_PSIJ names a folder with the `tests` of its repository at the installed version.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from metabroker.cli.front_ends import front_ends
from tests.daemon.harness import Site
from tests.testbed import SlurmCluster
from tests.tools.conftest import TOOLS

SUITE = os.environ.get("METABROKER_TEST_PSIJ", "")
_SECONDS = 3600.0  # that nothing takes which does not hang
pytestmark = pytest.mark.slurm
_FILES = ("test_executor.py", "test_resources.py", "test_wait.py", "test_callbacks.py",
          "test_issue_387_1.py", "test_issue_387_2.py", "test_issue_387_3.py", "test_issue_435.py",
          "test_mpi.py", "test_nodefile.py", "test_staging.py")  # fmt: skip


def failed(site: Site, way: str, launchers: Sequence[str], environment: dict[str, str]) -> set[str]:
    """Which of the tests do not pass, by these of its launchers."""
    python = Path(TOOLS) / "bin" / "python"
    words = [str(python), "-m", "pytest", "-q", "-rfE", "--tb=short", "--timeout=120"]
    words += [
        "--timeout-method=signal",  # by a thread the first of them would end all
        f"--executors={','.join(f'slurm:{name}' for name in launchers)}",
        "--queue-name=batch",
    ]
    files = [str(file) for name in _FILES if (file := Path(SUITE) / "tests" / name).exists()]
    home = site.folder / f"home-{way}"
    home.mkdir()
    done = subprocess.run(
        [*words, *files], cwd=SUITE, env={**environment, "HOME": str(home)}, capture_output=True,
        text=True, timeout=_SECONDS,
    )  # fmt: skip
    last = (done.stdout.splitlines() or [""])[-1]
    print(f"{way}: {last}", file=sys.stderr)
    whole = done.returncode in (0, 1) and re.search(r"\d+ (passed|failed)", last)
    assert whole, done.stdout[-3000:] + done.stderr[-2000:]
    Path(site.folder / f"{way}.log").write_text(done.stdout)
    if "METABROKER_TEST_PSIJ_LOGS" in os.environ:
        name = f"{way}-{'-'.join(launchers)}.log"
        Path(os.environ["METABROKER_TEST_PSIJ_LOGS"], name).write_text(done.stdout)
    return set(re.findall(r"^(?:FAILED|ERROR) \S*?([^/\s]+::\S+)", done.stdout, re.MULTILINE))


@pytest.mark.timeout(2 * _SECONDS + 600)
@pytest.mark.skipif(not SUITE, reason="METABROKER_TEST_PSIJ names its suite")
@pytest.mark.parametrize("launchers", [("single", "multiple"), ("srun",), ("mpirun",)])
def test_no_more_fails_than_over_slurm(
    launchers: Sequence[str], site: Site, clusters: dict[str, SlurmCluster]
) -> None:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "PYTHON", "VIRTUAL"))}
    kept |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    tools, lab = Path(TOOLS) / "bin", clusters["lab"]
    folder = site.folder / "front"
    CliRunner().invoke(front_ends, [str(folder)], standalone_mode=False, catch_exceptions=False)
    slurm = {**kept, **lab.env(), "PATH": f"{tools}:{lab.bin}:{os.environ['PATH']}"}
    slurm.pop("SLURM_TIME_FORMAT", None)
    ours = {**kept, "METABROKER_SOCKET": str(site.socket)}
    ours["PATH"] = f"{folder}:{tools}:{lab.bin}:{os.environ['PATH']}"
    found = failed(site, "metabroker", launchers, ours)
    assert found <= failed(site, "slurm", launchers, slurm), found
