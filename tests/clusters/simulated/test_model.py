"""The model: never more processors in use than there are, reservations exact."""

from __future__ import annotations

import json

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
)

from metabroker.clusters.simulated.adapter import observe
from metabroker.clusters.simulated.model import Denied, Model, SimulatedJob, State, of_names
from tests.share import share

SIZE = 32
SIZES = st.integers(1, SIZE + 4)


class Machine(RuleBasedStateMachine):
    """Local users and a broker on one cluster, which may give whole nodes, in any order."""

    jobs = Bundle("jobs")
    reservations = Bundle("reservations")

    def __init__(self) -> None:
        super().__init__()
        self.model = Model(SIZE)
        self.now = 1000.0
        self.count = 0

    @initialize(node=st.sampled_from([1, 4]), sole=st.booleans())
    def give_nodes(self, node: int, sole: bool) -> None:
        self.model.node, self.model.sole = node, sole

    @rule(
        target=jobs, processors=SIZES, limit=st.integers(1, 100), on=st.sampled_from([0, 0, 2, 9])
    )
    def submit(self, processors: int, limit: int, on: int) -> SimulatedJob | None:
        try:
            return self.model.submit("local", processors, limit, self.now, nodes=on, most=on + 1)
        except Denied as denied:
            assert self.model.whole(processors, on) > SIZE and not denied.busy
            return None

    @rule(target=reservations, processors=SIZES, seconds=st.integers(1, 200))
    def reserve(self, processors: int, seconds: int) -> str | None:
        self.count += 1
        name = f"r{self.count}"
        idle = self.model.idle()
        try:
            made = self.model.reserve(name, processors, self.now, self.now + seconds)
        except Denied as denied:
            assert self.model.whole(processors) > idle and denied.busy
            return None
        assert made.processors == self.model.whole(processors) <= idle
        assert self.model.idle() == idle - made.processors, "exactly as many are kept"
        return name

    @rule(target=jobs, name=reservations, processors=SIZES)
    def submit_into(self, name: str | None, processors: int) -> SimulatedJob | None:
        if name is None:
            return None
        there = self.model.reservations.get(name)
        try:
            return self.model.submit(name, processors, 50, self.now, reservation=name)
        except Denied:
            assert there is None or processors > there.processors
            return None

    @rule(name=consumes(reservations))
    def delete(self, name: str | None) -> None:
        if name is None:
            return
        users = [j for j in self.model.jobs.values() if j.reservation == name]
        try:
            self.model.unreserve(name)
        except Denied:
            assert any(not job.state.ended for job in users)
        else:
            assert name not in self.model.reservations

    @rule(job=jobs, state=st.sampled_from([s for s in State if s.ended]))
    def end(self, job: SimulatedJob | None, state: State) -> None:
        if job is None:
            return
        before = (job.state, job.end_time)
        self.model.end(job, state, self.now)
        if before[0].ended:
            assert (job.state, job.end_time) == before, "an end is final"

    @rule(seconds=st.integers(0, 400))
    def time_passes(self, seconds: int) -> None:
        self.now += seconds
        pending = [j for j in self.model.jobs.values() if j.state is State.PENDING]
        started = self.model.advance(self.now)
        assert [job for job in pending if job in started] == started, "in the order they came"
        assert all(j.state is State.RUNNING and j.start_time == self.now for j in started)
        for job in self.model.overdue(self.now):
            assert job.start_time is not None and job.start_time + job.limit <= self.now

    @precondition(lambda self: self.model.jobs or self.model.reservations)
    @rule()
    def restart(self) -> None:
        data = json.loads(json.dumps(self.model.to_json()))
        again = Model(SIZE, node=self.model.node, sole=self.model.sole)
        again.from_json(data)
        assert again == self.model

    @invariant()
    def never_more_than_there_are(self) -> None:
        assert 0 <= self.model.held_by_jobs() <= SIZE
        assert self.model.held_by_jobs() <= self.model.busy() <= SIZE
        assert self.model.idle() == SIZE - self.model.busy()

    @invariant()
    def nodes_are_whole(self) -> None:
        alone = [j for j in self.model.jobs.values() if self.model.sole or j.nodes]
        assert all(job.held % self.model.node == 0 for job in alone)
        assert not self.model.sole or self.model.busy() % self.model.node == 0

    @invariant()
    def jobs_stay_within_their_reservations(self) -> None:
        for name, reservation in self.model.reservations.items():
            assert self.model.held_by_jobs(name) <= reservation.processors


