"""A wheel has all that its source has, and works where there is no source."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.installation.building import ROOT, source, wheel


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    return wheel(source(folder / "source"), folder / "wheels")


def files_of(package: Path) -> set[str]:
    """All files of the package; those behind links (systemd, configs) too."""
    found = set()
    for path in package.iterdir():
        if path.name == "__pycache__":
            continue
        if path.is_dir():
            found |= files_of(path)
        elif path.suffix not in (".pyc", ".so"):
            found.add(str(path.relative_to(ROOT)))
    return found


def test_every_file_of_the_package_is_in_the_wheel(built: Path) -> None:
    names = set(zipfile.ZipFile(built).namelist())
    expected = files_of(ROOT / "metabroker")
    assert "metabroker/clusters/gate/wrapper.sh" in expected
    assert "metabroker/installation/systemd/metabroker.service" in expected
    assert "metabroker/simulation/data/claims.csv" in expected
    assert expected - names == set()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"metabroker"}


def test_what_is_unpacked_installs_a_service(built: Path, tmp_path: Path) -> None:
    code = tmp_path / "code"
    zipfile.ZipFile(built).extractall(code)
    root = tmp_path / "root"
    root.mkdir()
    for words in (["--version"], ["install-service", "--root", str(root)]):
        program = f"import sys; sys.path.insert(0, {str(code)!r}); import metabroker.cli.main as m"
        check = f"assert m.__file__.startswith({str(code)!r}); m.main()"
        done = subprocess.run(
            [sys.executable, "-P", "-c", f"{program}; {check}", *words],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    unit = (root / "etc/systemd/system/metabroker.service").read_text()
    original = (ROOT / "systemd" / "metabroker.service").read_text()
    different = [line for line in unit.splitlines() if line not in original.splitlines()]
    assert len(different) == 1 and different[0].startswith("ExecStart=/")
    beginning = (ROOT / "configs" / "service.yaml").read_text()
    assert (root / "etc/metabroker/metabroker.yaml").read_text() == beginning
