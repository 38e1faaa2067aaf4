"""Jobs and components in the words of contract C3; the watcher's news; the rules."""

from __future__ import annotations

import os
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from metabroker.api.service import Failure, ServiceError
from metabroker.broker.events import Arrived, Ended, Event, GaveUp, Started
from metabroker.broker.job import Component
from metabroker.broker.states import Cause, JobState, Phase, Step
from metabroker.broker.tokens import Ref
from metabroker.clusters.port import ComponentRecord
from metabroker.runtime import records
from metabroker.runtime.records import news
from metabroker.service.authorization import Authorization
from metabroker.service.job_view import job_view
from metabroker.service.queries import Queries
from metabroker.store.rows import component_row, job_row
from metabroker.submission.model import Caller
from tests.daemon_units.making import ANNA, submission
from tests.store.making import NAMES, job


def part(phase: Phase, step: Step = Step.NONE, *, attempt: int = 1, **given: Any) -> Component:
    made = Component(Ref(7, attempt, 0), cluster=0, processors=16, reserves=True, **given)
    made.phase, made.step = phase, step
    return made


def view(state: JobState, *parts: Component, **given: Any) -> dict[str, Any]:
    row = job_row(job(7, state, **given), NAMES)
    row["components"] = [component_row(p, NAMES) for p in parts]
    return job_view(row, "abcdef01")


def word(*parts: Component) -> str:
    (shown,) = view(JobState.RUNNING, *parts, attempt=1)["components"]
    return str(shown["state"])


@pytest.mark.parametrize(
    ("phase", "step", "given", "expected"),
    [
        (Phase.PLACED, Step.NONE, {}, "RESERVING"),
        (Phase.PLACED, Step.RESERVE, {}, "RESERVING"),
        (Phase.RESERVED, Step.NONE, {}, "RESERVING"),
        (Phase.PLACED, Step.SUBMIT, {}, "SUBMITTING"),
        (Phase.RESERVED, Step.SUBMIT, {}, "SUBMITTING"),
        (Phase.SUBMITTED, Step.NONE, {}, "SUBMITTING"),
        (Phase.ARRIVED, Step.NONE, {}, "WAITING"),
        (Phase.ARRIVED, Step.ARM, {}, "WAITING"),
        (Phase.ARMED, Step.NONE, {}, "WAITING"),
        (Phase.ARMED, Step.OPEN, {}, "WAITING"),
        (Phase.STARTED, Step.NONE, {}, "RUNNING"),
        (Phase.STARTED, Step.CLEAN, {}, "RUNNING"),
        (Phase.ENDED, Step.CLEAN, {"exit_code": 0, "started": True}, "COMPLETED"),
        (Phase.GONE, Step.DISCARD, {"exit_code": 0, "started": True}, "COMPLETED"),
        (Phase.GONE, Step.NONE, {"exit_code": 3, "cause": Cause.EXIT, "started": True}, "FAILED"),
        (Phase.GONE, Step.NONE, {"cause": Cause.NODE, "started": True}, "FAILED"),
        (Phase.GONE, Step.NONE, {"cause": Cause.LOST, "started": True}, "FAILED"),
        (Phase.GONE, Step.NONE, {"cause": Cause.OVERTIME, "started": True}, "TIMEOUT"),
        (Phase.GONE, Step.NONE, {"cause": Cause.OVERTIME}, "TIMEOUT"),
        (Phase.GONE, Step.NONE, {"cause": Cause.KILLED, "started": True}, "CANCELLED"),
        (Phase.GONE, Step.NONE, {"cause": Cause.KILLED, "exit_code": 143}, "CANCELLED"),
        (Phase.GONE, Step.NONE, {"cause": Cause.BUSY}, "CANCELLED"),
        (Phase.GONE, Step.NONE, {"cause": Cause.GAVE_UP}, "CANCELLED"),
    ],
)
def test_each_word_of_a_component(
    phase: Phase, step: Step, given: dict[str, Any], expected: str
) -> None:
    assert word(part(phase, step, **given)) == expected


