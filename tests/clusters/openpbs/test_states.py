"""Every state, and every way in which a job can end."""

from __future__ import annotations

import pytest

from metabroker.broker.observation import NativeState
from metabroker.broker.states import Cause
from metabroker.clusters.openpbs import parsing, states
from metabroker.clusters.openpbs.snapshot import native_job

from .recorded import case, reservations


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ("QHWT", NativeState.PENDING),
        ("RSUEB", NativeState.RUNNING),
        ("FX", NativeState.ENDED),
        ("M?C", NativeState.UNKNOWN),
    ],
)
def test_job_states(words: str, state: NativeState) -> None:
    assert {states.job_state(word) for word in words} == {state}


@pytest.mark.parametrize(
    ("substate", "status", "cause"),
    [
        (92, 0, None),
        (93, 3, Cause.EXIT),
        (93, 137, Cause.EXIT),  # it killed itself, or was killed past PBS
        (93, 254, Cause.EXIT),
        (91, 271, Cause.KILLED),
        (91, None, Cause.KILLED),
        (91, 0, Cause.KILLED),
        (93, 266, Cause.KILLED),
        (93, -29, Cause.OVERTIME),
        (93, -27, Cause.KILLED),
        (93, -1, Cause.NODE),
        (93, -3, Cause.NODE),
    ],
)
def test_ends(substate: int, status: int | None, cause: Cause | None) -> None:
    assert states.end_cause(substate, status) is cause


@pytest.mark.parametrize(
    ("name", "state", "cause", "exit_code"),
    [
        ("20/02", NativeState.RUNNING, None, None),
        ("20/03", NativeState.PENDING, None, None),
        ("20/05", NativeState.PENDING, None, None),
        ("20/06", NativeState.PENDING, None, None),
        ("20/08", NativeState.RUNNING, None, None),
        ("20/13", NativeState.ENDED, Cause.EXIT, None),
        ("20/17", NativeState.ENDED, Cause.KILLED, None),
        ("30/03", NativeState.ENDED, Cause.KILLED, None),
        ("50/24", NativeState.ENDED, Cause.KILLED, None),
        ("80/18", NativeState.ENDED, Cause.OVERTIME, None),
        ("90/03", NativeState.ENDED, Cause.EXIT, None),
    ],
)
def test_recorded_lives(
    name: str, state: NativeState, cause: Cause | None, exit_code: int | None
) -> None:
    job = native_job(parsing.jobs(case(name).stdout)[0])
    assert (job.state, job.cause, job.exit_code) == (state, cause, exit_code)
    assert (job.end_time is not None) == (state is NativeState.ENDED)


def test_why_a_job_waits_is_told() -> None:
    waiting = native_job(parsing.jobs(case("20/04").stdout)[0])
    assert waiting.reason.startswith("Can Never Run: Insufficient amount of resource: ncpus")


@pytest.mark.parametrize(
    ("words", "takes", "whole"),
    [
        (("free",), True, False),
        (("job-busy",), True, True),
        (("job-exclusive", "resv-exclusive"), True, True),
        (("offline",), False, False),
        (("offline", "job-busy"), False, True),
        (("state-unknown", "down"), False, False),
        (("maintenance",), False, False),
        (("something-new",), False, False),
        ((), False, False),
    ],
)
def test_node_states(words: tuple[str, ...], takes: bool, whole: bool) -> None:
    assert (states.takes_jobs(words), states.is_taken_whole(words)) == (takes, whole)


def test_a_reservation_that_lost_a_host_is_not_healthy_though_it_runs() -> None:
    assert states.is_healthy("RESV_RUNNING", 5)
    assert states.is_healthy("RESV_CONFIRMED", 2)
    assert not states.is_healthy("RESV_RUNNING", 10)
    assert not states.is_healthy("RESV_DEGRADED", 10)
    assert not states.is_healthy("RESV_UNCONFIRMED", 1)
    degraded = reservations(case("53/04").stdout)[0]
    assert not states.is_healthy(degraded.state, degraded.substate) and states.holds(degraded.state)


def test_the_time_limit_of_a_suspended_job_stands_still() -> None:
    (suspended,) = parsing.jobs(case("20/08").stdout)
    (running,) = parsing.jobs(case("20/08").stdout.replace('"S"', '"R"'))
    assert native_job(suspended).suspended
    assert not native_job(running).suspended
