"""The reference in docs/ is what the code says, and nobody's name is ever a label."""

from __future__ import annotations

from pathlib import Path

from metabroker.metrics.reference import families, labels, reference

DOCS = Path(__file__).parents[2] / "docs" / "metrics.md"
ALLOWED = {
    "cluster", "state", "queue", "kind", "result", "cause", "outcome", "command", "error", "reason",
}  # fmt: skip


def test_the_reference_is_up_to_date() -> None:
    assert DOCS.read_text() == reference()


def test_names_and_labels() -> None:
    for family in families():
        assert family.name.startswith(("metabroker_", "process_"))
        assert family.documentation.endswith(".")
        known = set(labels()[family.name])
        assert known <= ALLOWED or family.name == "metabroker_build_info"