@pytest.mark.parametrize("phase", list(Phase))
@pytest.mark.parametrize("step", list(Step))
def test_every_word_is_one_of_the_contracts(phase: Phase, step: Step) -> None:
    for cause in (None, *Cause):
        assert word(part(phase, step, cause=cause)) in {state.value for state in JobState}


def test_a_waiting_job_shows_what_it_asks_for() -> None:
    for state in (JobState.QUEUED, JobState.HELD):
        old = part(Phase.SUBMITTED, Step.CLEAN, detail="connect failure")
        shown = view(state, old, attempt=1, reason="why")
        assert [(c["processors"], c["state"], c["cluster"]) for c in shown["components"]] == [
            (16, state.value, None), (8, state.value, None),
        ]  # fmt: skip
        assert shown["left_behind"] == [
            {
                "attempt": 1,
                "component": 0,
                "cluster": "delft",
                "name": "mb-abcdef01-7-1-0",
                "detail": "connect failure",
            }
        ]


def test_only_what_is_not_gone_is_left_behind() -> None:
    old, gone = part(Phase.RESERVED, Step.CLEAN), part(Phase.GONE, Step.DISCARD)
    assert len(view(JobState.FAILED, old, attempt=1)["left_behind"]) == 1
    assert view(JobState.FAILED, gone, attempt=1)["left_behind"] == []
    present = part(Phase.STARTED, attempt=2)
    assert len(view(JobState.RUNNING, old, present, attempt=2)["left_behind"]) == 1
    assert len(view(JobState.RUNNING, old, present, attempt=2)["components"]) == 1


def test_a_component_in_full() -> None:
    it = part(
        Phase.STARTED, reservation=True, native_id="77", hosts="n1 n2", start_time=5.0, detail="x"
    )
    assert view(JobState.RUNNING, it, attempt=1)["components"] == [
        {
            "index": 0,
            "cluster": "delft",
            "processors": 16,
            "state": "RUNNING",
            "native_id": "77",
            "reservation": "mb-abcdef01-7-1-0",
            "hosts": ["n1", "n2"],
            "start_time": 5.0,
            "end_time": None,
            "exit_code": None,
            "detail": "x",
        }
    ]


# --- news -------------------------------------------------------------------------------------

REF = Ref(7, 1, 0)
ARRIVED = ComponentRecord(arrived=True, hosts=("n1", "n2"))
STARTED = ComponentRecord(arrived=True, hosts=("n1", "n2"), begun=True, started=5.0)
ENDED = replace(STARTED, ended=6.0, exit_code=3, signalled=True)


@pytest.mark.parametrize(
    ("before", "after", "events"),
    [
        (ComponentRecord(), ComponentRecord(), []),
        (ComponentRecord(), ARRIVED, [Arrived(REF, "n1 n2")]),
        (ARRIVED, ARRIVED, []),
        (ARRIVED, replace(ARRIVED, begun=True), []),  # when, it is not known yet
        (ARRIVED, STARTED, [Started(REF, 5.0, "n1 n2")]),
        (STARTED, ENDED, [Ended(REF, 6.0, 3, True)]),
        (ENDED, ENDED, []),
        # All of it between two looks: in the order in which it happened.
        (
            ComponentRecord(),
            ENDED,
            [
                Arrived(REF, "n1 n2", begun=True),
                Started(REF, 5.0, "n1 n2"),
                Ended(REF, 6.0, 3, True),
            ],
        ),
        (ARRIVED, ComponentRecord(arrived=True, gave_up=True), [GaveUp(REF)]),
        # A sibling that has left its gate must not be chosen before that is heard.
        (ComponentRecord(), ComponentRecord(arrived=True, gave_up=True), [GaveUp(REF)]),
    ],
)
def test_news(before: ComponentRecord, after: ComponentRecord, events: list[Event]) -> None:
    assert news(REF, before, after) == events


