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

# Half characters and NUL among them, which are rare among all.
TEXT = st.text(
    st.one_of(st.characters(), st.sampled_from("\ud800\udcff\0\x1b\n\u2028")), max_size=50
)
LONG = st.one_of(TEXT, st.integers(1, 3).map(lambda n: "h " * n * 100_000))
ODD = st.sampled_from([0, 1, 255, 256, -1, 2**63, -(2**63) - 1, 10**23])
CODE = st.one_of(ODD, st.integers(-(2**70), 2**70))
KNOWN = st.one_of(st.floats(), CODE)
TIME = st.one_of(st.none(), KNOWN)
# Most speak of the components that there are; what others say is not heard.
REFS = st.one_of(
    st.just(Ref(1, 1, 0)),
    st.sampled_from([Ref(1, 1, 0), Ref(1, 1, 1), Ref(1, 2, 0)]),
    st.builds(Ref, st.just(1), st.integers(0, 2), st.integers(0, 2)),
)
# How far the job has come before.
LIFE = {
    False: ("submitted", "started"),
    True: ("reserved", "submitted", "arrived", "armed", "opened", "started"),
}
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


@given(st.booleans(), st.integers(0, 6), st.lists(EVENTS, min_size=3, max_size=12))
@fuzzed
def test_any_events_of_one_job(together: bool, steps: int, events: list[Event]) -> None:
    script = Script()
    try:
        script.play("begin clusters=delft:64,leiden:64,lab:64")
        script.play("look delft leiden lab")
        script.play(f"submit on={'delft:4,leiden:4' if together else 'delft:4'}")
        life = LIFE[together]
        for step in life[: steps % (len(life) + 1)]:
            script.play(f"{step} 1.1.*")
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
