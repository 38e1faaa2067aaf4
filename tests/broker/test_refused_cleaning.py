"""That a component cannot be cleaned up just now says nothing of how it ended."""

from __future__ import annotations

import pytest

from metabroker.broker.effects import Clean, Effect
from metabroker.broker.events import (
    CancelJob,
    Cleaned,
    Ended,
    Event,
    Refused,
    Started,
    Submitted,
    Unsure,
)
from metabroker.broker.job import Job
from metabroker.broker.states import Cause, JobState, Step
from metabroker.broker.tokens import Ref

from .script import Script


@pytest.fixture
def script() -> Script:
    """A co-allocated job runs."""
    made = Script()
    for line in (
        "begin clusters=delft:32,leiden:32",
        "look delft leiden",
        "submit components=16,8 limit=600",
        "reserved 1.1.*",
        "submitted 1.1.*",
        "arrived 1.1.*",
        "armed 1.1.*",
        "opened 1.1.*",
        "started 1.1.*",
    ):
        made.play(line)
    return made


def handle(script: Script, *events: Event) -> None:
    assert script.bench is not None
    script.bench.handle(*events)


def the_job(script: Script) -> Job:
    assert script.bench is not None
    (job,) = script.bench.broker.view.jobs.values()
    return job


def no(job: Job, *, sure: bool) -> Event:
    """Its first component cannot be cleaned: its cluster's host cannot be reached."""
    ref = job.components[0].ref
    if sure:
        return Refused(ref, Step.CLEAN, Cause.UNREACHABLE, "ssh: no route to host")
    return Unsure(ref, Step.CLEAN, "no answer")


@pytest.mark.parametrize("sure", [True, False], ids=["refused", "no answer"])
def test_a_component_that_ended_well_has(script: Script, *, sure: bool) -> None:
    job = the_job(script)
    first, second = (component.ref for component in job.components)
    handle(script, Ended(first, 100.0, 0))
    assert job.components[0].step is Step.CLEAN
    handle(script, no(job, sure=sure))
    assert job.components[0].succeeded and job.goal is None
    handle(script, Ended(second, 200.0, 0))
    assert job.state is JobState.COMPLETED


@pytest.mark.parametrize("sure", [True, False], ids=["refused", "no answer"])
def test_one_that_failed_is_to_blame_by_its_own_exit(script: Script, *, sure: bool) -> None:
    job = the_job(script)
    first, second = (component.ref for component in job.components)
    handle(script, Ended(first, 100.0, 3))
    handle(script, no(job, sure=sure))
    handle(script, Cleaned(second, cause=Cause.KILLED), Cleaned(first, exit_code=3))
    assert job.state is JobState.FAILED
    assert job.reason == "component 0 in delft: its script ended with exit code 3"
    assert job.exit_code == 3


def claimed(script: Script) -> int:
    assert script.bench is not None
    return script.bench.broker.view.entries[0].claimed


def test_what_cannot_be_cleaned_keeps_no_processors_that_its_cluster_shows_idle(
    script: Script,
) -> None:
    """Its gate is its user's, who can keep it from us for as long as they like."""
    job = the_job(script)
    first, second = (component.ref for component in job.components)
    handle(script, Ended(first, 100.0, 0), Ended(second, 100.0, 0), no(job, sure=False))
    assert claimed(script) == 16
    script.play("wait 60")
    script.play("look delft leiden 1.1.0=RUNNING")
    script.play("look delft leiden")
    assert claimed(script) == 16, "one poll may be of a moment before"
    script.play("look delft leiden")
    assert claimed(script) == 0
    script.play("look delft leiden 1.1.0=RUNNING")
    assert claimed(script) == 16, "it is there all the same"
    script.play("look delft leiden")
    script.play("look delft leiden")
    handle(script, Cleaned(first, exit_code=0))
    assert claimed(script) == 0


@pytest.fixture
def repeated() -> Script:
    """A single job was submitted without an answer; the second try is refused."""
    made = Script()
    for line in (
        "begin clusters=delft:32",
        "look delft",
        "submit components=16",
        "unsure 1.1.0 submit",
        "wait 1",
    ):
        made.play(line)
    ref = the_job(made).components[0].ref
    assert [e.unless_started for e in cleans(made, refused(ref))] == [True]
    return made


def refused(ref: Ref) -> Event:
    return Refused(ref, Step.SUBMIT, Cause.UNREACHABLE, "ssh: no route to host")


def may_run(ref: Ref) -> Event:
    return Refused(ref, Step.CLEAN, Cause.STUCK, "its script may have started")


