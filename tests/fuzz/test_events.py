"""Whatever is told of one job: the core goes on, both kinds of text and number can be stored, and
another job is not touched."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from metabroker.broker.events import (
    Armed,
    Arrived,
    Cleaned,
    Discarded,
    Ended,
    Event,
    Fetched,
    GaveUp,
    Opened,
    Refused,
    Reserved,
    Staged,
    Started,
    Submitted,
    Unsure,
)
from metabroker.broker.states import Cause, Step
from metabroker.broker.tokens import Ref
from metabroker.store import Transaction
from tests.broker.script import Script

from .cases import fuzzed

TEXT = st.text(st.characters(), max_size=50)  # half characters and NUL among them
LONG = st.one_of(TEXT, st.integers(1, 3).map(lambda n: "h " * n * 100_000))
TIME = st.one_of(st.none(), st.floats(), st.integers(-(2**70), 2**70))
KNOWN = st.one_of(st.floats(), st.integers(-(2**70), 2**70))
CODE = st.integers(-(2**70), 2**70)
REFS = st.builds(Ref, st.just(1), st.integers(0, 2), st.integers(0, 2))
CAUSES, STEPS = st.sampled_from(list(Cause)), st.sampled_from(list(Step))
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(Staged, REFS, CODE, CODE),
    st.builds(Reserved, REFS, TIME, TIME),
    st.builds(Submitted, REFS, LONG, TIME),
    st.builds(Armed, REFS),
    st.builds(Opened, REFS),
    st.builds(
        Cleaned, REFS, st.booleans(), TIME, TIME, st.one_of(st.none(), CODE),
        st.one_of(st.none(), CAUSES), st.booleans(),
    ),
    st.builds(Fetched, REFS, CODE, CODE, LONG),
    st.builds(Discarded, REFS),
    st.builds(Refused, REFS, STEPS, CAUSES, LONG),
    st.builds(Unsure, REFS, STEPS, LONG, st.booleans()),
    st.builds(Arrived, REFS, LONG),
    st.builds(Started, REFS, KNOWN, LONG),
    st.builds(Ended, REFS, KNOWN, CODE, st.booleans()),
    st.builds(GaveUp, REFS),
)  # fmt: skip


@given(st.booleans(), st.lists(EVENTS, min_size=1, max_size=12))
@fuzzed
def test_any_events_of_one_job(together: bool, events: list[Event]) -> None:
    script = Script()
    try:
        script.play("begin clusters=delft:64,leiden:64,lab:64")
        script.play("look delft leiden lab")
        script.play(f"submit on={'delft:4,leiden:4' if together else 'delft:4'}")
        script.play("submit on=lab:4 user=bob")
        script.play("submitted 2.1.0")
        script.play("started 2.1.0")
        bench = script.bench
        assert bench is not None
        other = bench.broker.view.jobs[2]
        before = (other.state, other.attempt, other.reason)
        for event in events:
            bench.broker.handle(event, bench.now)
            bench.broker.schedule(bench.now)
            ready = bench.broker.take()
            memory = {"clusters": bench.names.names, "memory": bench.broker.view.policy_state()}
            bench.store.commit(Transaction(ready, memory=memory), bench.names)
            assert all(mishap.job in (None, 1) for mishap in ready.mishaps)
            assert bench.broker.view.jobs[2] is other
            assert (other.state, other.attempt, other.reason) == before
        # What is in the store can be taken up again, and tells the same.
        again = bench.restored()
        assert {n: job.state for n, job in again.view.jobs.items()} == {
            n: job.state for n, job in bench.broker.view.jobs.items()
        }
    finally:
        script.close()