def test_a_start_is_told_when_its_time_is_written_down_or_never_will_be() -> None:
    """On a full disk it is not: the job runs all the same. A time that is changed later is not
    told again."""
    told: list[Event] = []
    it = records.Records()
    begun = ComponentRecord(begun=True, hosts=("n1",))
    it.watch(REF)
    for seen in (begun, replace(begun, started=50.0), replace(begun, started=4e9)):
        told += it.told({REF: seen}, 60.0, 1.0)
    assert told == [Started(REF, 50.0, "n1")]
    it.unwatch(REF)
    it.watch(REF)
    for steady in (1.0, 5.0, 6.1, 7.0):
        told += it.told({REF: begun}, 70.0, steady)
    assert told[1:] == [Started(REF, 70.0, "n1")]


# --- rules ------------------------------------------------------------------------------------


def rules(**given: Any) -> Authorization:
    plain: dict[str, Any] = {
        "policy": "GS",
        "default_time": 600,
        "max_time": 3600,
        "admins": ("boss",),
        "submitters": ("anna",),
        "homes": {"anna": "delft"},
        "shared_everywhere": True,
    }
    return Authorization(**(plain | given))


def refused(it: Authorization, caller: Caller, **given: Any) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        it.check(caller, submission(**given))
    assert caught.value.advice
    return caught.value


def test_the_time_limit() -> None:
    assert rules().check(ANNA, submission()) == 600
    assert rules().check(ANNA, submission(time_limit=3600)) == 3600
    error = refused(rules(), ANNA, time_limit=3601)
    assert error.failure is Failure.INVALID and "1:00:00" in error.message
    assert rules(max_time=None).check(ANNA, submission(time_limit=10**9)) == 10**9


def test_the_daemons_own_account_may_always_submit() -> None:
    me = Caller(os.geteuid(), "whoever")
    assert rules(submitters=(), shared_everywhere=False).check(me, submission()) == 600


def test_others_may_submit_if_they_are_named_and_there_is_a_place_to_meet() -> None:
    error = refused(rules(submitters=()), ANNA)
    assert error.failure is Failure.FORBIDDEN and "`submitters`" in error.advice
    error = refused(rules(shared_everywhere=False), ANNA)
    assert error.failure is Failure.FORBIDDEN and "`shared_dir`" in error.advice


def test_an_account_without_a_name_refuses_in_words_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 3_999_999_999 % 2**31)
    error = refused(rules(submitters=()), ANNA)
    assert str(3_999_999_999 % 2**31) in error.message


def test_who_may_change_a_job() -> None:
    it = rules()
    assert it.may_change(ANNA, "anna")
    assert not it.may_change(ANNA, "bob")
    assert it.may_change(Caller(0, "root"), "bob")
    assert it.may_change(Caller(7, "boss"), "bob")
    assert not it.may_change(Caller(7, "root"), "bob"), "a name is not a number"


def test_home() -> None:
    assert rules().home(ANNA) == "delft"
    assert rules().home(Caller(1, "bob")) is None


def test_a_planned_job_tells_its_time_until_its_script_starts() -> None:
    parts = [
        Component(Ref(7, 1, i), cluster=i, processors=8, reserves=True, planned=1e6 + i)
        for i in (0, 1)
    ]
    parts[0].reservation = True
    clusters = list(NAMES.names[:2])
    told = {"start": 1e6 + 1, "clusters": clusters, "held": False}
    assert view(JobState.RESERVING, *parts, attempt=1)["plan"] == told
    parts[1].reservation = True
    assert view(JobState.WAITING, *parts, attempt=1)["plan"] == told | {"held": True}
    row = job_row(job(7, JobState.WAITING, attempt=1), NAMES)
    row["components"] = [component_row(p, NAMES) for p in parts]
    shown = Queries.view(SimpleNamespace(instance="abcdef01"), row, {})  # type: ignore[arg-type]
    assert (shown["earliest_start"], shown["expected_start"]) == (told["start"], None)
    assert view(JobState.RUNNING, *parts, attempt=1)["plan"] is None
    assert view(JobState.QUEUED, *parts, attempt=1)["plan"] is None