def effects(script: Script, event: Event) -> tuple[Effect, ...]:
    assert script.bench is not None
    return tuple(script.bench.handle(event).effects)


def cleans(script: Script, event: Event) -> list[Clean]:
    return [e for e in effects(script, event) if isinstance(e, Clean)]


def test_a_submission_that_got_through_though_a_later_try_was_refused_is_let_run(
    repeated: Script,
) -> None:
    job = the_job(repeated)
    ref = job.components[0].ref
    handle(repeated, may_run(ref))
    assert job.goal is None and job.components[0].step is Step.SUBMIT
    handle(repeated, Submitted(ref, "77", 10.0), Started(ref, 20.0, "node1"))
    assert job.components[0].started
    handle(repeated, Ended(ref, 30.0, 0), Cleaned(ref, exit_code=0))
    assert job.state is JobState.COMPLETED


def test_one_that_has_started_goes_on_though_its_submission_is_refused_again(
    repeated: Script,
) -> None:
    job = the_job(repeated)
    ref = job.components[0].ref
    handle(repeated, may_run(ref), Started(ref, 20.0, "node1"))
    assert cleans(repeated, refused(ref)) == []
    assert job.state is JobState.RUNNING and job.components[0].step is Step.NONE


def test_one_that_is_refused_again_and_again_is_asked_for_at_the_longest_pause_only(
    repeated: Script,
) -> None:
    """Its gate is its user's, who can have it look as if its script had started."""
    job = the_job(repeated)
    ref = job.components[0].ref
    assert repeated.bench is not None
    longest = repeated.bench.broker.settings.retry_most
    for _ in range(5):
        handle(repeated, may_run(ref))
        asked = repeated.bench.now + longest
        assert job.deadline == asked + repeated.bench.broker.settings.submit_timeout
        assert repeated.play(f"wait {0.9 * longest}") == []
        assert any("-> Submit 1.1.0" in line for line in repeated.play(f"wait {0.2 * longest}"))
        assert [e.unless_started for e in cleans(repeated, refused(ref))] == [True]


def test_one_that_had_not_got_through_is_cleaned_up_and_placed_anew(repeated: Script) -> None:
    job = the_job(repeated)
    ref = job.components[0].ref
    handle(repeated, Cleaned(ref, shut=True))
    assert job.state is JobState.QUEUED and not job.components


def test_one_whose_user_cancels_it_is_ended_though_its_script_may_run(repeated: Script) -> None:
    job = the_job(repeated)
    ref = job.components[0].ref
    handle(repeated, CancelJob(job.id, "anna"), may_run(ref))
    said = repeated.play("wait 1")
    assert any("-> Clean 1.1.0" in line for line in said)
    assert not any("unless_started" in line for line in said)


def test_one_that_was_withdrawn_when_a_backup_was_made_goes_on_if_it_has_started_since(
    repeated: Script,
) -> None:
    bench = repeated.bench
    assert bench is not None
    effects = bench.come_back(bench.back_up()).effects
    assert [e.unless_started for e in effects if isinstance(e, Clean)] == [True]
    job = the_job(repeated)
    ref = job.components[0].ref
    handle(repeated, may_run(ref))
    assert job.components[0].step is Step.NONE, "it is not submitted again: it may have ended"
    handle(repeated, Started(ref, 20.0, "node1"))
    assert job.goal is None and job.components[0].started
    handle(repeated, Ended(ref, 30.0, 0))
    assert job.state is JobState.COMPLETED


def test_an_answer_that_comes_while_it_is_withdrawn_does_not_end_its_script(
    repeated: Script,
) -> None:
    """What was asked for before the answer came finds the script started; or is asked again."""
    job = the_job(repeated)
    ref = job.components[0].ref
    handle(repeated, Submitted(ref, "77", 10.0), Unsure(ref, Step.CLEAN, "timed out"))
    said = repeated.play("wait 1")
    assert any("-> Clean 1.1.0" in line and "unless_started" in line for line in said)
    handle(repeated, may_run(ref))
    assert (job.goal, job.components[0].step) == (None, Step.NONE)
    handle(repeated, Started(ref, 20.0, "node1"), Ended(ref, 30.0, 0), Cleaned(ref, exit_code=0))
    assert job.state is JobState.COMPLETED


def test_nor_does_a_restart_in_that_moment(repeated: Script) -> None:
    bench = repeated.bench
    assert bench is not None
    handle(repeated, Submitted(the_job(repeated).components[0].ref, "77", 10.0))
    effects = bench.restart().effects
    assert [e.unless_started for e in effects if isinstance(e, Clean)] == [True]
