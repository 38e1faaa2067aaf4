"""The compiled form (setup.py) and the interpreted one: the same results, bit for bit."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.testbed.processes import captured

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("schedules.py").read_text(encoding="utf-8")
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")


Done = subprocess.CompletedProcess[str]


def run(folder: Path, command: Sequence[str], **environment: str) -> Done:
    """A command of Python's that finds the package in a folder."""
    return captured(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), **environment},
    )


def output(folder: Path, *command: str) -> Done:
    """The same; it must succeed."""
    result = run(folder, command)
    assert result.returncode == 0, result.stderr
    return result


def source(folder: Path) -> Path:
    """A copy of what is compiled, without what an earlier build may have left."""
    ignore = shutil.ignore_patterns("__pycache__", f"*{SUFFIX}")
    shutil.copytree(ROOT / "metabroker", folder / "metabroker", ignore=ignore)
    shutil.copy(ROOT / "setup.py", folder)
    return folder


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled form in a folder of its own. Not optimized: that takes twice as long."""
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no C compiler ({compiler}): the compiled form is left out")
    for module in ("setuptools", "mypyc"):
        if find_spec(module) is None:
            pytest.skip(f"{module} is not installed: the compiled form is left out")
    folder = source(tmp_path_factory.mktemp("compiled"))
    made = run(
        folder,
        ("setup.py", "build_ext", "--inplace"),
        METABROKER_COMPILE="1",
        MYPYC_OPT_LEVEL="0",
    )
    assert made.returncode == 0, made.stderr
    return folder


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.xdist_group("compiled")
def test_every_policy_makes_the_same_schedules_compiled_and_interpreted(compiled: Path) -> None:
    fast, slow = output(compiled, "-c", PROGRAM), output(ROOT, "-c", PROGRAM)
    assert fast.stderr.strip().endswith(SUFFIX)
    assert slow.stderr.strip().endswith(".py")
    assert len(json.loads(slow.stdout)) > 100
    assert fast.stdout == slow.stdout


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.xdist_group("compiled")
@pytest.mark.parametrize(
    ("scenario", "settings"),
    [
        ("four-clusters", ("policy=[GS,LS-DO,LP-GF]", "jobs=1000", "replications=2")),
        ("batch", ("policy=[FCFS,FPFS]",)),
        ("job-mix", ("policy=[AFCFS-BS,LG-SS]", "jobs=1000", "replications=2")),
        ("last-year", ("policy=[EASY,MULTI-SITE]",)),
    ],
)
def test_simulate_prints_the_same_compiled_and_interpreted(
    compiled: Path, scenario: str, settings: Sequence[str]
) -> None:
    """On two processes, so that what is sent between them is compared too."""
    command = ["-m", "metabroker", "simulate", str(ROOT / f"configs/simulate/{scenario}.yaml")]
    command += ["--json", "--processes", "2"]
    for setting in settings:
        command += ["--set", setting]
    fast, slow = output(compiled, *command).stdout, output(ROOT, *command).stdout
    assert without_speed(fast) == without_speed(slow)


def without_speed(text: str) -> str:
    """Everything but the one figure that is a time of this machine."""
    lines = text.splitlines()
    kept = [line for line in lines if '"jobs_per_second"' not in line]
    assert len(kept) < len(lines)
    return "\n".join(kept)


def test_a_build_that_cannot_compile_says_why_and_what_to_do(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    command = ("setup.py", "build_ext", "--inplace")
    asked = {"METABROKER_COMPILE": "1"}
    without = run(source(tmp_path), command, CC="/nowhere/cc", **asked)
    assert without.returncode == 1
    assert "there is no C compiler (/nowhere/cc is not found)" in without.stderr
    assert "Without the variable the interpreted form is installed" in without.stderr
    editable = run(tmp_path, ("setup.py", "develop"), **asked)
    assert editable.returncode == 1
    assert "an editable installation runs the source" in editable.stderr


def test_nothing_is_compiled_unless_it_is_asked_for(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    built = run(source(tmp_path), ("setup.py", "build_ext", "--inplace"), METABROKER_COMPILE="")
    assert built.returncode == 0, built.stderr
    assert not list(tmp_path.rglob(f"*{SUFFIX}"))
