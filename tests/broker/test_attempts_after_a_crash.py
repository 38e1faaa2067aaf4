"""What becomes of co-allocated attempts when the broker is restarted, and its store may have gone
back by a moment in which they were opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from metabroker.broker.effects import Clean, Open, Reserve, Submit
from metabroker.broker.events import (
    Armed,
    Arrived,
    Cleaned,
    ClusterUnreachable,
    DrainCluster,
    HoldJob,
    Observed,
    Refused,
    ReleaseJob,
    Started,
)
from metabroker.broker.job import Job
from metabroker.broker.observation import NativeJob, NativeState, Snapshot
from metabroker.broker.states import Cause, JobState, Step
from metabroker.broker.tokens import Ref, make
from metabroker.service import reasons

from .bench import INSTANCE, Bench
from .script import Script

FIRST, SECOND = Ref(1, 1, 0), Ref(1, 1, 1)
SIZES = (16, 8)


class Site:
    """One co-allocated job in delft and leiden, after a restart; in lab there would be room too."""

    def __init__(self, *lines: str) -> None:
        script = Script()
        for line in (
            "begin clusters=delft:32,leiden:32,lab:31",
            "look delft leiden lab",
            "submit components=16,8 limit=7200",
            "reserved 1.1.*",
            *lines,
        ):
            script.play(line)
        assert script.bench is not None
        self.bench: Bench = script.bench
        self.bench.restart()
        self.began = self.bench.now

    @property
    def job(self) -> Job:
        (job,) = self.bench.broker.view.jobs.values()
        return job

    def look(self, first: NativeState | None) -> list[object]:
        """Polls of both clusters: the first component is shown so, the second one runs."""
        effects: list[object] = []
        for cluster, (ref, state) in enumerate(((FIRST, first), (SECOND, NativeState.RUNNING))):
            shown = {}
            if state is not None:
                began = None if state is NativeState.PENDING else self.began
                word = state.value.upper()
                native = NativeJob(str(cluster), self.began, state, word, SIZES[cluster])
                shown[make(INSTANCE, ref)] = replace(native, start_time=began)
            busy = SIZES[cluster] if state is NativeState.RUNNING else 0
            held = dict.fromkeys(shown, busy)
            poll = Snapshot(self.bench.now, 32, 32, busy, held, shown, clock_offset=0.0)
            effects += self.bench.handle(Observed(cluster, poll)).effects
        return effects

    def wait(self, seconds: float, first: NativeState | None) -> list[object]:
        """Time passes, with a poll every 5 s."""
        effects: list[object] = []
        for _ in range(int(seconds / 5)):
            for _, ready in self.bench.ticks(5.0):
                effects += ready.effects
            effects += self.look(first)
        return effects


def of(effects: Sequence[object], kind: type) -> list[Ref]:
    return [effect.ref for effect in effects if isinstance(effect, kind)]  # type: ignore[attr-defined]


@pytest.fixture
def at_the_barrier() -> Site:
    return Site("submitted 1.1.*", "arrived 1.1.*")


@pytest.fixture
def submitting() -> Site:
    return Site()


def state(site: Site) -> JobState:
    return site.job.state


def begun_anew(site: Site) -> bool:
    return site.job.attempt > 1


def read(site: Site, ref: Ref) -> None:
    site.bench.handle(Arrived(ref, "node", begun=True), Started(ref, site.bench.now, "node"))


def test_what_may_have_been_opened_is_not_rolled_back_while_its_records_cannot_be_read(
    at_the_barrier: Site,
) -> None:
    site = at_the_barrier
    site.look(NativeState.RUNNING)
    site.bench.handle(Arrived(SECOND, "node"))
    settings = site.bench.settings
    effects = site.wait(settings.barrier_timeout + settings.barrier_slack, NativeState.RUNNING)
    assert not of(effects, Clean) and state(site) is JobState.WAITING
    assert "component 0 in delft: it may have started before the daemon's start" in site.job.reason
    read(site, FIRST)
    assert (state(site), site.job.reason) == (JobState.RUNNING, "")


def test_what_turns_out_not_to_have_been_opened_is_opened(at_the_barrier: Site) -> None:
    site = at_the_barrier
    site.look(NativeState.RUNNING)
    site.bench.handle(Arrived(SECOND, "node"))
    site.wait(site.bench.settings.barrier_timeout, NativeState.RUNNING)
    effects = site.bench.handle(Arrived(FIRST, "node"), Armed(FIRST), Armed(SECOND)).effects
    assert of(effects, Open) == [FIRST, SECOND]
    assert (state(site), site.job.reason) == (JobState.RUNNING, "")


@pytest.mark.parametrize("shown", [NativeState.PENDING, NativeState.RUNNING])
def test_what_was_not_opened_is_rolled_back_in_its_time(
    at_the_barrier: Site, shown: NativeState
) -> None:
    site = at_the_barrier
    site.look(shown)
    site.bench.handle(Arrived(SECOND, "node"))
    if shown is NativeState.RUNNING:
        site.bench.handle(Arrived(FIRST, "node"))
    effects = site.wait(site.bench.settings.barrier_timeout, shown)
    assert of(effects, Clean) == [FIRST, SECOND] and begun_anew(site)


def test_what_has_come_up_too_long_ago_is_not_opened_when_its_records_are_read_at_last(
    at_the_barrier: Site,
) -> None:
    site = at_the_barrier
    site.look(NativeState.RUNNING)
    site.bench.handle(Arrived(SECOND, "node"))
    site.wait(site.bench.settings.barrier_slack + 10.0, NativeState.RUNNING)
    effects = site.bench.handle(Arrived(FIRST, "node"), Armed(FIRST), Armed(SECOND)).effects
    effects += [e for _, ready in site.bench.ticks(1.0) for e in ready.effects]
    assert not of(effects, Open) and of(effects, Clean) == [FIRST, SECOND]
    told = str(site.bench.store.jobs.events(1))
    assert "component 0 in delft: it waited at the barrier for too long" in told


def test_a_no_to_what_has_got_through_rolls_nothing_back(submitting: Site) -> None:
    site = submitting
    site.look(NativeState.RUNNING)
    no = Refused(FIRST, Step.SUBMIT, Cause.BUSY, "cannot write in /home/u: Input/output error")
    assert not of(site.bench.handle(no).effects, Clean)
    assert state(site) is JobState.SUBMITTING
    again = [e for _, ready in site.bench.ticks(60.0) for e in ready.effects]
    assert FIRST in of(again, Submit)
    read(site, FIRST)
    assert state(site) is JobState.RUNNING


def test_a_no_to_what_has_not_come_up_rolls_back(submitting: Site) -> None:
    site = submitting
    site.look(None)
    no = Refused(FIRST, Step.SUBMIT, Cause.BUSY, "cannot write in /home/u: Input/output error")
    assert FIRST in of(site.bench.handle(no).effects, Clean)
    assert state(site) is not JobState.SUBMITTING


@pytest.mark.parametrize("has_run", [True, False])
@pytest.mark.parametrize("held", [True, False])
def test_nothing_begins_anew_before_what_may_have_run_is_cleaned(
    at_the_barrier: Site, has_run: bool, held: bool
) -> None:
    """Its native job has ended, which tells nothing of its script. Has that run, only the job's
    user can tell whether it is to run again: also one who holds the job meanwhile."""
    site = at_the_barrier
    site.look(NativeState.ENDED)
    site.wait(10.0, NativeState.ENDED)
    assert state(site) is JobState.QUEUED and not begun_anew(site)
    told = reasons.of(site.bench.broker.view, site.bench.now, [1])[1].reason
    assert "component 0 in delft may have run before the daemon's start" in told
    if held:
        site.bench.handle(HoldJob(1, "ann"))
    if has_run:  # read as it is cleaned
        site.bench.handle(Started(FIRST, site.bench.now, "node"))
    site.bench.handle(Cleaned(SECOND, shut=True))
    site.bench.handle(Cleaned(FIRST, started=has_run, shut=not has_run))
    if has_run:
        assert state(site) is JobState.HELD and "its script has run" in site.job.reason
        return
    if held:
        site.bench.handle(ReleaseJob(1, "ann"))
    effects = site.wait(site.bench.settings.limit_most, NativeState.ENDED)
    assert {ref.attempt for ref in of(effects, Reserve)} >= {2}


def test_nothing_begins_anew_because_the_cluster_of_what_may_have_run_is_lost(
    at_the_barrier: Site,
) -> None:
    """That it had ended was seen; whether its script has run is in files that are away now."""
    site = at_the_barrier
    site.look(NativeState.ENDED)
    site.wait(10.0, NativeState.ENDED)
    site.bench.handle(Cleaned(SECOND, shut=True))
    site.bench.handle(ClusterUnreachable(0, "connect failure"))
    idle = Snapshot(site.bench.now, 32, 32, 0, clock_offset=0.0)
    for _ in range(int(site.bench.settings.limit_most / 5)):
        for _, ready in site.bench.ticks(5.0):
            assert not of(ready.effects, Reserve)
        site.bench.handle(*(Observed(n, replace(idle, taken_at=site.bench.now)) for n in (1, 2)))
    assert state(site) is JobState.QUEUED and not begun_anew(site)


@pytest.mark.parametrize("shown", [NativeState.RUNNING, None])
def test_a_no_to_one_takes_back_nothing_when_the_script_of_another_is_found_to_run(
    submitting: Site, shown: NativeState | None
) -> None:
    """What is not in its cluster any more has ended. The other one runs on either way."""
    site = submitting
    site.look(shown)
    read(site, SECOND)
    assert state(site) is JobState.RUNNING
    no = Refused(FIRST, Step.SUBMIT, Cause.BUSY, "cannot write in /home/u: Input/output error")
    cleaned = of(site.bench.handle(no).effects, Clean)
    assert cleaned == ([] if shown else [FIRST])
    assert state(site) is JobState.RUNNING and not begun_anew(site)


def test_a_drain_takes_nothing_back_that_may_run(at_the_barrier: Site) -> None:
    site = at_the_barrier
    site.look(NativeState.RUNNING)
    effects = site.bench.handle(DrainCluster(0, "root")).effects
    effects += [e for _, ready in site.bench.ticks(1.0) for e in ready.effects]
    assert not of(effects, Clean) and state(site) is JobState.WAITING
