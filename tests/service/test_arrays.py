"""Arrays of jobs, from their submission to their tasks' files."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metabroker.api.calls import BY_ROUTE, Asked
from metabroker.api.service import Failure, ServiceError, read
from metabroker.submission.errors import SubmissionError
from metabroker.submission.model import Caller, Processors, Submission
from tests.daemon.harness import eventually
from tests.daemon_units.making import ANNA, House, refused, submission

SCRIPT = b"""#!/bin/sh
echo $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_COUNT $SLURM_ARRAY_TASK_MIN \\
    $SLURM_ARRAY_TASK_MAX $SLURM_ARRAY_TASK_STEP $PBS_ARRAY_INDEX $METABROKER_ARRAY_TASK_ID
while [ -e wait ]; do sleep 0.02; done
exit $SLURM_ARRAY_TASK_ID
"""


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.close()


def test_each_task_knows_which_it_is_and_writes_files_of_its_own(house: House) -> None:
    job = house.submit(script=SCRIPT, array="0-6:3%2", processors=Processors(single=64))["job"]
    assert house.ended(job)["exit_code"] == 6
    for task in (0, 3, 6):
        text = (house.folder / f"metabroker-{job}_{task}.out").read_text()
        assert text == f"{job} {task} 3 0 6 3 {task} {task}\n"
    shown = read(house.service, "records", jobs=[job])["jobs"]
    assert [(each["array_task"], each["state"]) for each in shown] == [
        (None, "FAILED"), (0, "COMPLETED"), (3, "FAILED"), (6, "FAILED")
    ]  # fmt: skip
    assert {each["array_job"] for each in shown[1:]} == {job}
    assert shown[1]["spec"] == shown[0]["spec"] != None  # noqa: E711
    assert read(house.service, "job", job=job, tasks="3")["array_task"] == 3


def test_tasks_are_asked_about_and_changed_by_their_numbers(house: House) -> None:
    (house.folder / "wait").touch()
    job = house.submit(script=SCRIPT, array="0-199%1")["job"]
    eventually(lambda: house.api.job(job)["array"]["left"] == "1-199")
    house.answer(house.api.call(ANNA, "cancel", job=job, tasks="1-100,150"))
    assert house.api.job(job)["array"]["cancelled"] == "1-100,150"
    assert "98 of 200 tasks are to come, at most 1 at once" in house.api.active()[0]["reason"]
    wrong = refused(lambda: house.api.call(ANNA, "hold", job=job, tasks="120"))
    assert wrong.failure is Failure.NOT_FOUND
    number = read(house.service, "job", job=job, tasks="0")["job"]
    plain = house.submit()["job"]
    assert refused(lambda: house.api.call(ANNA, "cancel", job=plain, tasks="1")).message == (
        f"job {plain} is no array"
    )
    bob = Caller(1002, "bob")
    other = refused(lambda: house.api.call(bob, "cancel", job=job, tasks="0"))
    assert other.failure is Failure.FORBIDDEN
    house.answer(house.api.cancel(ANNA, job))
    assert house.ended(number)["state"] == "CANCELLED"
    assert house.ended(job)["state"] == "CANCELLED"


def test_an_array_that_is_too_large_is_refused_at_once(house: House) -> None:
    with pytest.raises(SubmissionError, match="has the number 100000000"):
        house.submit(array="0-100000000")


def test_other_limits_are_for_its_user_to_give(house: House) -> None:
    (house.folder / "wait").touch()
    job = house.submit(script=SCRIPT, array="0-9%1", processors=Processors(single=64))["job"]
    eventually(lambda: house.api.job(job)["array"]["left"] == "1-9")
    wrong = refused(lambda: house.api.call(Caller(1002, "bob"), "change", job=job, most=3))
    assert wrong.failure is Failure.FORBIDDEN
    house.answer(house.api.call(ANNA, "change", job=job, most=3, time_limit=77))
    shown = house.api.job(job)
    assert (shown["array"]["most"], shown["time_limit"]) == (3, 77)
    assert shown["events"][-1] | {"time": 0} == {
        "time": 0, "event": "changed", "attempt": 0, "by": "anna", "time_limit": 77, "most": 3
    }  # fmt: skip
    eventually(lambda: house.api.job(job)["array"]["left"] == "3-9")
    house.answer(house.api.call(ANNA, "cancel", job=job))
    (house.folder / "wait").unlink()


@pytest.mark.parametrize("body", [{}, [], {"most": -1}, {"most": True}, {"time_limit": 0},
                                  {"time_limit": "5"}, {"name": "x"}, {"most": 2**31}])  # fmt: skip
def test_what_is_no_change(body: Any) -> None:
    with pytest.raises(ServiceError):
        BY_ROUTE["POST", "/v1/jobs/{job}/change"].arguments(Asked({"job": "17"}, {}, body))


def test_the_oldest_of_a_queue_is_no_array_whose_tasks_run_and_nobody_who_waits_for_another(
    house: House,
) -> None:
    (house.folder / "wait").touch()
    job = house.submit(script=SCRIPT, array="0-1")["job"]
    eventually(lambda: house.api.job(job)["array"]["left"] == "")
    house.submit(dependency=f"afterany:{job}")
    assert read(house.service, "status")["oldest_wait"]["global"] == 0
    for _ in range(2):  # one of them has room
        house.submit(script=SCRIPT, processors=Processors(single=62))
    assert 0 < read(house.service, "status")["oldest_wait"]["global"] < 20
    (house.folder / "wait").unlink()


def test_what_was_held_or_is_the_next_task_of_an_array_has_not_waited_since_its_submission(
    house: House,
) -> None:
    (house.folder / "wait").touch()
    house.submit(script=SCRIPT, processors=Processors(single=64))
    house.submit(script=SCRIPT, processors=Processors(single=64), array="0-1%1")
    eventually(lambda: len(read(house.service, "queue")["jobs"]) == 3)
    assert read(house.service, "status")["oldest_wait"]["global"] == 0
    held = house.submit(script=SCRIPT, processors=Processors(single=64), hold=True)["job"]
    (submitted,) = read(house.service, "records", jobs=[held])["jobs"]
    time.sleep(0.3)
    house.api.release(ANNA, held)
    waited = read(house.service, "status")["oldest_wait"]["global"]
    assert 0 < waited < time.time() - submitted["submit_time"] - 0.2
    (house.folder / "wait").unlink()


def test_what_is_tried_or_refused_names_no_task_of_an_array(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.submit(hold=True, array="0-99999")
    named: list[int] = []
    look = house.store.jobs.outcomes

    def outcomes(some: Any) -> Any:
        named.append(len(some))
        return look(some)

    monkeypatch.setattr(house.store.jobs, "outcomes", outcomes)

    def asked(job: int) -> Submission:
        return submission(str(house.folder), array="0-99999", dependency=f"aftercorr:{job}")

    assert not house.answer(house.api.dry_run(ANNA, asked(1)))["starts_now"]
    refused(lambda: house.api.dry_run(ANNA, asked(77)))
    refused(lambda: house.api.submit(ANNA, asked(77)))
    house.submit(hold=True, array="0-99999", dependency="aftercorr:1")
    assert named and max(named) == 1, "and of those that cannot have ended none is asked for"
