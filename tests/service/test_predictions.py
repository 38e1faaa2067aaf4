"""When jobs start, as users are told: learned from the history, then from what happens."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from metabroker.api.service import read
from metabroker.broker.job import Component, Job
from metabroker.broker.ledger import LedgerEntry
from metabroker.broker.outbox import Ready
from metabroker.broker.states import JobState
from metabroker.broker.tokens import Ref
from metabroker.daemon.learning import Learning
from metabroker.daemon.sharing.places import places
from metabroker.policy import Request
from metabroker.prediction import Asked, conformal, start_times
from metabroker.prediction.forward import expected_waits
from metabroker.service import predictions, queries, reasons
from metabroker.service.predictions import Predictions
from metabroker.store import Store
from metabroker.store.rows import ClusterNames
from metabroker.submission.model import Processors
from tests.daemon.harness import eventually
from tests.daemon_units.making import ANNA, SIZES, House, submission
from tests.store.making import batch
from tests.store.making import job as stored

LONG = b"#!/bin/sh\nuntil [ -e go ]; do sleep 0.05; done\n"
NAMES = ClusterNames(list(SIZES))


def row(number: int, **given: Any) -> dict[str, Any]:
    """One of a hundred jobs on all processors, each of which ran for 100 s of its hour."""
    start = 100.0 * number
    part = {"attempt": 1, "cluster": "delft", "processors": 64}
    return {
        "id": number,
        "user": "anna",
        "name": "job",
        "state": "COMPLETED",
        "queue": "",
        "attempt": 1,
        "sizes": [64],
        "clusters": None,
        "time_limit": 3600,
        "components": [part],
        "submit_time": start - 100,
        "start_time": start,
        "end_time": start + 100.0,
        **given,
    }


HISTORY = [row(number) for number in range(1, 101)]


def learned(house: House) -> Predictions:
    found = house.service.predictions
    found.learn(HISTORY, NAMES, list(SIZES.values()))
    return found


def test_users_are_told_an_interval_everywhere(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = learned(house)
    house.submit(script=LONG, processors=Processors(single=64))
    house.submit(processors=Processors(single=64))
    asked = submission(str(house.folder), processors=Processors(single=64))
    assert house.api.job(2)["expected_start"] is None, "nothing is worked out in the core's thread"
    eventually(lambda: house.api.job(1)["state"] == "RUNNING")
    known.work()
    start = house.api.job(2)["expected_start"]
    assert start["earliest"] <= start["likely"] <= start["latest"] and start["confidence"] == 0.9
    assert 0 <= start["likely"] - house.clock() < 300, "not as its limit of ten minutes says"
    for shown in (
        house.api.job(2),
        next(job for job in house.api.active() if job["job"] == 2),
        next(job for job in house.api.overview()["jobs"] if job["job"] == 2),
    ):
        assert shown["expected_start"].keys() == start.keys()
        assert shown["earliest_start"] == shown["expected_start"]["earliest"]
    dry = house.answer(house.api.dry_run(ANNA, asked))
    assert dry["expected_start"]["likely"] > house.clock() and not dry["starts_now"]
    assert house.api.job(1)["expected_start"] is None
    monkeypatch.setattr(queries, "PAGE", 1)
    pages = [json.loads(b"[%s]" % page) for page in read(house.service, "queue")["jobs"].pages]
    assert [page[0]["expected_start"] is None for page in pages] == [True, False]
    (house.folder / "go").touch()
    house.ended(2)
    assert house.api.job(2)["expected_start"] is None
    known.work()
    assert house.api.status()["start_times"]["told"] > 0


def test_a_stand_by_passes_on_what_the_leader_tells() -> None:
    start = {"earliest": 5.0, "likely": 6.0, "latest": 9.0, "confidence": 0.9}
    told = {"7": [0, "behind"], "8": [None, "held"], "starts": {"7": start}}
    assert places([7, 8], told) == {
        7: reasons.Waiting(0, "behind", start),
        8: reasons.Waiting(None, "held"),
    }


class Clock:
    now = 20_000.0

    def __call__(self) -> float:
        return self.now


class View:
    """As much of the core as is looked at."""

    entries = tuple(LedgerEntry(usable=size) for size in SIZES.values())

    def __init__(self, *jobs: Job) -> None:
        self.jobs = {job.id: job for job in jobs}


def job(number: int, state: JobState, **given: Any) -> Job:
    parts = [Component(Ref(number, 1, 0), 0, 64, False)] if state is not JobState.QUEUED else []
    request = Request((64,))
    return Job(
        number, "anna", "x", request, 3600, 20_000.0, 2, state=state, components=parts, **given
    )


def place(known: Predictions, number: int) -> dict[str, Any] | None:
    return known.add({number: reasons.Waiting(0, "")})[number].start


def write(known: Predictions, *jobs: Job) -> None:
    known.written(Ready(list(jobs), [], [], []), View())  # type: ignore[arg-type]
    known.work()


@pytest.fixture
def known() -> Predictions:
    made = Predictions(Clock())
    made.learn(HISTORY, NAMES, [64, 32])
    return made


def test_jobs_that_are_there_at_the_start_are_told_of(known: Predictions) -> None:
    running = job(200, JobState.RUNNING, start_time=19_950.0)
    view = View(running, job(201, JobState.QUEUED))
    known.begin(view, [200, 201, 202])  # type: ignore[arg-type]
    known.work()
    start = place(known, 201)
    assert start is not None and start["earliest"] >= 20_000 and start["latest"] < 23_600


@pytest.mark.parametrize("state", [JobState.HELD, JobState.CANCELLED])
def test_who_leaves_the_queue_is_told_nothing(known: Predictions, state: JobState) -> None:
    write(known, job(200, JobState.RUNNING, start_time=20_000.0), job(201, JobState.QUEUED))
    assert place(known, 201) is not None
    write(known, job(201, state))
    assert place(known, 201) is None
    write(known, job(201, JobState.QUEUED))
    assert place(known, 201) is not None, "released"


def test_a_job_that_runs_once_more_waits_again(known: Predictions) -> None:
    write(known, job(200, JobState.RUNNING, start_time=20_000.0))
    write(known, job(200, JobState.QUEUED))
    assert place(known, 200) is not None and not known._book.runs(200)
    write(known, job(200, JobState.FAILED, start_time=20_001.0, end_time=20_002.0))
    assert place(known, 200) is None


def test_of_who_is_in_no_queue_nothing_is_told(known: Predictions) -> None:
    write(known, job(200, JobState.RUNNING, start_time=20_000.0), job(201, JobState.QUEUED))
    held_back = reasons.Waiting(None, "exceeds a limit")
    assert known.add({201: held_back}) == {201: held_back} and place(known, 201) is not None


def test_where_too_much_happens_at_once_nothing_is_told(
    known: Predictions, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(known, job(190, JobState.RUNNING, start_time=20_000.0), job(191, JobState.QUEUED))
    assert place(known, 191) is not None
    monkeypatch.setattr(predictions, "_MOST_NEWS", 3)
    write(known, *(job(number, JobState.QUEUED) for number in range(200, 205)))
    assert place(known, 200) is None and place(known, 191) is None
    write(known, job(300, JobState.RUNNING, start_time=20_000.0), job(301, JobState.QUEUED))
    assert place(known, 301) is not None, "and it goes on"


def test_only_so_many_are_worked_out_at_a_time(known: Predictions) -> None:
    jobs = [job(number, JobState.QUEUED) for number in range(200, 215)]
    known.written(Ready(jobs, [], [], []), View())  # type: ignore[arg-type]
    assert known.work() and place(known, 204) is not None and place(known, 214) is None
    assert known.work() and not known.work() and place(known, 214) is not None


def test_what_is_not_known_is_tried_again(
    known: Predictions, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(conformal, "LEAST", 1000)
        write(known, job(200, JobState.RUNNING, start_time=20_000.0), job(201, JobState.QUEUED))
    known.work()
    assert place(known, 201) is None, "not at once"
    monkeypatch.setattr(Clock, "now", 20_061.0)
    while known.work():
        pass
    assert place(known, 201) is not None


def meanwhile(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None]) -> None:
    """It happens each time that an expectation is worked out."""

    def slow(*given: Any) -> list[float]:
        happens()
        return expected_waits(*given)

    monkeypatch.setattr(start_times, "expected_waits", slow)


def test_nobody_who_asks_waits_for_what_is_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """`queue`, `show`, `status`, dry runs and the page need the lock."""
    known, locked = Predictions(Clock()), list[bool]()
    meanwhile(monkeypatch, lambda: locked.append(known._lock.locked()))
    known.learn(HISTORY, NAMES, [64, 32])
    learned = len(locked)
    write(known, job(200, JobState.RUNNING, start_time=20_000.0), job(201, JobState.QUEUED))
    worked = len(locked)
    assert known.preview(Asked(Request((64,)), 3600.0, "anna"), Clock.now) is not None
    assert 0 < learned < worked < len(locked) and not any(locked)


def test_it_may_end_while_something_is_worked_out(
    known: Predictions, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(monkeypatch, known.end)
    write(known, job(200, JobState.RUNNING, start_time=20_000.0), job(201, JobState.QUEUED))
    assert place(known, 201) is None and not known.work() and not known._unknown


def test_dry_runs_are_worked_out_one_at_a_time(
    known: Predictions, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, others = Asked(Request((64,)), 3600.0, "anna"), list[Any]()
    monkeypatch.setattr(predictions, "_PATIENCE", 0.01)
    write(known, job(200, JobState.RUNNING, start_time=20_000.0))
    meanwhile(monkeypatch, lambda: others.append(known.preview(asked, Clock.now)))
    assert known.preview(asked, Clock.now) is not None and others == [None]
    assert known.preview(asked, Clock.now) is not None, "and the next ones are told"


def test_rows_of_clusters_that_are_gone_teach_nothing() -> None:
    made = Predictions(Clock())
    part = {"attempt": 1, "cluster": "gone", "processors": 64}
    made.learn([row(n, components=[part]) for n in range(1, 101)], NAMES, [64, 32])
    write(made, job(200, JobState.QUEUED))
    assert place(made, 200) is None and made.achieved().told == 0


def test_all_of_the_newest_jobs_are_learned_from_though_read_by_pages(
    house: House, tmp_path: Path
) -> None:
    ended = [stored(n, JobState.COMPLETED, end_time=float(n)) for n in range(1, 251)]
    with closing(Store(f"sqlite:///{tmp_path}/other.db")) as store:
        store.commit(batch(*ended), NAMES)
        learning = Learning(house.loop, store, house.service.predictions)
        assert [row["id"] for row in learning._ended()] == list(range(1, 251))


def test_it_is_told_once_when_all_that_is_kept_of_the_waiting_jobs_is_there(
    house: House, tmp_path: Path
) -> None:
    """Then the collector of cycles need not look at it again and again (runtime/collector.py)."""
    loop, known = house.loop, Predictions(Clock())
    house.submit(script=LONG, processors=Processors(single=64))
    house.submit(processors=Processors(single=64))
    house.submit(processors=Processors(single=64))
    told: list[list[bool]] = []
    with closing(Store(f"sqlite:///{tmp_path}/other.db")) as store:
        learning = Learning(
            loop, store, known, lambda: told.append([known._book.waits(n) for n in (2, 3)])
        )
        learning.start()
        eventually(lambda: told)
        learning.stop()
    (house.folder / "go").touch()
    assert told == [[True, True]]
