"""What the large benchmarks read: a daemon's metrics, its processor time, and quantiles."""

from __future__ import annotations

import os
import socket
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

_TICK = os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    """A port of this host that nobody has now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def quantile(values: Iterable[float], share: float) -> float:
    """The value below which this share of them lies: one of them, the nearest."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@dataclass(frozen=True, slots=True)
class Spent:
    """Processor seconds of a process, and of its children that have ended."""

    own: float
    children: float

    def since(self, earlier: Spent) -> Spent:
        return Spent(self.own - earlier.own, self.children - earlier.children)


def spent(pid: int) -> Spent:
    """What a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    user, system, of_children, in_system = (int(field) / _TICK for field in fields[11:15])
    return Spent(user + system, of_children + in_system)


class Metrics:
    """One scrape of `/metrics`."""

    def __init__(self, address: str) -> None:
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=60) as answer:
            text = answer.read().decode()
        self._samples = [
            sample for family in text_string_to_metric_families(text) for sample in family.samples
        ]

    def total(self, name: str, labels: Mapping[str, str] | None = None) -> float:
        """The sum of a metric over all that have these labels."""
        wanted = (labels or {}).items()
        return sum(s.value for s in self._samples if s.name == name and wanted <= s.labels.items())


@dataclass(frozen=True, slots=True)
class Histogram:
    """What a histogram has counted between two scrapes."""

    count: float
    seconds: float
    buckets: tuple[tuple[float, float], ...]  # upper bounds, and how many lie below

    @property
    def mean(self) -> float:
        return self.seconds / self.count if self.count else 0.0

    def below(self, share: float) -> float:
        """An upper bound of this share of the observations: that of a bucket."""
        return next(bound for bound, count in self.buckets if count >= share * self.count)


def between(
    before: Metrics, after: Metrics, name: str, labels: Mapping[str, str] | None = None
) -> Histogram:
    """A histogram's observations between two scrapes."""

    def grown(suffix: str, more: Mapping[str, str] | None = None) -> float:
        chosen = {**(labels or {}), **(more or {})}
        return after.total(name + suffix, chosen) - before.total(name + suffix, chosen)

    bounds = sorted(
        {s.labels["le"] for s in after._samples if s.name == f"{name}_bucket"}, key=float
    )
    buckets = tuple((float(le), grown("_bucket", {"le": le})) for le in bounds)
    return Histogram(grown("_count"), grown("_sum"), buckets)
