"""What the daemon counts and measures as it goes: one registry, every metric declared once.

Seconds, processors and processor-seconds throughout; no job, user or token is ever a label, so the
number of time series depends on the configuration alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

SINGLE, CO_ALLOCATED = "single", "co-allocated"
_HOUR, _DAY = 3600.0, 86400.0
_LONG = (1, 5, 15, 60, 300, 900, _HOUR, 4 * _HOUR, 12 * _HOUR, _DAY, 3 * _DAY, 7 * _DAY)
_SLOWDOWN = (1, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000)
_SKEW = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_BARRIER = (0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
_COMMAND = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
_PASS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3)
_TURN = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.5, 1, 3, 10)
_STORE = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10)


@dataclass(frozen=True, slots=True)
class _Make:
    """Makes them in one registry."""

    registry: CollectorRegistry

    def counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"metabroker_{name}", text, labels, registry=self.registry)

    def gauge(self, name: str, text: str) -> Gauge:
        return Gauge(f"metabroker_{name}", text, registry=self.registry)

    def histogram(
        self, name: str, text: str, buckets: tuple[float, ...], *labels: str
    ) -> Histogram:
        whole = f"metabroker_{name}"
        return Histogram(whole, text, labels, registry=self.registry, buckets=buckets)


class Meters:
    """All counters and histograms. Thread-safe, as prometheus-client's are."""

    def __init__(self, registry: CollectorRegistry) -> None:
        make = _Make(registry)
        self._count_jobs(make)
        self._count_line(make)
        self._count_plans(make)
        self._count_coallocation(make)
        self._count_clusters(make)
        self.scheduling = make.histogram(
            "scheduling_pass_seconds", "Duration of one pass of the policy over all queues.", _PASS
        )
        self.store = make.histogram(
            "store_commit_seconds", "Duration of one transaction, until it is durable.", _STORE
        )
        self.turns = make.histogram(
            "turn_seconds",
            "Duration of one turn of the core, in which it does nothing else.",
            _TURN,
        )
        self.longest_turn = make.gauge(
            "longest_turn_seconds", "The longest turn of the core since the daemon began."
        )
        self._longest = 0.0
        for kind in (SINGLE, CO_ALLOCATED):  # from 0 on, not from the first event on
            for meter in (self.submitted, self.waiting, self.response, self.slowdown):
                meter.labels(kind)
        self.attempts.labels("committed", "")

    def _count_jobs(self, make: _Make) -> None:
        self.submitted = make.counter("jobs_submitted", "Jobs that were accepted.", "kind")
        self.ended = make.counter("jobs_ended", "Jobs that have ended, by their final state.",
                             "kind", "state")  # fmt: skip
        self.waiting = make.histogram(
            "job_waiting_seconds",
            "Time from submission to start, of jobs that started and have ended.", _LONG, "kind",
        )  # fmt: skip
        self.response = make.histogram(
            "job_response_seconds",
            "Time from submission to end, of jobs that started and have ended.", _LONG, "kind",
        )  # fmt: skip
        self.slowdown = make.histogram(
            "job_bounded_slowdown",
            "Response time divided by run time (at least 10 s); never below 1.",
            _SLOWDOWN, "kind",
        )  # fmt: skip

    def _count_line(self, make: _Make) -> None:
        self.siblings = make.counter(
            "line_siblings",
            "Siblings of waiting jobs in clusters' own queues, by what became of them (made, won, "
            "withdrawn).", "cluster", "outcome",
        )  # fmt: skip
        self.gate_idle = make.counter(
            "line_gate_processor_seconds",
            "Processor-seconds that siblings which did not win have held, from when they were "
            "seen at their gates, or running, until nothing of them was left.", "cluster",
        )  # fmt: skip

    def _count_coallocation(self, make: _Make) -> None:
        self.attempts = make.counter(
            "coallocation_attempts",
            "Attempts to co-allocate, by result (committed, rolled-back) and the cause of a "
            "rollback: a component's, or cancelled, held, drained, put-off (its plan), deadline.",
            "result", "cause",
        )  # fmt: skip
        self.skew = make.histogram(
            "coallocation_start_skew_seconds",
            "Time from the first to the last component's start, as the components record them.",
            _SKEW,
        )  # fmt: skip
        self.barrier = make.histogram(
            "barrier_wait_seconds",
            "Time from a component's arrival at the barrier until the barrier opens.",
            _BARRIER, "cluster",
        )  # fmt: skip
        self.reserved_idle = make.counter(
            "reserved_idle_processor_seconds",
            "Processor-seconds reserved for co-allocated jobs before they ran: from the "
            "reservation to the start, or to the rollback.", "cluster",
        )  # fmt: skip

    def _count_plans(self, make: _Make) -> None:
        self.plans = make.counter(
            "plans",
            "Plans of co-allocated jobs, by what became of them: made (held in all clusters), "
            "started, given-up (the job is planned anew, or was ended).", "outcome",
        )  # fmt: skip
        self.lateness = make.histogram(
            "plan_lateness_seconds",
            "Time by which the barrier of a planned job opened later than the time that it was "
            "given first in that attempt; 0: then, or earlier.", _BARRIER,
        )  # fmt: skip

    def _count_clusters(self, make: _Make) -> None:
        self.submissions = make.counter(
            "component_submissions",
            "Answers of clusters to submissions: accepted; refused; unknown (no answer, asked "
            "again); adopted (found, or taken, when asked again).", "cluster", "outcome",
        )  # fmt: skip
        self.command = make.histogram(
            "command_seconds", "Duration of the commands of a cluster's client tools.", _COMMAND,
            "cluster", "command",
        )  # fmt: skip
        self.command_errors = make.counter(
            "command_errors",
            "Commands that failed (exit code not 0), were lost (no answer, cut off) or missing "
            "(could not be run).", "cluster", "command", "error",
        )  # fmt: skip

    def took(self, what: str, seconds: float) -> None:
        """A "pass" of the policy, a "commit" of the store, or a whole "turn" took so long."""
        if what == "turn":
            self.turns.observe(seconds)
            self._longest = max(self._longest, seconds)
            self.longest_turn.set(self._longest)
        else:
            (self.scheduling if what == "pass" else self.store).observe(seconds)
