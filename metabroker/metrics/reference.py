"""The reference of all metrics, made from the code: `python -m metabroker.metrics.reference`."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import Metric

from .exporter import Exporter
from .meters import Meters
from .of_broker import OfBroker

_HEAD = """\
# Metrics

What `/metrics` serves. Times in seconds; counters only grow. Written by
`python -m metabroker.metrics.reference > docs/metrics.md`; a test holds it against the code.

| metric | type | labels | |
|---|---|---|---|
"""
_STATUS = {
    "version": "", "policy": "", "jobs_by_queue": [], "queues": {},
    "oldest_wait": {}, "owed_effects": 0, "store": "ok", "uptime_seconds": 0.0,
    "store_behind": None, "history": None,
    "start_times": {"told": 0, "kept": 0, "width": 0.0},
}  # fmt: skip


def families() -> list[Metric]:
    """All metrics of a daemon that has done nothing, by name."""
    registry = CollectorRegistry()
    Meters(registry)
    OfBroker(registry)
    registry.register(Exporter(lambda: _STATUS, list, list))
    ProcessCollector(registry=registry)
    return sorted(registry.collect(), key=lambda family: family.name)


def labels() -> dict[str, tuple[str, ...]]:
    """The labels of each metric, by its name."""
    registry = CollectorRegistry()
    made = [*vars(Meters(registry)).values(), *vars(OfBroker(registry)).values()]
    counted = [meter for meter in made if isinstance(meter, Counter | Gauge | Histogram)]
    found = {meter._name: tuple(meter._labelnames) for meter in counted}
    process = ProcessCollector(registry=None)
    for family in (*Exporter(lambda: _STATUS, list, list).collect(), *process.collect()):
        found[family.name] = tuple(getattr(family, "_labelnames", ()))  # not ours
    return found


def reference() -> str:
    """The reference as Markdown."""
    return _HEAD + "".join(_rows())


def _rows() -> Iterator[str]:
    known = labels()
    for family in families():
        name = family.name + ("_total" if family.type == "counter" else "")
        of = ", ".join(f"`{label}`" for label in known[family.name])
        yield f"| `{name}` | {family.type} | {of} | {family.documentation} |\n"


if __name__ == "__main__":
    print(reference(), end="")
