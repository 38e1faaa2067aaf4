"""What has started, and its cluster shows pending again, is not waited for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from metabroker.broker import tokens
from metabroker.broker.effects import Clean
from metabroker.broker.events import Observed, Started, Submitted
from metabroker.broker.observation import NativeJob, NativeState, Snapshot
from metabroker.broker.states import Cause, Step
from metabroker.broker.tokens import Ref

from .script import Script

REF = Ref(1, 1, 0)


def started() -> Script:
    script = Script()
    for line in ("begin clusters=delft:64", "look delft", "submit n=16"):
        script.play(line)
    assert script.bench is not None
    script.bench.handle(Submitted(REF, "100"))
    script.bench.handle(Started(REF, script.bench.now, "node1", "100"))
    return script


def shown(script: Script, state: NativeState) -> list[Ref]:
    """What is cleaned, once a poll has shown the job in that state."""
    assert script.bench is not None
    script.play("wait 10")
    token = tokens.make(script.bench.broker.settings.instance, REF)
    native = NativeJob("100", None, state, state.name, 16, reason="Resources")
    seen = Snapshot(script.bench.now, 64, 64, 16, jobs={token: native})
    return [e.ref for e in script.bench.handle(Observed(0, seen)).effects if isinstance(e, Clean)]


def test_it_is_cleaned_after_a_while() -> None:
    script = started()
    assert [shown(script, NativeState.PENDING) for _ in range(4)] == [[], [], [], [REF]]
    assert script.bench is not None
    (component,) = script.bench.broker.view.jobs[1].components
    assert (component.cause, component.step) == (Cause.KILLED, Step.CLEAN)


def test_not_if_it_runs_again_meanwhile() -> None:
    """A controller that was restarted has found it on its nodes."""
    script = started()
    states = [NativeState.PENDING] * 3 + [NativeState.RUNNING] + [NativeState.PENDING] * 3
    assert [shown(script, state) for state in states] == [[]] * 7


def submitted(*then: str) -> Script:
    """A co-allocated job that both clusters have accepted, and what came then."""
    script = Script()
    for line in (
        "begin clusters=delft:64,leiden:64",
        "look delft leiden",
        "submit components=16,8",
        "reserved 1.1.*",
        "submitted 1.1.*",
        *then,
    ):
        script.play(line)
    return script


def opened(*, restarted: bool) -> Script:
    """A co-allocated job of which one component has started; the other has left the barrier."""
    begun = ("arrived 1.1.*", "armed 1.1.*", "opened 1.1.*", "started 1.1.1")
    return submitted(*begun, *(("restart", "look delft leiden") if restarted else ()))


@pytest.mark.parametrize("restarted", [False, True])
def test_one_that_has_left_the_barrier_is_not_waited_for_either(restarted: bool) -> None:
    """Since a restart no deadline is set for what runs, so that nothing else would end the job."""
    script = opened(restarted=restarted)
    assert [shown(script, NativeState.PENDING) for _ in range(4)] == [[], [], [], [REF]]


def test_one_that_waits_at_the_barrier_is_waited_for_as_long_as_the_barrier() -> None:
    script = submitted("arrived 1.1.0")
    assert [shown(script, NativeState.PENDING) for _ in range(4)] == [[]] * 4


@pytest.mark.parametrize("how", ["cancel 1", "ended"])
def test_nothing_is_remembered_of_a_job_that_was_stuck_and_has_ended(how: str) -> None:
    script = Script()
    for line in ("begin clusters=delft:64", "look delft", "submit n=16"):
        script.play(line)
    bench = script.bench
    assert bench is not None
    bench.handle(Submitted(REF, "100"))
    token = tokens.make(bench.broker.settings.instance, REF)
    stuck = NativeJob(
        "100", None, NativeState.PENDING, "PENDING", 16, reason="PartitionDown", stuck=True
    )
    for job in (stuck, replace(stuck, state=NativeState.ENDED, word="COMPLETED", stuck=False)):
        bench.now += 10
        bench.handle(Observed(0, Snapshot(bench.now, 64, 64, 64, jobs={token: job})))
        if job is stuck:
            assert bench.broker._saga.reconciliation._stuck
            if how != "ended":
                script.play(how)
    for line in ("cleaned 1.1.0", "discarded 1.1.0"):
        script.play(line)
    bench.now += 10
    bench.handle(Observed(0, Snapshot(bench.now, 64, 64, 64)))
    assert not bench.broker._saga.reconciliation._stuck
