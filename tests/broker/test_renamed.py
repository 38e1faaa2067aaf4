"""A native job that was renamed is still the component's; another's with its id is not."""

from __future__ import annotations

import pytest

from metabroker.broker import tokens
from metabroker.broker.effects import Clean
from metabroker.broker.events import CancelJob, Cleaned, Observed, Started, Submitted
from metabroker.broker.observation import NativeJob, NativeState, Snapshot
from metabroker.broker.states import Cause, Step
from metabroker.broker.tokens import NativeId, Ref
from metabroker.clusters.port import CleanRequest, Writer

from .bench import START
from .script import Script

SUBMITTED = START + 0.7  # by the cluster's own clock


def shows(script: Script, submitted: float | None) -> None:
    """Ten seconds later, a poll in which the job 100 bears a name of its user's."""
    script.play("wait 10")
    assert script.bench is not None
    job = NativeJob("100", submitted, NativeState.RUNNING, "RUNNING", processors=16)
    seen = Snapshot(script.bench.now, 64, 64, 16, unnamed={"100": job})
    script.bench.handle(Observed(0, seen))


def submitted() -> Script:
    script = Script()
    for line in ("begin clusters=delft:64", "look delft", "submit n=16"):
        script.play(line)
    assert script.bench is not None
    script.bench.handle(Submitted(Ref(1, 1, 0), "100"))
    return script


def test_it_is_neither_lost_nor_counted_twice() -> None:
    script = submitted()
    for _ in range(3):
        shows(script, SUBMITTED)
    assert script.bench is not None
    view = script.bench.broker.view
    assert view.jobs[1].attempt == 1 and view.jobs[1].components[0].missing_since is None
    assert script.play("idle") == ["delft 48"]
    assert script.bench.restored().view.jobs[1].components[0].submit_time == SUBMITTED
    ready = script.bench.handle(CancelJob(1, "anna"))
    (clean,) = [effect for effect in ready.effects if isinstance(effect, Clean)]
    assert clean.native == NativeId("100", SUBMITTED, listed=True)


@pytest.mark.parametrize("again", [False, True], ids=["", "after a restart"])
def test_who_cleaned_before_its_id_was_known_looks_for_that_too(again: bool) -> None:
    script, ref = Script(), Ref(1, 1, 0)
    for line in ("begin clusters=delft:64", "look delft", "submit n=16"):
        script.play(line)
    assert script.bench is not None
    ready = script.bench.handle(CancelJob(1, "anna"))
    assert [e.native for e in ready.effects if isinstance(e, Clean)] == [None]
    script.bench.handle(Submitted(ref, "100"))
    if again:
        ready = script.bench.restart()
    else:
        ready = script.bench.handle(Cleaned(ref, False, None, None, None))
    (clean,) = [effect for effect in ready.effects if isinstance(effect, Clean)]
    assert clean.native is not None and clean.native.id == "100"
    ready = script.bench.handle(Cleaned(ref, False, None, None, None))
    assert not [effect for effect in ready.effects if isinstance(effect, Clean)]
    assert not script.bench.broker.view.components(0)


@pytest.mark.parametrize(("shown", "cause"), [(16, None), (9, None), (8, Cause.LOST)])
def test_on_whole_nodes_its_record_names_one_that_is_as_large_as_was_asked_for(
    shown: int, cause: Cause | None
) -> None:
    """The cluster may show what was asked for, and not all that it gives."""
    script = Script()
    for line in ("begin clusters=delft:64 units=delft:16", "look delft", "submit n=9"):
        script.play(line)
    assert script.bench is not None
    script.bench.handle(Started(Ref(1, 1, 0), script.bench.now, "node1", "100"))
    for _ in range(3):
        script.play("wait 10")
        job = NativeJob("100", SUBMITTED, NativeState.RUNNING, "RUNNING", processors=shown)
        seen = Snapshot(script.bench.now, 64, 48, 16, unnamed={"100": job})
        script.bench.handle(Observed(0, seen))
    (component,) = script.bench.broker.view.jobs[1].components
    assert (component.processors, component.cause) == (16, cause)


@pytest.mark.parametrize("other", [START + 60, START - 60, None])
def test_a_later_job_of_the_same_id_is_another(other: float | None) -> None:
    script = submitted()
    for _ in range(3):
        shows(script, other)
    assert script.bench is not None
    (component,) = script.bench.broker.view.jobs[1].components
    assert (component.cause, component.step) == (Cause.LOST, Step.CLEAN)


def test_its_time_is_known_though_a_poll_could_not_ask_what_time_it_is_there() -> None:
    script = Script()
    script.play("begin clusters=delft:64")
    assert script.bench is not None
    for offset in (-3600.0, None):  # the broker's clock is an hour fast
        script.bench.handle(Observed(0, Snapshot(script.bench.now, 64, 64, 0, clock_offset=offset)))
    script.play("submit n=16")
    script.bench.handle(Submitted(Ref(1, 1, 0), "100"))
    for _ in range(3):
        shows(script, SUBMITTED - 3600)
    assert script.bench.broker.view.jobs[1].components[0].missing_since is None