Machine.TestCase.settings = settings(max_examples=share(60), stateful_step_count=40, deadline=None)
TestModel = Machine.TestCase


def test_first_come_first_served_outside_reservations() -> None:
    model = Model(10)
    first, wide, small = (model.submit("x", n, 100, 0.0) for n in (6, 8, 2))
    assert model.advance(0.0) == [first]
    assert (wide.state, small.state) == (State.PENDING, State.PENDING), "nobody overtakes"
    model.end(first, State.COMPLETED, 5.0, 0)
    assert model.advance(5.0) == [wide, small]


def test_a_job_in_a_reservation_needs_not_wait_for_others() -> None:
    model = Model(10)
    model.submit("local", 8, 100, 0.0)
    model.advance(0.0)
    model.submit("local", 8, 100, 0.0)
    model.reserve("r", 2, 0.0, 50.0)
    mine = model.submit("mine", 2, 40, 0.0, reservation="r")
    assert model.advance(1.0) == [mine]


def test_a_reservation_begins_and_ends() -> None:
    model = Model(10)
    model.reserve("r", 4, 10.0, 20.0)
    job = model.submit("mine", 4, 100, 0.0, reservation="r")
    assert model.advance(9.0) == []
    assert model.advance(10.0) == [job]
    assert model.idle() == 6
    model.advance(20.0)
    assert "r" not in model.reservations
    assert model.idle() == 6, "its job still runs"


def test_a_name_is_unique_and_a_reservation_in_use_stays() -> None:
    model = Model(10)
    model.reserve("r", 4, 0.0, 20.0)
    with pytest.raises(Denied, match="exists"):
        model.reserve("r", 4, 0.0, 20.0)
    job = model.submit("mine", 4, 100, 0.0, reservation="r")
    with pytest.raises(Denied, match="in use"):
        model.unreserve("r")
    model.end(job, State.CANCELLED, 1.0)
    model.unreserve("r")
    model.unreserve("r")


def test_ended_jobs_are_forgotten_in_time() -> None:
    model = Model(10, remember=300.0)
    job = model.submit("mb-x", 1, 10, 0.0)
    model.advance(0.0)
    model.end(job, State.COMPLETED, 100.0, 0)
    model.advance(400.0)
    assert model.named("mb-x") == [job] and of_names(model.jobs.values(), "mb-") == [job]
    model.advance(400.1)
    assert model.named("mb-x") == []
    assert model.submit("x", 1, 10, 0.0).id == job.id + 1, "a number is not issued again"


def test_down_processors_take_no_jobs() -> None:
    model = Model(10, down=8)
    assert model.idle() == 2
    job = model.submit("x", 4, 10, 0.0)
    assert model.advance(0.0) == []
    model.down = 0
    assert model.advance(1.0) == [job]


def test_the_liveliest_of_a_name_comes_first() -> None:
    model = Model(10)
    dead, running, waits = (model.submit("t", 4, 10, 0.0) for _ in range(3))
    model.end(dead, State.CANCELLED, 0.0)
    model.advance(0.0)
    waits.state = State.PENDING
    assert [job.id for job in model.named("t")] == [waits.id, running.id, dead.id]


def test_a_reservation_of_later_lets_through_what_is_over_by_then() -> None:
    model = Model(8)
    model.submit("runs", 2, 600, 0.0)
    model.advance(0.0)
    model.reserve_ahead("maintenance", 8, 100.0, 200.0)
    assert (model.idle(), model.idle(100.0), model.idle(101.0)) == (6, 6, 0)
    long, short = model.submit("long", 4, 101, 0.0), model.submit("short", 4, 100, 0.0)
    assert model.advance(0.0) == [short]
    with pytest.raises(Denied) as refused:
        model.reserve("ours", 2, 0.0, 150.0)
    assert refused.value.busy
    (coming,) = observe(model, 0.0, "mb-").coming
    assert (coming.name, coming.start, coming.processors, coming.idle) == (
        *("maintenance", 100.0, 8, 2),
    )
    model.end(short, State.COMPLETED, 50.0)
    assert model.advance(100.0) == [] and model.idle() == 0
    assert observe(model, 100.0, "mb-").coming == ()
    assert model.advance(200.0) == [long]


