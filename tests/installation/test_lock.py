"""requirements-lock.txt: what the daemon needs, by version and hash, for those who deploy it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

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


def test_it_names_no_registry() -> None:
    assert "://" not in (ROOT / "requirements-lock.txt").read_text()