def test_one_that_runs_and_whose_id_is_not_known_yet_may_be_any_that_is_not_over() -> None:
    script = Script()
    for line in ("begin clusters=delft:64", "look delft", "submit n=16"):
        script.play(line)
    assert script.bench is not None
    script.bench.handle(Started(Ref(1, 1, 0), script.bench.now, "node1"))
    for _ in range(6):
        shows(script, SUBMITTED)
    (component,) = script.bench.broker.view.jobs[1].components
    assert (component.cause, component.missing_since) == (None, None)
    for _ in range(6):
        script.play("wait 10")
        script.bench.handle(Observed(0, Snapshot(script.bench.now, 64, 64, 0)))
    assert component.cause is Cause.LOST


@pytest.mark.parametrize(
    ("state", "submitted_at", "may_be_it"),
    [
        (NativeState.RUNNING, 30.0, True),
        (NativeState.ENDED, 30.0, False),
        (NativeState.RUNNING, 90.0, False),
    ],
    ids=["soon after it", "over", "long after it"],
)
def test_who_has_got_its_id_after_it_is_not_it_though_its_record_tells_that_id(
    state: NativeState, submitted_at: float, may_be_it: bool
) -> None:
    """Whether clocks differ, or its controller has lost it and gives its id to another one."""
    script = submitted()
    assert script.bench is not None
    script.bench.handle(Started(Ref(1, 1, 0), script.bench.now, "node1", "100"))
    later = NativeJob("100", START + submitted_at, state, state.value.upper(), processors=16)
    for _ in range(3):
        script.play("wait 50")
        now = script.bench.now
        seen = Snapshot(now, 64, 64, 16, unnamed={"100": later}, clock_offset=0.0)
        script.bench.handle(Observed(0, seen))
    (component,) = script.bench.broker.view.jobs[1].components
    assert component.exit_code is None
    assert component.cause is (None if may_be_it else Cause.LOST)
    for _ in range(2):
        script.play("wait 10")
        script.bench.handle(Observed(0, Snapshot(script.bench.now, 64, 64, 0)))
    assert component.cause is Cause.LOST


@pytest.mark.parametrize(
    ("processors", "found"), [(16, True), (8, False)], ids=["as large", "too small to be it"]
)
def test_the_job_that_says_it_started_the_script_goes_before_one_submitted_after_it(
    processors: int, found: bool
) -> None:
    script = submitted()  # 100 was submitted again, since nothing bore the token any more
    assert script.bench is not None
    script.bench.handle(Started(Ref(1, 1, 0), script.bench.now, "node1", "99"))
    script.play("wait 10")
    token = tokens.make(script.bench.broker.settings.instance, Ref(1, 1, 0))
    twin = NativeJob("100", SUBMITTED, NativeState.ENDED, "FAILED", cause=Cause.EXIT, exit_code=75)
    first = NativeJob("99", START, NativeState.RUNNING, "RUNNING", processors=processors)
    seen = Snapshot(script.bench.now, 64, 64, 16, jobs={token: twin}, unnamed={"99": first})
    script.bench.handle(Observed(0, seen))
    (component,) = script.bench.broker.view.jobs[1].components
    assert (component.cause is None) is found
    assert component.native == (NativeId("99", START, listed=True) if found else component.native)


def test_a_time_that_is_by_the_brokers_clock_again_counts_as_told_by_its_cluster_no_more() -> None:
    """Its submission was carried out twice, and the second answer comes after a poll."""
    script = submitted()
    assert script.bench is not None
    shows(script, SUBMITTED)
    (component,) = script.bench.broker.view.jobs[1].components
    assert component.native == NativeId("100", SUBMITTED, listed=True)
    script.bench.handle(Submitted(component.ref, "101", script.bench.now))
    assert component.native == NativeId("101", script.bench.now)


def given_again(by: float | None = None) -> Script:
    """The first job's script runs, its controller forgets it, and gives its id to the second."""
    script = submitted()
    assert script.bench is not None
    script.bench.handle(Started(Ref(1, 1, 0), script.bench.now, "node1", "100"))
    script.play("wait 2")
    script.play("submit n=16")
    script.bench.handle(Submitted(Ref(2, 1, 0), "100", by))
    return script


@pytest.mark.parametrize("again", [False, True], ids=["", "after a restart"])
@pytest.mark.parametrize("by", [None, SUBMITTED + 2], ids=["", "its cluster told when"])
def test_an_id_that_was_given_again_is_no_more_the_former_jobs(
    again: bool, by: float | None
) -> None:
    """The second is renamed: the first was told to have ended as the second did."""
    script = given_again(by)
    bench = script.bench
    assert bench is not None
    if again:
        bench.restart()
    for _ in range(4):
        shows(script, SUBMITTED + 2)
    first, second = (bench.broker.view.jobs[n].components[0] for n in (1, 2))
    assert (first.cause, first.step) == (Cause.LOST, Step.CLEAN)
    assert (second.cause, second.step) == (None, Step.NONE)
    assert second.native == NativeId("100", SUBMITTED + 2, listed=True)


def test_whoever_cancels_a_job_whose_id_was_given_again_does_not_end_the_other() -> None:
    script = given_again()
    assert script.bench is not None
    ready = script.bench.handle(CancelJob(1, "anna"))
    (clean,) = [effect for effect in ready.effects if isinstance(effect, Clean)]
    assert clean.native == NativeId("100", None)
    other = NativeJob("100", SUBMITTED + 2, NativeState.RUNNING, "RUNNING", processors=16)
    assert not other.is_of(clean.native)
    asked = CleanRequest("", native=clean.native)
    assert asked.knows(Writer("100", made=SUBMITTED, started=SUBMITTED + 1))
