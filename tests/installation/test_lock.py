"""What the daemon, and the build of its package, need: by version and hash."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

from metabroker import __version__

ROOT = Path(__file__).parents[2]
_PIN = re.compile(
    r"([a-z0-9][a-z0-9.-]*)==([^ ;]+)(?: ; [^\\]+)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)"
)


def pins(text: str) -> dict[str, set[str]]:
    """Versions by name; every line of it must belong to one."""
    rest = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    found: dict[str, set[str]] = {}
    for match in _PIN.finditer(rest):
        found.setdefault(match[1], set()).add(match[2])
    assert not _PIN.sub("", rest).strip(), "all of it is pinned by version and hash"
    return found


def test_it_fits_what_the_package_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = pins((ROOT / "requirements-lock.txt").read_text())
    wanted = [*project["dependencies"], *project["optional-dependencies"]["postgresql"]]
    for text in wanted:
        asked = Requirement(text)
        name = re.sub(r"[-_.]+", "-", asked.name).lower()
        assert name in found, f"{name} is not in it: make lock"
        fits = [version for version in found[name] if asked.specifier.contains(version)]
        assert fits, f"{name} {found[name]} is not {asked.specifier}: make lock"


def test_the_tools_of_the_packages_build_are_pinned_too() -> None:
    found = pins((ROOT / "debian/requirements.txt").read_text())
    wanted = (ROOT / "debian/requirements.in").read_text().splitlines()
    for asked in (Requirement(line) for line in wanted if not line.startswith("#")):
        assert all(asked.specifier.contains(version) for version in found[asked.name])
    # Manual pages are made of the commands with the libraries of both.
    libraries = pins((ROOT / "requirements-lock.txt").read_text())
    assert all(libraries.get(name, versions) == versions for name, versions in found.items())


def test_they_name_no_registry() -> None:
    for name in ("requirements-lock.txt", "debian/requirements.txt"):
        assert "://" not in (ROOT / name).read_text()


def test_the_debian_package_has_the_programs_version() -> None:
    first = (ROOT / "debian/changelog").read_text().splitlines()[0]
    assert first.startswith(f"metabroker ({__version__}) ")