def test_a_job_that_is_over_its_limit_keeps_others_out_of_a_reservation_that_has_begun() -> None:
    model = Model(16)
    over = model.submit("over", 12, 50.0, 0.0)
    model.advance(0.0)
    model.promise("later", 8, 60.0, 200.0, 0.0)
    inside = model.submit("inside", 8, 100.0, 1.0, reservation="later")
    model.advance(60.0)
    assert inside.start_time is None
    model.end(over, State.TIMEOUT, 61.0)
    model.advance(61.0)
    assert inside.state is State.RUNNING


def test_a_promise_counts_running_jobs_to_their_limits_and_can_begin_earlier() -> None:
    model = Model(16)
    model.submit("local", 12, 100.0, 0.0)
    (running,) = model.advance(0.0)
    with pytest.raises(Denied):
        model.promise("early", 8, 50.0, 200.0, 0.0)
    model.promise("later", 8, 100.0, 200.0, 0.0)
    assert (model.busy(), model.idle()) == (12, 4)
    with pytest.raises(Denied):
        model.promise("more", 9, 150.0, 250.0, 0.0)
    with pytest.raises(Denied):
        model.move("later", 90.0, 10.0)
    assert model.reservations["later"].ahead
    model.end(running, State.COMPLETED, 20.0, 0)
    model.move("later", 50.0, 20.0)
    assert model.reservations["later"].ahead and model.reservations["later"].start == 50.0
    model.move("later", 20.0, 20.0)
    assert (model.busy(), model.reservations["later"].end) == (8, 200.0)


def test_jobs_hold_the_nodes_that_they_ask_for_whole() -> None:
    model = Model(40, node=8, sole=True)
    small, spread, wide = (
        model.submit("mb-x", 1, 100, 0.0),
        model.submit("mb-y", 2, 100, 0.0, nodes=2, most=2),
        model.submit("mb-z", 3, 100, 0.0, nodes=1, most=3),
    )
    waits = model.submit("local", 1, 100, 0.0)
    assert model.advance(0.0) == [small, spread, wide]
    assert [model.takes(job) for job in (small, spread, wide)] == [8, 16, 16], "what is idle"
    seen = observe(model, 0.0, "mb-")
    assert (seen.busy, seen.ours) == (40, {"mb-x": 8, "mb-y": 16, "mb-z": 16})
    assert seen.jobs["mb-y"].processors == 16 and seen.waiting == 8
    assert sorted(held.processors for held in seen.held or ()) == [8, 16, 16]
    assert [wanted.processors for wanted in seen.wanted] == [8]
    model.end(small, State.COMPLETED, 1.0)
    assert model.advance(1.0) == [waits]
    with pytest.raises(Denied, match="48 processors asked for, at most 40"):
        model.submit("local", 6, 100, 0.0, nodes=6)


def test_a_state_of_shared_nodes_is_read_where_they_are_whole_now() -> None:
    """What ran then has what it had; what starts now has whole nodes."""
    before = Model(16)
    before.submit("runs", 5, 100, 0.0)
    before.advance(0.0)
    before.reserve("r", 3, 0.0, 50.0)
    before.submit("inside", 3, 40, 0.0, reservation="r")
    before.submit("waits", 9, 100, 0.0)
    data = before.to_json()
    for job in data["jobs"]:  # as it was written before there were such
        for key in ("nodes", "most", "held"):
            del job[key]
    model = Model(16, node=8, sole=True)
    model.from_json(data)
    assert model.busy() == 8
    runs, inside, waits = model.jobs.values()
    assert model.advance(1.0) == [inside]
    assert (model.takes(runs), model.takes(inside), model.takes(waits)) == (5, 3, 16)
    for job in (runs, inside):
        model.end(job, State.COMPLETED, 2.0)
    model.unreserve("r")
    assert model.advance(2.0) == [waits] and model.busy() == 16
