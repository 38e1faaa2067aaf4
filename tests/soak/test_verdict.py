"""The soak's verdict finds what it is there to find."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.soak.faults import CLOCK, Fault
from benchmarks.soak.sampler import Sample, figures
from benchmarks.soak.users import Told
from benchmarks.soak.verdict import EndedById, Truth, in_part, judge
from benchmarks.soak.work import LIMIT, Plan, plans
from metabroker.submission.model import Processors
from tests.daemon.harness import Run

Json = dict[str, Any]
OPENED = [{"event": "opened", "attempt": 1}]
KILLED = Fault("slurmctld killed", "delft", 105.0, 106.0)
PLAN = Plan(1, "ordered", Processors(single=1), "ends", 0.0, None, 0.0, False, False)


def job(state: str = "COMPLETED", code: int | None = 0, parts: int = 2) -> Json:
    clusters = ("delft", "leiden")
    return {
        "job": 1,
        "state": state,
        "reason": "",
        "exit_code": code,
        "submit_time": 100.0,
        "end_time": 110.0,
        "components": [
            {"index": n, "cluster": clusters[n], "native_id": f"7{n}"} for n in range(parts)
        ],
    }


def runs(*started: tuple[int, int]) -> list[Run]:
    return [Run(1, attempt, component, 101.0) for attempt, component in started]


def found(
    shown: Json | None,
    started: list[Run],
    ends: dict[int, list[Run]],
    *,
    told: Told | None = None,
    events: list[Json] | None = None,
    faults: tuple[Fault, ...] = (),
    by_id: tuple[EndedById, ...] = (),
) -> list[str]:
    """What the verdict says of job 1."""
    known = told or Told(PLAN, 1, 100.0, {1}, state=None if shown is None else shown["state"])
    jobs = {} if shown is None else {1: shown}
    single = {1} if shown is not None and len(shown["components"]) == 1 else set()
    truth = Truth(started, ends, single, by_id)
    verdict = judge([known], jobs, {1: events or []}, truth, list(faults))
    return [what.partition(":")[0] for _, what in verdict.violations]


BOTH = [(1, 0), (1, 1)]
WELL = {0: runs(*BOTH)}


def test_nothing_is_wrong_with_a_job_that_ran_well() -> None:
    assert found(job(), runs(*BOTH), WELL) == []


@pytest.mark.parametrize("again", [(1, 0), (2, 0)])
def test_a_second_start_in_any_attempt(again: tuple[int, int]) -> None:
    assert "P2" in found(job(), runs(*BOTH, again), WELL)


def test_siblings_of_a_job_in_line_are_one_component() -> None:
    one = job(parts=1)
    assert found(one, runs((1, 1)), {0: runs((1, 1))}) == []
    assert found(one, runs((1, 0), (1, 1)), {0: runs((1, 1))}) == ["P2"]


def test_a_part_that_started_alone() -> None:
    started, ends = runs((1, 0)), {0: runs((1, 0))}
    failed = job("FAILED", 1)
    assert in_part({1: failed}, Truth(started, ends)) == [1]
    assert found(failed, started, ends) == ["P3"]
    assert found(failed, started, ends, events=OPENED) == []  # the documented limit
    assert found(job(), started, ends, events=OPENED) == ["P3", "P6"]


def test_a_job_that_is_lost_or_doubled_or_has_two_ends() -> None:
    assert found(None, [], {}) == ["P1"]
    assert found(job(), runs(*BOTH), WELL, told=Told(PLAN, 1, 100.0, {1, 2})) == ["P1"]
    assert found(job(), runs(*BOTH), WELL, told=Told(PLAN, 1, 100.0, {1}, state="FAILED")) == ["P1"]
    verdict = judge([], {1: job()}, {}, Truth([], {}), [])
    assert [number for number, _ in verdict.violations] == [1]


def test_an_end_that_is_not_what_happened() -> None:
    assert found(job(), [], {}) == ["P6"]
    assert found(job(), runs(*BOTH), {0: runs((1, 0)), 3: runs((1, 1))}) == ["P6"]
    assert found(job("FAILED", None), runs(*BOTH), WELL) == ["P6"]
    assert found(job("FAILED", None), runs(*BOTH), WELL, faults=(KILLED,)) == []
    assert found(job("CANCELLED", None), [], {}) == ["P6"]
    assert found(job("TIMEOUT", None), runs(*BOTH), {}) == ["P6"]


@pytest.mark.parametrize(
    ("ended", "seen"),
    [
        (("delft", "70", 105.5), ["P6"]),
        (("leiden", "70", 105.5), []),
        (("delft", "71", 105.5), []),
        (("delft", "70", 99.0), []),
    ],
)
def test_no_fault_hides_that_a_broker_ended_it_by_its_id(
    ended: tuple[str, str, float], seen: list[str]
) -> None:
    """It took it for another one, whose id a controller has given again."""
    failed, by_id = job("FAILED", None), (EndedById(*ended),)
    assert found(failed, runs(*BOTH), WELL, faults=(KILLED,), by_id=by_id) == seen


def test_cancelled_as_asked_and_timed_out_in_time() -> None:
    cancelled = Told(PLAN, 1, 100.0, {1}, cancelled=True, state="CANCELLED")
    assert found(job("CANCELLED", None), [], {}, told=cancelled) == []
    late = {**job("TIMEOUT", None), "end_time": 100.0 + LIMIT}
    assert found(late, runs(*BOTH), {}) == []
    # Slurm counts whole seconds.
    assert found({**late, "end_time": 99.1 + LIMIT}, runs(*BOTH), {}) == []
    assert found({**late, "end_time": 98.9 + LIMIT}, runs(*BOTH), {}) == ["P6"]


def test_where_the_databases_clock_was_stepped_others_tell_how_long_it_ran() -> None:
    stepped = (Fault(CLOCK, "database", 101.0, 101.0),)
    odd = {**job("TIMEOUT", None), "end_time": 50.0}
    early, late = (
        Told(PLAN, 1, 100.0, {1}, state="TIMEOUT", heard=heard) for heard in (150.0, 102.0 + LIMIT)
    )
    assert found(odd, runs(*BOTH), {}, told=late, faults=stepped) == []
    assert found(odd, runs(*BOTH), {}, told=early, faults=stepped) == ["P6"]
    # Of the attempts the last one counts, and a job that never started was not there for so long.
    again = [*runs((1, 0)), Run(1, 2, 0, 180.0)]
    assert found(job("TIMEOUT", None, 1), again, {}, told=late, faults=stepped) == ["P2", "P6"]
    assert found(odd, [], {}, told=early, faults=stepped) == ["P6"]


def test_where_the_databases_clock_was_stepped_a_fault_is_found_by_the_users_clock() -> None:
    stepped = Fault(CLOCK, "database", 50.0, 50.0)
    odd = {**job("FAILED", None), "submit_time": 7000.0, "end_time": 7010.0}
    told = Told(PLAN, 1, 100.0, {1}, state="FAILED", heard=110.0)
    assert found(odd, runs(*BOTH), WELL, told=told, faults=(stepped, KILLED)) == []
    later = Fault("slurmctld killed", "delft", 7005.0, 7006.0)
    assert found(odd, runs(*BOTH), WELL, told=told, faults=(stepped, later)) == ["P6"]


@pytest.mark.parametrize(
    ("delay", "faults", "wrong"), [(4, 0, 0), (8, 0, 1), (8, 1, 0), (25, 1, 1)]
)
def test_where_it_was_stepped_a_script_may_begin_a_while_after_its_native_job(
    delay: float, faults: int, wrong: int
) -> None:
    """Its limit counts from that one's start."""
    stepped = Fault(CLOCK, "database", 50.0, 50.0)
    told = Told(PLAN, 1, 100.0, {1}, state="TIMEOUT", heard=101.0 + LIMIT)
    began = [Run(1, 1, part, 101.0 + delay) for part in (0, 1)]
    happened = (stepped, KILLED)[: 1 + faults]
    said = found(job("TIMEOUT", None), began, {}, told=told, faults=happened)
    assert said == ["P6"] * wrong


def test_the_same_seed_draws_the_same_jobs() -> None:
    sizes = {"delft": 64, "leiden": 32, "lab": 32}
    first, second, other = (plans(seed, sizes) for seed in (1, 1, 2))
    drawn = [next(first) for _ in range(200)]
    assert drawn == [next(second) for _ in range(200)]
    assert drawn != [next(other) for _ in range(200)]
    assert {plan.kind for plan in drawn} == {"single", "ordered", "unordered", "flexible"}
    assert {plan.fate for plan in drawn} == {"ends", "fails", "staged", "overtime"}


@pytest.mark.parametrize(("a_second", "flat"), [(0.0, True), (0.001, True), (0.1, False)])
def test_memory_that_rises_is_seen(a_second: float, flat: bool) -> None:
    samples = [
        Sample(1, 10.0 * n, 10.0 * n, 100.0 + a_second * 10 * n + n % 3 / 10, 30) for n in range(60)
    ]
    (life,) = figures(samples)["longest"]
    assert life["memory"]["flat"] is flat
    assert life["files"]["flat"] is True
