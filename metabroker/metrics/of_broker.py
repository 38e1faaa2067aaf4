"""What every broker tells of itself, whether it leads or stands by."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge

REFUSALS = (
    "invalid", "unauthenticated", "forbidden", "not_found", "too_slow", "conflict", "too_large",
    "too_often", "unavailable", "too_many_connections", "tls",
)  # fmt: skip
"""Why requests are refused."""


class OfBroker:
    """Its part among the brokers of its store, and whom it has refused."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.refused = Counter(
            "metabroker_requests_refused",
            "Users' requests and connections that were refused, by reason.",
            ["reason"],
            registry=registry,
        )
        self.leader = Gauge(
            "metabroker_leader",
            "1 if this broker leads, 0 if it is a stand-by; a single broker leads.",
            registry=registry,
        )
        self.term = Gauge(
            "metabroker_term",
            "The term in which this broker leads, 0 if it is a stand-by; each take-over begins a "
            "new one.",
            registry=registry,
        )
        for reason in REFUSALS:
            self.refused.labels(reason)

    def leads(self, term: int) -> None:
        """It does, from now on."""
        self.leader.set(1)
        self.term.set(term)
