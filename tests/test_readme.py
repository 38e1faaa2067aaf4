"""What the README and the table of docs/security.md name is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_files_that_the_readme_names_exist() -> None:
    named = set(re.findall(r"`((?:tests|configs|metabroker|benchmarks|systemd)/[\w./]+)`", README))
    assert len(named) > 5
    missing = sorted(name for name in named if not (ROOT / name).exists())
    assert not missing, missing


def test_make_targets_that_the_readme_names_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = set(re.findall(r"\bmake ([a-z-]+)", README))
    assert {"clusters-up", "test", "check"} <= named
    missing = sorted(t for t in named if not re.search(rf"^{t}:", makefile, re.M))
    assert not missing, missing


def test_tests_that_the_security_table_names_exist() -> None:
    blocks = (ROOT / "docs" / "security.md").read_text().split("\n\n")
    table = next(block for block in blocks if block.startswith("| attacker |"))
    rows = [line.split("|") for line in table.splitlines()[2:]]
    assert len(rows) > 15
    for row in rows:
        named = re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", row[-2])
        assert named, row
        missing = [name for name in named if not (ROOT / "tests" / name).exists()]
        assert not missing, missing


def test_files_that_the_architecture_and_the_vocabulary_name_exist() -> None:
    for page in ("architecture.md", "vocabulary.md"):
        text = (ROOT / "docs" / page).read_text()
        named = set(re.findall(r"`([a-z_]+/(?:[a-z_]+/)*(?:[a-z_]+\.py)?)`", text))
        assert len(named) > 10
        package = ROOT / "metabroker"
        places = (ROOT, package, package / "clusters", package / "daemon")
        assert not {name for name in named if not any((at / name).exists() for at in places)}, page
