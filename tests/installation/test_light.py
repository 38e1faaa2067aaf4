"""The light command line: a wheel of its own, under Python 3.9, with click and nothing else."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.kinds import Simulated
from tests.installation.building import ROOT
from tests.security.test_daemon import Far
from tests.testbed.processes import captured

pytestmark = pytest.mark.xdist_group("wheel")


def old_python() -> str | None:
    """A Python 3.9: in PATH, or one of pyenv's."""
    found = [*map(str, Path.home().glob(".pyenv/versions/3.9.*/bin/python"))]
    for python in filter(None, [shutil.which("python3.9"), *found]):
        if subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0:
            return python
    return None


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("light")
    words = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(out)]
    subprocess.run([sys.executable, "-m", "pip", *words, str(ROOT / "light")], check=True)
    (wheel,) = out.glob("metabroker_light-*-py3-none-any.whl")
    return wheel


@pytest.fixture(scope="module")
def commands(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has it, of Python 3.9."""
    python = old_python()
    if python is None:
        pytest.skip("there is no python3.9")
    folder = tmp_path_factory.mktemp("python") / "environment"
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    words = ["install", "--quiet", "--disable-pip-version-check", str(built)]
    subprocess.run([str(folder / "bin" / "python"), "-m", "pip", *words], check=True)
    return folder / "bin"


def imported(code: ast.AST) -> Iterator[str]:
    """Modules that it imports as it begins."""
    for node in ast.iter_child_nodes(code):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module)
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Try):
            yield from imported(node)


def test_it_has_all_that_it_imports(built: Path) -> None:
    files = zipfile.ZipFile(built)
    names = [name for name in files.namelist() if name.endswith(".py")]
    modules = {name[:-3].replace("/", ".").removesuffix(".__init__") for name in names}
    left_out = {
        str(path.relative_to(ROOT).with_suffix("")).replace("/", ".").removesuffix(".__init__")
        for path in (ROOT / "metabroker").rglob("*.py")
    } - modules
    others = set(sys.stdlib_module_names) | {"click", "metabroker"}
    assert len(names) > 50
    for name in names:
        found = set(imported(ast.parse(files.read(name), feature_version=(3, 9))))
        assert not found & left_out, name
        assert {module.split(".")[0] for module in found} <= others, name


def test_each_module_is_there_for_python_3_9(commands: Path) -> None:
    program = (
        "import importlib, pkgutil, sys, metabroker\n"
        "for found in pkgutil.walk_packages(metabroker.__path__, 'metabroker.'):\n"
        "    if not found.name.endswith('__main__'): importlib.import_module(found.name)\n"
        "print(sys.version_info[:2], len([n for n in sys.modules if n.startswith('metabroker.')]))"
    )
    done = captured([str(commands / "python"), "-I", "-c", program])
    assert done.stdout.startswith("(3, 9) "), done.stderr
    packages = captured([str(commands / "python"), "-m", "pip", "list", "--format=json"]).stdout
    found = {each["name"] for each in json.loads(packages)} - {"pip", "setuptools"}
    assert found == {"click", "metabroker-light"}


def test_what_it_does_not_have_is_said(commands: Path) -> None:
    told = captured([str(commands / "metabroker"), "--help"]).stdout
    assert "submit" in told and "serve" not in told
    done = captured([str(commands / "metabroker"), "serve"])
    assert done.returncode == 2
    assert "the light command line cannot do this; use metabroker itself" in done.stderr


@pytest.mark.parametrize("way", ["socket", "token over TLS"])
def test_jobs_are_submitted_looked_at_and_cancelled(
    way: str, commands: Path, make_site: MakeSite, tmp_path: Path
) -> None:
    far = Far(make_site(Simulated()))
    own = {"METABROKER_SOCKET": str(far.site.socket)} if way == "socket" else far.environment
    front = tmp_path / "front"
    environment = {**os.environ, **own, "PATH": f"{front}:{commands}:{os.environ['PATH']}"}

    def ask(*words: str, stdin: str = "") -> str:
        done = captured(list(words), env=environment, cwd=far.site.work, input=stdin)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout.strip()

    ask("metabroker", "front-ends", str(front))
    script = "#!/bin/sh\n#SBATCH -n 2 -t 5\nexit 0\n"
    first = ask("sbatch", "--parsable", stdin=script)
    assert ask("metabroker", "submit", "-n1", "--wait", "--json", "-", stdin=script)
    ask("metabroker", "wait", first)
    assert ask("sacct", "-X", "-n", "-P", "-j", first, "-o", "jobid,state") == f"{first}|COMPLETED"
    array = ask("sbatch", "--parsable", "-H", "-a", "0-3", "--wrap", "exit 0")
    assert ask("squeue", "-h", "-j", array, "-o", "%i %t") == f"{array}_[0-3] PD"
    ask("scontrol", "update", f"JobId={array}", "TimeLimit=7")
    ask("scancel", array)
    assert ask("squeue", "-h", "-j", array, "-t", "all", "-o", "%T") == "CANCELLED"
    assert "PROCS" in ask("metabroker", "clusters")
    assert ask("sinfo", "-h", "-o", "%a")
    assert "TotalNodes=" in ask("scontrol", "show", "partition")
    assert ask("sacctmgr", "-s", "list", "user", "nobody", "format=account")
