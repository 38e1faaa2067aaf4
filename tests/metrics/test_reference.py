"""The reference in docs/ is what the code says, and nobody's name is ever a label."""

from __future__ import annotations

from pathlib import Path

from prometheus_client import CollectorRegistry

from metabroker.metrics.exporter import Exporter
from metabroker.metrics.reference import _STATUS, families, labels, reference

DOCS = Path(__file__).parents[2] / "docs" / "metrics.md"
ALLOWED = {
    "cluster", "state", "queue", "kind", "result", "cause", "outcome", "command", "error", "reason",
    "other",
}  # fmt: skip


def test_the_reference_is_up_to_date() -> None:
    assert DOCS.read_text() == reference()


def test_names_and_labels() -> None:
    for family in families():
        assert family.name.startswith(("metabroker_", "process_"))
        assert family.documentation.endswith(".")
        known = set(labels()[family.name])
        assert known <= ALLOWED or family.name == "metabroker_build_info"


def test_what_was_measured_between_clusters() -> None:
    """What is not known has no value."""
    links = [
        {
            "clusters": ["delft", "leiden"],
            "latency_ms": 2.5,
            "bandwidth_mb_per_s": None,
            "measured": 1e9,
            "said": "",
        }
    ]
    registry = CollectorRegistry()
    registry.register(Exporter(lambda: _STATUS, list, lambda: links))

    def value(name: str) -> float | None:
        labels = {"cluster": "delft", "other": "leiden"}
        return registry.get_sample_value(f"metabroker_link_{name}", labels)

    assert value("latency_seconds") == 0.0025
    assert value("bandwidth_bytes_per_second") is None
    assert value("measured_timestamp_seconds") == 1e9


def test_how_the_retention_goes_on() -> None:
    told = {
        "removed": {"job": 3, "events": 0, "script": 2},
        "failures": 1,
        "last_run": 1e9,
        "trouble": "disk full",
    }
    registry = CollectorRegistry()
    registry.register(Exporter(lambda: {**_STATUS, "history": told}, list, list))

    def value(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"metabroker_history_{name}", labels)

    assert [value("removed_total", kind=kind) for kind in ("job", "script")] == [3, 2]
    assert (value("failures_total"), value("stuck")) == (1, 1)
    assert value("last_run_timestamp_seconds") == 1e9
