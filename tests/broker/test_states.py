"""The state table: `Job.move` takes its steps and no other."""

from __future__ import annotations

import itertools

import pytest

from metabroker.broker.job import Component, ImpossibleTransition, Job
from metabroker.broker.states import ENDED, IN_ATTEMPT, TRANSITIONS, JobState, Phase
from metabroker.broker.tokens import Ref
from metabroker.policy import Request

PAIRS = list(itertools.product(JobState, JobState))


def job(state: JobState) -> Job:
    return Job(
        id=7,
        user="anna",
        name="job",
        request=Request((1,)),
        time_limit=60,
        submit_time=0.0,
        queue=0,
        state=state,
    )


@pytest.mark.parametrize(
    ("old", "new"), [(a, b) for a, b in PAIRS if b in TRANSITIONS[a]], ids=lambda s: s.value
)
def test_a_step_of_the_table_is_taken(old: JobState, new: JobState) -> None:
    it = job(old)
    it.move(new)
    assert it.state is new


@pytest.mark.parametrize(
    ("old", "new"), [(a, b) for a, b in PAIRS if b not in TRANSITIONS[a]], ids=lambda s: s.value
)
def test_any_other_step_is_refused_and_changes_nothing(old: JobState, new: JobState) -> None:
    it = job(old)
    with pytest.raises(ImpossibleTransition, match=f"job 7: {old.value} -> {new.value}"):
        it.move(new)
    assert it.state is old


def test_nothing_follows_an_end() -> None:
    assert {state for state, after in TRANSITIONS.items() if not after} == ENDED
    assert all(state.ended == (state in ENDED) for state in JobState)


def test_every_state_can_still_come_to_an_end() -> None:
    for state in JobState:
        seen = {state}
        while not seen & ENDED:
            more = {new for old in seen for new in TRANSITIONS[old]} | seen
            assert more != seen, f"{state} never ends"
            seen = more


def test_a_job_in_an_attempt_has_neither_ended_nor_waits_in_a_queue() -> None:
    assert set(JobState) - ENDED - IN_ATTEMPT == {JobState.QUEUED, JobState.HELD}


def test_a_component_never_goes_back() -> None:
    component = Component(Ref(1, 1, 0), cluster=0, processors=1, reserves=True)
    for far, near in itertools.product(Phase, Phase):
        component.phase = far
        component.advance(near)
        order = list(Phase)
        assert component.phase is order[max(order.index(far), order.index(near))]
        assert component.reached(far) and component.reached(near)
