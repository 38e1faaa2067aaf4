"""The reference in docs/ is what the code says, and nobody's name is ever a label."""

from __future__ import annotations

from pathlib import Path

from prometheus_client import CollectorRegistry

from metabroker.metrics.exporter import Exporter
from metabroker.metrics.reference import _STATUS, families, labels, reference

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


def test_how_the_retention_goes_on() -> None:
    told = {
        "removed": {"job": 3, "events": 0, "script": 2},
        "failures": 1,
        "last_run": 1e9,
        "trouble": "disk full",
    }
    registry = CollectorRegistry()
    registry.register(Exporter(lambda: {**_STATUS, "history": told}, list))

    def value(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"metabroker_history_{name}", labels)

    assert [value("removed_total", kind=kind) for kind in ("job", "script")] == [3, 2]
    assert (value("failures_total"), value("stuck")) == (1, 1)
    assert value("last_run_timestamp_seconds") == 1e9
