"""What a user's waiting jobs depend on is bounded in all."""

from __future__ import annotations

import pytest

from metabroker.broker.events import CancelJob
from metabroker.broker.rejected import Rejected
from metabroker.broker.resource_limits import ResourceLimits

from . import test_arrays, test_corresponding
from .bench import Bench
from .test_dependencies import end, it, restart, state, submit

__all__ = ["it"]


def limit(it: Bench, most: int) -> None:
    it.shares = ResourceLimits(dependencies=most)
    it.broker.limit(it.shares)


def all_but(it: Bench, jobs: list[int]) -> str:
    return "afterany:" + ":".join(map(str, jobs))


@pytest.mark.parametrize("how", ["cancelled", "met"])
def test_a_job_beyond_the_limit_of_its_user_is_refused(it: Bench, how: str) -> None:
    limit(it, 5)
    others = [submit(it) for _ in range(3)]
    first = submit(it, all_but(it, others))
    restart(it)
    with pytest.raises(Rejected) as refused:
        submit(it, all_but(it, others))
    assert "user u wait for 3 others" in str(refused.value)
    assert "at most 5 are allowed (limits.per_user.dependencies)" in str(refused.value)
    assert state(it, submit(it, all_but(it, others), user="v")) == "WAITS"
    if how == "cancelled":
        it.handle(CancelJob(first, "u"))
        assert state(it, submit(it, all_but(it, others))) == "WAITS"
    else:
        for number in others:
            end(it, number)
        fourth = [submit(it, hold=True) for _ in range(3)]
        assert state(it, submit(it, all_but(it, fourth))) == "WAITS"


def test_without_a_limit_any_number_is_taken(it: Bench) -> None:
    other = submit(it, hold=True)
    assert {state(it, submit(it, f"after:{other}")) for _ in range(20)} == {"WAITS"}


def test_tasks_that_wait_for_tasks_of_others_are_made_as_there_is_room(it: Bench) -> None:
    limit(it, 4)
    first = test_arrays.submit(it, "0-6")
    second = test_arrays.submit(it, "0-6", on=f"aftercorr:{first}")  # which counts for one
    waiting = test_corresponding.all_of(it, second, 7)
    assert waiting == ["WAITS"] * 3 + ["none yet"] * 4
    restart(it)
    assert test_corresponding.all_of(it, second, 7) == waiting
    test_arrays.end_all(it, first)
    test_arrays.end_all(it, second)
    assert test_arrays.state(it, second) == ("COMPLETED", 0)


def test_an_array_goes_on_however_much_else_its_user_waits_for(it: Bench) -> None:
    held = submit(it, hold=True)
    for _ in range(4):
        submit(it, f"afterany:{held}")
    first = test_arrays.submit(it, "0-3")
    second = test_arrays.submit(it, "0-3", on=f"aftercorr:{first}")
    limit(it, 4)
    restart(it)
    test_arrays.end_all(it, first)
    test_arrays.end_all(it, second)
    assert test_arrays.state(it, second) == ("COMPLETED", 0)
