"""What is measured of jobs and attempts, by the real core in a time of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from metabroker.broker import tokens
from metabroker.broker.events import (
    Armed,
    Arrived,
    CancelJob,
    Cleaned,
    Ended,
    Observed,
    Refused,
    Reserved,
    Started,
    Submitted,
    Tick,
)
from metabroker.broker.observation import NativeJob, NativeState, Snapshot
from metabroker.broker.outbox import OutboxEntry, Ready
from metabroker.broker.states import Cause, JobState, Step
from metabroker.broker.tokens import Ref
from metabroker.metrics import Meters, OfJobs
from metabroker.runtime.asked import Ask
from metabroker.runtime.engine import Engine
from metabroker.submission.model import Processors
from tests.daemon_units.making import Answers, Failing, ask, engine, looked
from tests.store.making import job as make_job


class Core:
    """A core over delft and leiden, and what is measured of it."""

    def __init__(self, store: Failing) -> None:
        self.registry = CollectorRegistry()
        self.engine: Engine = engine(store, written=OfJobs(Meters(self.registry)).tell)
        self.engine.process([looked(0, 0.0), looked(1, 0.0, 32)], 0.0)
        self.answers = Answers()

    def submit(self, now: float, **given: Any) -> None:
        self.engine.process([ask(self.answers.to("a"), **given)], now)

    def tell(self, now: float, *events: Any) -> None:
        self.engine.process(events, now)

    def value(self, name: str, **labels: str) -> float:
        found = self.registry.get_sample_value(f"metabroker_{name}", labels)
        if found is None:  # it has not been counted yet, which is not to say that nobody counts it
            known = {family.name for family in self.registry.collect()}
            assert f"metabroker_{name}".removesuffix("_total") in known
        return 0.0 if found is None else found


@pytest.fixture
def core() -> Iterator[Core]:
    store = Failing()
    yield Core(store)
    store.close()


A, B = Ref(1, 1, 0), Ref(1, 1, 1)
TWO = Processors(components=(16, 8))


def to_the_barrier(core: Core) -> None:
    """Submitted at 10, reserved at 11 and 13, at the barrier at 20 and 22."""
    core.submit(10.0, processors=TWO)
    core.tell(11.0, Reserved(A))
    core.tell(13.0, Reserved(B))
    core.tell(14.0, Submitted(A, "1"), Submitted(B, "2"))
    core.tell(20.0, Arrived(A))
    core.tell(22.0, Arrived(B))


def test_a_co_allocated_job_from_submission_to_end(core: Core) -> None:
    to_the_barrier(core)
    core.tell(23.0, Armed(A), Armed(B))
    core.tell(26.0, Started(A, 24.0), Started(B, 24.5))
    assert core.value("coallocation_attempts_total", result="committed", cause="") == 1
    assert core.value("coallocation_start_skew_seconds_count") == 1
    assert core.value("coallocation_start_skew_seconds_sum") == 0.5
    waited = [core.value("barrier_wait_seconds_sum", cluster=c) for c in ("delft", "leiden")]
    assert sorted(waited) == [1.0, 3.0]
    idle = core.value("reserved_idle_processor_seconds_total", cluster="delft")
    idle += core.value("reserved_idle_processor_seconds_total", cluster="leiden")
    assert idle == 16 * (26 - 11) + 8 * (26 - 13)
    core.tell(124.0, Ended(A, 124.0, 0), Ended(B, 124.0, 0))
    core.tell(125.0, Cleaned(A, True, 24.0, 124.0, 0), Cleaned(B, True, 24.5, 124.0, 0))
    kind = "co-allocated"
    assert core.value("jobs_submitted_total", kind=kind) == 1
    assert core.value("jobs_ended_total", kind=kind, state="COMPLETED") == 1
    assert core.value("job_waiting_seconds_sum", kind=kind) == 23 - 10
    response = core.value("job_response_seconds_sum", kind=kind)
    assert response == pytest.approx(114, abs=1)
    slowdown = core.value("job_bounded_slowdown_sum", kind=kind)
    assert slowdown == pytest.approx(response / (response - 13))


def test_a_rollback_tells_its_cause_and_what_was_held_in_vain(core: Core) -> None:
    core.submit(10.0, processors=TWO)
    core.tell(11.0, Reserved(A))
    core.tell(15.0, Refused(B, Step.RESERVE, Cause.BUSY, "not free"))
    assert core.value("coallocation_attempts_total", result="rolled-back", cause="busy") == 1
    clusters = [core.value("reserved_idle_processor_seconds_total", cluster=c)
                for c in ("delft", "leiden")]  # fmt: skip
    assert sorted(clusters) == [0.0, 16 * 4.0]
    assert core.value("coallocation_start_skew_seconds_count") == 0


def test_a_users_cancelling_is_no_clusters_fault(core: Core) -> None:
    to_the_barrier(core)
    core.tell(22.5, Ask(CancelJob(1, "anna"), 1, core.answers.to("cancel")))
    labels = {"result": "rolled-back", "cause": "cancelled"}
    assert core.value("coallocation_attempts_total", **labels) == 1
    assert core.value("jobs_ended_total", kind="co-allocated", state="CANCELLED") == 1
    assert core.value("job_response_seconds_count", kind="co-allocated") == 0  # never started


def test_a_barrier_that_is_waited_at_too_long(core: Core) -> None:
    core.submit(10.0, processors=TWO)
    core.tell(11.0, Reserved(A), Reserved(B))
    core.tell(14.0, Submitted(A, "1"), Submitted(B, "2"))
    core.tell(20.0, Arrived(A))
    core.tell(10_000.0, Tick())
    labels = {"result": "rolled-back", "cause": "deadline"}
    assert core.value("coallocation_attempts_total", **labels) == 1


def test_a_single_job(core: Core) -> None:
    core.submit(10.0)
    core.tell(11.0, Submitted(A, "1"))
    core.tell(12.0, Started(A, 12.0))
    core.tell(13.0, Ended(A, 13.0, 3))
    core.tell(14.0, Cleaned(A, True, 12.0, 13.0, 3, Cause.EXIT))
    assert core.value("jobs_ended_total", kind="single", state="FAILED") == 1
    assert core.value("job_bounded_slowdown_sum", kind="single") == 1  # 3 s; runs count as 10 s
    assert core.value("coallocation_attempts_total", result="committed", cause="") == 0


def in_line(core: Core) -> list[Snapshot]:
    """A job is submitted at 2, and is to stand in line in both clusters; what these have shown."""
    wanted = [replace(looked(c, 1.0, n).snapshot, busy=n, waiting=8) for c, n in ((0, 64), (1, 32))]
    core.tell(1.0, *(Observed(cluster, snapshot) for cluster, snapshot in enumerate(wanted)))
    core.submit(2.0, processors=Processors(single=16))
    return wanted


def test_siblings_and_what_they_held_at_their_gates_for_nothing(core: Core) -> None:
    in_line(core)
    assert core.value("line_siblings_total", cluster="delft", outcome="made") == 1
    core.tell(3.0, Submitted(A, "7", 3.0), Submitted(B, "8", 3.0))
    core.tell(9.0, Arrived(B, "node1"))
    assert core.value("line_siblings_total", cluster="leiden", outcome="won") == 1
    assert core.value("line_siblings_total", cluster="delft", outcome="withdrawn") == 1
    # The other one comes up just then, and is cleaned 4 seconds later.
    held = "line_gate_processor_seconds_total"
    core.tell(9.5, Arrived(A, "node2"))
    assert core.value(held, cluster="delft") == 0
    core.tell(13.5, Cleaned(A))
    assert (core.value(held, cluster="delft"), core.value(held, cluster="leiden")) == (16 * 4, 0)


def test_a_withdrawn_sibling_that_is_listed_as_running_holds_its_processors_too(core: Core) -> None:
    wanted = in_line(core)
    core.tell(3.0, Submitted(A, "7", 3.0), Submitted(B, "8", 3.0))
    core.tell(9.0, Arrived(B, "node1"))
    for now, state in ((11.0, NativeState.PENDING), (13.0, NativeState.RUNNING)):
        native = NativeJob("7", 3.0, state, state.value)
        listed = {tokens.make(core.engine.broker.settings.instance, A): native}
        core.tell(now, Observed(0, replace(wanted[0], taken_at=now, jobs=listed)))
    core.tell(23.0, Cleaned(A))
    assert core.value("line_gate_processor_seconds_total", cluster="delft") == 16 * 10


def test_a_withdrawn_sibling_that_never_came_up_has_held_nothing(core: Core) -> None:
    in_line(core)
    core.tell(3.0, Submitted(A, "7", 3.0), Submitted(B, "8", 3.0))
    core.tell(9.0, Arrived(B, "node1"))
    core.tell(13.5, Cleaned(A))
    assert core.value("line_gate_processor_seconds_total", cluster="delft") == 0


def test_plans_are_counted_with_how_late_they_start() -> None:
    registry = CollectorRegistry()
    told, job = OfJobs(Meters(registry)), make_job(1, JobState.RUNNING)
    where = {"clusters": ["delft", "leiden"], "processors": [8, 8]}

    def tell(attempt: int, *entries: tuple[float, str, dict[str, Any]]) -> None:
        journal = [OutboxEntry(at, 1, attempt, what, detail) for at, what, detail in entries]
        told.tell(Ready([job], [], journal, []))

    first = {"start": 50.0, "clusters": ["delft", "leiden"]}
    tell(1, (1, "placed", where), (2, "planned", first), (9, "rolled back", {"why": "lost"}))
    tell(2, (10, "placed", where), (11, "reserved", {"component": 0, "begins": 100.0}))
    tell(2, (12, "planned", first | {"start": 100.0}), (103, "opened", {}))
    tell(2, (104, "started", {"component": 0}))
    found = registry.get_sample_value
    outcomes = {o: found("metabroker_plans_total", {"outcome": o}) for o in ("made", "started")}
    assert outcomes == {"made": 2, "started": 1}
    assert found("metabroker_plans_total", {"outcome": "given-up"}) == 1
    assert found("metabroker_plan_lateness_seconds_sum") == 3
    idle = "metabroker_reserved_idle_processor_seconds_total"
    assert found(idle, {"cluster": "delft"}) == 8 * 4
