"""Where Slurm's packages cannot be had, the reason is told in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.testbed import PackagesUnavailable, install
from tests.testbed.apt import machine_mirror


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_not_debian(path: Path, tmp_path: Path) -> None:
    with pytest.raises(PackagesUnavailable, match="not a Debian system"):
        install("bookworm", tmp_path / "cache")


def test_no_network(path: Path, tmp_path: Path) -> None:
    program(path, "dpkg-deb", "")
    program(
        path,
        "apt-get",
        'case "$*" in *print-uris*) echo "\'http://mirror.example/debian/dists/x/InRelease\' x 0";;'
        ' *) echo "E: Temporary failure resolving mirror.example" >&2; exit 100;; esac',
    )
    with pytest.raises(PackagesUnavailable, match="exit 100: E: Temporary failure resolving"):
        install("bookworm", tmp_path / "cache")
    assert list((tmp_path / "cache" / "slurm").iterdir()) == [
        tmp_path / "cache" / "slurm" / "bookworm.lock"
    ]


def test_the_distribution_is_preferred_to_other_sources(path: Path) -> None:
    program(path, "dpkg-deb", "")
    lines = "\n".join(
        f"'http://mirror.example/{name}/dists/{suite}/InRelease' x 0"
        for name, suite in (("tool", "stable"), ("debian", "bookworm"), ("debian", "x-updates"))
    )
    program(path, "apt-get", f"/bin/cat <<'END'\n{lines}\nEND")
    assert machine_mirror() == "http://mirror.example/debian"


def test_no_sources(path: Path) -> None:
    program(path, "dpkg-deb", "")
    program(path, "apt-get", "")
    with pytest.raises(PackagesUnavailable, match="knows no distribution mirror"):
        machine_mirror()
