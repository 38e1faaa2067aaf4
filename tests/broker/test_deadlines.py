"""Deadlines and the clocks of two lives of a broker, which may differ by hours."""

from __future__ import annotations

from dataclasses import replace

import pytest

from metabroker.broker.effects import Clean
from metabroker.broker.events import Arrived, Cleaned, Discarded, Observed, Tick
from metabroker.broker.observation import NativeJob, NativeState, Snapshot
from metabroker.broker.states import JobState, Phase, Step
from metabroker.broker.tokens import make

from .bench import INSTANCE, START
from .script import Script

LIMIT = 7200


@pytest.fixture
def script() -> Script:
    """A co-allocated job of two hours runs. It was opened by a clock that is an hour slow."""
    made = Script()
    for line in (
        "begin clusters=delft:32,leiden:32",
        "look delft leiden",
        f"submit components=16,8 limit={LIMIT}",
        "reserved 1.1.*",
        "submitted 1.1.*",
        "arrived 1.1.*",
        "armed 1.1.*",
        "opened 1.1.*",
        "started 1.1.*",
    ):
        made.play(line)
    return made


def poll(script: Script, ran: float, *, word: str = "RUNNING") -> Observed:
    """What delft shows after the job has run for so long, by delft's clock."""
    bench = script.bench
    assert bench is not None
    offset = 300.0
    (job,) = bench.broker.view.jobs.values()
    native = NativeJob("7", None, NativeState.RUNNING, word, 16)
    native = replace(native, start_time=bench.now + offset - ran)
    token = make(INSTANCE, job.components[0].ref)
    return Observed(
        0, Snapshot(bench.now, 32, 32, 16, {token: 16}, {token: native}, clock_offset=offset)
    )


def ended(script: Script) -> bool:
    bench = script.bench
    assert bench is not None
    ready = bench.handle(Tick())
    return any(isinstance(effect, Clean) for effect in ready.effects)


def test_a_clock_that_was_an_hour_slow_ends_no_job_early(script: Script) -> None:
    bench = script.bench
    assert bench is not None
    assert bench.broker.view.jobs[1].state is JobState.RUNNING
    bench.now = START + 3600 + 3720  # the next life's clock is right: it has run for 1:02
    bench.restart()
    bench.now += 10
    bench.handle(poll(script, 3730))
    bench.ticks(600)
    assert bench.broker.view.jobs[1].goal is None


def test_what_its_cluster_lets_run_for_too_long_is_ended_by_that_clusters_clock(
    script: Script,
) -> None:
    bench = script.bench
    assert bench is not None
    settings = bench.settings
    bench.now -= 3600
    bench.restart()
    bench.now += 10
    most = LIMIT + settings.barrier_slack + settings.overtime_grace
    bench.handle(poll(script, most - 1))
    assert not ended(script)
    bench.handle(poll(script, most + 1, word="SUSPENDED"))
    assert not ended(script)
    bench.handle(poll(script, most + 1))
    assert ended(script)


@pytest.mark.parametrize("step", [-7200, 7200])
def test_a_step_has_its_whole_time_again_after_a_restart(step: int) -> None:
    script = Script()
    for line in (
        "begin clusters=delft:32,leiden:32",
        "look delft leiden",
        "submit on=delft:16",
    ):
        script.play(line)
    bench = script.bench
    assert bench is not None
    job = bench.broker.view.jobs[1]
    assert job.state is JobState.SUBMITTING
    bench.now += step
    bench.restart()
    job = bench.broker.view.jobs[1]
    assert job.deadline == bench.now + bench.settings.submit_timeout
    bench.handle(Tick())
    assert job.goal is None and job.components[0].step is Step.SUBMIT
    assert job.components[0].phase is Phase.PLACED


@pytest.mark.parametrize("since_restart", [0.1, 10.0])  # by the first poll of all, or a later one
@pytest.mark.parametrize("too_long", [False, True])
def test_who_waited_at_the_barrier_without_a_broker_is_opened_only_in_time(
    too_long: bool, since_restart: float
) -> None:
    script = Script()
    for line in (
        "begin clusters=delft:32,leiden:32",
        "look delft leiden",
        f"submit components=16,8 limit={LIMIT}",
        "reserved 1.1.*",
        "submitted 1.1.*",
        "arrived 1.1.*",
    ):
        script.play(line)
    bench = script.bench
    assert bench is not None
    waited = bench.settings.barrier_slack + (30.0 if too_long else -30.0)
    bench.now += waited
    bench.restart()
    bench.now += since_restart
    (job,) = bench.broker.view.jobs.values()
    bench.handle(*(Arrived(component.ref, "node") for component in job.components))
    bench.handle(poll(script, waited))
    assert (job.state is JobState.WAITING) is not too_long
    assert ("waited at the barrier" in job.reason) is too_long


def test_nodes_that_sleep_may_take_longer_than_the_barrier_waits() -> None:
    """It is begun anew at its old place, and that is no failed submission; but not for ever."""
    script = Script()
    for line in (
        "begin clusters=delft:32,leiden:32",
        "look delft leiden",
        f"submit components=16,8 limit={LIMIT}",
    ):
        script.play(line)
    bench = script.bench
    assert bench is not None
    (job,) = bench.broker.view.jobs.values()
    seq, most = job.seq, 10
    for attempt in range(1, most + 2):
        assert (job.attempt, job.submission_failures, job.seq) == (attempt, 0, seq)
        for line in (f"reserved 1.{attempt}.*", f"submitted 1.{attempt}.*"):
            script.play(line)
        assert job.state is JobState.WAITING
        bench.handle(Arrived(job.components[1].ref, "node"))
        refs = [component.ref for component in job.components]
        native = NativeJob(
            "7", None, NativeState.RUNNING, "CONFIGURING", 16, start_time=bench.now, preparing=True
        )
        token = make(INSTANCE, refs[0])
        bench.now += bench.settings.barrier_timeout - 1
        bench.handle(Observed(0, Snapshot(bench.now, 32, 32, 16, {token: 16}, {token: native})))
        assert job.state is JobState.WAITING
        bench.now += 2
        bench.handle(Tick())
        assert "nodes were not ready in time" in job.reason or attempt > most
        for ref in refs:
            bench.handle(Cleaned(ref), Discarded(ref))
        bench.handle(*(Observed(n, Snapshot(bench.now, 32, 32, 0)) for n in (0, 1)))
        bench.ticks(1)
    assert job.submission_failures == 1
