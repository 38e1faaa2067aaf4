"""A wheel has all that its source has, and works where there is no source."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from tests.installation.building import ROOT, source, wheel
from tests.testbed.processes import captured

pytestmark = pytest.mark.xdist_group("wheel")  # it is built once


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    return wheel(source(folder / "source"), folder / "wheels")


def files_of(folder: Path) -> set[str]:
    """All files of a folder of the source."""
    return {
        str(path.relative_to(ROOT))
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_every_file_of_the_package_is_in_the_wheel(built: Path) -> None:
    names = set(zipfile.ZipFile(built).namelist())
    expected = files_of(ROOT / "metabroker")
    assert "metabroker/clusters/gate/wrapper.sh" in expected
    assert "metabroker/experiments/data/claims.csv" in expected
    assert expected - names == set()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"metabroker"}


def test_a_wheel_brings_the_unit_and_the_examples(built: Path) -> None:
    names = zipfile.ZipFile(built).namelist()
    shared = {name.split("/share/metabroker/")[-1] for name in names if "/data/share/" in name}
    assert shared == files_of(ROOT / "systemd") | files_of(ROOT / "configs")


def test_what_is_unpacked_runs(built: Path, tmp_path: Path) -> None:
    code = tmp_path / "code"
    zipfile.ZipFile(built).extractall(code)
    program = f"import sys; sys.path.insert(0, {str(code)!r}); import metabroker.cli.main as m"
    check = f"assert m.__file__.startswith({str(code)!r}); m.main()"
    done = captured([sys.executable, "-P", "-c", f"{program}; {check}", "--version"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
