"""What can be asked of the store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from metabroker.broker.array import Array
from metabroker.broker.job import Goal
from metabroker.broker.states import ENDED, IN_ATTEMPT, Cause, JobState, Phase, Step
from metabroker.policy import Request
from metabroker.store import Store
from metabroker.store.job_queries import JobQueries, Selection, count_events
from metabroker.store.rows import ClusterNames, component_of, component_row, job_of, job_row
from metabroker.store.tables import metadata
from metabroker.submission.tasks import TaskSet

from .making import NAMES, accepted, batch, component, entry, job


@pytest.fixture
def store(kept_url: str) -> Iterator[Store]:
    made = Store(kept_url, migrate=False)
    with made._engine.begin() as connection:
        for table in metadata.sorted_tables:
            connection.execute(table.delete())
    yield made
    made.close()


# --- rows -------------------------------------------------------------------------------------


def test_a_job_comes_back_as_it_was() -> None:
    for state in JobState:
        it = job(
            7, state, request=Request((16, 8), (2, 0)), queue=1, local=2, home=0, reason="why",
            queued_at=3.0, attempt=4, submission_failures=1, completion_failures=2, start_time=5.0,
            end_time=6.0, exit_code=7, deadline=8.0, goal=Goal.CANCEL, by="root",
        )  # fmt: skip
        row = job_row(it, NAMES)
        assert (row["clusters"], row["queue"], row["local"]) == (["lab", "delft"], "leiden", "lab")
        assert job_row(job_of(row, NAMES), NAMES) == row


def test_a_component_comes_back_as_it_was() -> None:
    for phase in Phase:
        for step in Step:
            it = component(
                7, 1, phase=phase, step=step, seq=3, reservation=True, started=True,
                native_id="9", submit_time=1.0, hosts="n1 n2", start_time=2.0, end_time=3.0,
                exit_code=4, cause=Cause.NODE, detail="it's down",
            )  # fmt: skip
            row = component_row(it, NAMES)
            assert component_row(component_of(row, NAMES), NAMES) == row


def test_names_not_numbers_are_stored() -> None:
    row = job_row(job(1, request=Request((4,), (1,)), queue=1), NAMES)
    other = ClusterNames(["new", "lab", "leiden", "delft"])
    again = job_of(row, other)
    assert (again.request.clusters, again.queue) == ((2,), 2)
    assert job_of(job_row(job(1, queue=3), NAMES), other).queue == 4, "the global queue is the last"


# --- recovering -------------------------------------------------------------------------------


def test_what_has_not_ended_is_recovered(store: Store) -> None:
    jobs = [job(number, state) for number, state in enumerate(JobState, 1)]
    store.commit(batch(*jobs), NAMES)
    found = store.recover(NAMES)
    assert {j.state for j in found.jobs} == set(JobState) - ENDED
    assert found.next_job == len(jobs) + 1
    assert found.memory is None


def test_an_empty_store(store: Store) -> None:
    found = store.recover(NAMES)
    assert (found.jobs, found.components, found.next_job, found.memory) == ([], [], 1, None)
    assert store.known_clusters() == {} and store.referred_clusters() == set()


@pytest.mark.parametrize(
    ("state", "attempt", "phase", "step", "recovered"),
    [
        # What its cluster may hold, or what is owed, whatever became of the job.
        (JobState.COMPLETED, 1, Phase.ENDED, Step.CLEAN, True),
        (JobState.COMPLETED, 1, Phase.GONE, Step.DISCARD, True),
        (JobState.CANCELLED, 1, Phase.RESERVED, Step.CLEAN, True),
        (JobState.QUEUED, 1, Phase.SUBMITTED, Step.CLEAN, True),
        (JobState.RUNNING, 1, Phase.STARTED, Step.NONE, True),
        (JobState.COMPLETED, 1, Phase.GONE, Step.NONE, False),
        (JobState.QUEUED, 1, Phase.GONE, Step.NONE, False),
        # An ended component of a running attempt is part of the attempt's outcome.
        (JobState.RUNNING, 1, Phase.GONE, Step.NONE, True),
        (JobState.RUNNING, 2, Phase.GONE, Step.NONE, False),
    ],
)
def test_which_components_are_recovered(
    store: Store, state: JobState, attempt: int, phase: Phase, step: Step, recovered: bool
) -> None:
    part = component(1, attempt=1, phase=phase, step=step)
    store.commit(batch(job(1, state, attempt=attempt), components=[part]), NAMES)
    assert [c.ref for c in store.recover(NAMES).components] == ([part.ref] if recovered else [])


def test_all_states_in_an_attempt_count(store: Store) -> None:
    jobs = [job(n, state, attempt=1) for n, state in enumerate(JobState, 1)]
    gone = [component(j.id, phase=Phase.GONE, step=Step.NONE) for j in jobs]
    store.commit(batch(*jobs, components=gone), NAMES)
    found = {c.ref.job for c in store.recover(NAMES).components}
    assert found == {j.id for j in jobs if j.state in IN_ATTEMPT}


def test_the_policys_memory(store: Store) -> None:
    store.commit(batch(memory={"next_seq": 4, "overtakers": [[1, 2]]}), NAMES)
    store.commit(batch(job(1)), NAMES)
    assert store.recover(NAMES).memory == {"next_seq": 4, "overtakers": [[1, 2]]}
    store.commit(batch(memory={"next_seq": 5}), NAMES)
    assert store.recover(NAMES).memory == {"next_seq": 5}


def test_clusters_that_unfinished_work_refers_to(store: Store) -> None:
    five = ClusterNames(["a", "b", "c", "d", "e", "f"])
    store.commit(
        batch(
            job(1, queue=0),
            job(2, queue=6, local=1),
            job(3, queue=6, home=2),
            job(4, queue=6, request=Request((1, 1), (3, 3))),
            job(5, JobState.COMPLETED, queue=5, local=5, home=5, request=Request((1,), (5,))),
            components=[
                component(5, cluster=4, phase=Phase.ENDED, step=Step.CLEAN),
                component(6, cluster=5, phase=Phase.GONE, step=Step.NONE),
            ],
        ),
        five,
    )
    assert store.referred_clusters() == {"a", "b", "c", "d", "e"}


def test_known_clusters_are_the_latest(store: Store) -> None:
    for size in (64, 60):
        seen = {"name": "delft", "processors": size, "version": "1", "seen": 1.0}
        store.commit(batch(clusters=[seen]), NAMES)
    assert store.known_clusters() == {"delft": 60}


# --- requests ---------------------------------------------------------------------------------


def test_a_request_is_found_by_its_user_and_id(store: Store) -> None:
    made = [accepted(1, "r"), accepted(2, "r", "bob"), accepted(3), accepted(4)]
    store.commit(batch(job(1), job(2), job(3), job(4), accepted=made), NAMES)
    assert store.jobs.find_request("anna", "r") == 1
    assert store.jobs.find_request("bob", "r") == 2
    assert store.jobs.find_request("carl", "r") is None
    assert store.jobs.find_request("anna", "s") is None


def test_what_only_a_start_needs(store: Store) -> None:
    store.commit(batch(job(1), job(2), accepted=[accepted(1), accepted(2)]), NAMES)
    script, spec = store.jobs.script(1)
    assert (script, spec["args"]) == (b"#!/bin/sh\n\xff\0", ["a b", "'\n"])
    folder, secret = store.jobs.meeting_place(1)
    assert folder == "/home/anna"
    assert len(secret) >= 24 and secret != store.jobs.meeting_place(2)[1]
    assert store.jobs.target(1, "delft") == ("/home/anna", secret, None, "anna")
    for read in (store.jobs.script, store.jobs.meeting_place, lambda n: store.jobs.target(n, "x")):
        with pytest.raises(KeyError):
            read(3)


# --- views ------------------------------------------------------------------------------------


def filled(store: Store) -> None:
    jobs = [
        job(1, JobState.COMPLETED, end_time=30.0),
        job(2, JobState.RUNNING, attempt=2),
        job(3, JobState.FAILED, end_time=10.0, user="bob"),
        job(4, user="bob"),
        job(5, JobState.CANCELLED, end_time=20.0),
        job(6, JobState.HELD),
    ]
    parts = [component(2, 1), component(2, 0), component(2, attempt=2)]
    store.commit(batch(*jobs, components=parts), NAMES)


@pytest.mark.parametrize(
    ("asked", "ids"),
    [
        ({}, [1, 2, 3, 4, 5, 6]),
        ({"ids": [5, 2, 9]}, [2, 5]),
        ({"ids": []}, []),
        ({"ended": False}, [2, 4, 6]),
        ({"ended": False, "limit": 2}, [2, 4]),
        ({"ended": False, "user": "bob"}, [4]),
        ({"ended": True}, [1, 3, 5]),
    ],
)
def test_jobs(store: Store, asked: dict[str, object], ids: list[int]) -> None:
    filled(store)
    assert [row["id"] for row in store.jobs.rows(**asked)] == ids  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "ids", "older"),
    [
        ({}, [3, 5, 1], False),
        ({"newest": 2}, [5, 1], True),
        ({"newest": 3}, [3, 5, 1], False),
        ({"since": 20.0}, [5, 1], False),
        ({"until": 20.0}, [3], False),
        ({"since": 10.0, "until": 30.0, "user": "anna"}, [5], False),
        ({"states": ("FAILED", "CANCELLED")}, [3, 5], False),
        ({"user": "carl", "newest": 2}, [], False),
    ],
)
def test_history(store: Store, asked: dict[str, Any], ids: list[int], older: bool) -> None:
    filled(store)
    found = store.jobs.history(Selection(**asked), 10)
    assert ([row["id"] for row in found.rows], found.older, found.rest) == (ids, older, None)
    # Page by page it is the same, whatever ends meanwhile.
    some, wanted = [], Selection(**asked)
    for _ in range(4):
        page = store.jobs.history(wanted, 1)
        some += [row["id"] for row in page.rows]
        if page.rest is None:
            break
        store.commit(batch(job(6, JobState.CANCELLED, end_time=99.0)), NAMES)
        wanted = page.rest
    assert some == ids


def test_jobs_that_ended_at_one_moment_are_each_told_once(store: Store) -> None:
    store.commit(batch(*(job(n, JobState.FAILED, end_time=5.0) for n in range(1, 8))), NAMES)
    pages, wanted = [], Selection(newest=6)
    while True:
        page = store.jobs.history(wanted, 2)
        pages.append([row["id"] for row in page.rows])
        if page.rest is None:
            break
        wanted = page.rest
    assert pages == [[2, 3], [4, 5], [6, 7]]


def test_of_former_attempts_jobs_come_with_what_is_left_of_them(store: Store) -> None:
    """There may be very many, at a user's limit say: each listing would read all of them."""
    gone: dict[str, Any] = {"phase": Phase.GONE, "step": Step.NONE}
    parts = [component(2, 0, attempt, **gone) for attempt in range(1, 10)]
    parts[2] = component(2, 0, 3, phase=Phase.SUBMITTED, step=Step.CLEAN)
    parts[4] = component(2, 0, 5, phase=Phase.GONE, step=Step.CLEAN, cause=Cause.ABANDONED)
    other = component(1, 0, 1, **gone)
    ended = job(1, JobState.COMPLETED, attempt=1, end_time=30.0)
    store.commit(batch(ended, job(2, attempt=9), components=[other, *parts]), NAMES)
    first, second = store.jobs.rows()
    assert [part["attempt"] for part in first["components"]] == [1]
    # And of the one before: the present one may have begun after the job's row was read.
    assert [part["attempt"] for part in second["components"]] == [3, 5, 8, 9]
    assert [part["attempt"] for part in store.jobs.attempt(2, 7)] == [7]
    (page,) = store.jobs.history(Selection(), 10).rows
    assert page["components"] == first["components"]


def test_jobs_come_with_the_components_of_their_latest_attempts(store: Store) -> None:
    filled(store)
    (row,) = store.jobs.rows(ids=[2])
    assert [(c["attempt"], c["component"]) for c in row["components"]] == [(1, 0), (1, 1), (2, 0)]
    assert [c["component"] for c in store.jobs.attempt(2, 1)] == [0, 1]
    assert store.jobs.attempt(9, 1) == []


def test_more_jobs_than_a_statement_takes_variables(store: Store) -> None:
    jobs = [job(number, JobState.RUNNING, attempt=1) for number in range(1, 1502)]
    store.commit(batch(*jobs, components=[component(j.id) for j in jobs]), NAMES)
    rows = store.jobs.rows(ended=False)
    assert len(rows) == 1501 and all(len(row["components"]) == 1 for row in rows)


def test_a_jobs_history_is_in_the_order_of_writing(store: Store) -> None:
    store.commit(batch(journal=[entry(1, "b", 5.0), entry(2, "x"), entry(1, "a", 5.0)]), NAMES)
    store.commit(batch(journal=[entry(1, "c", 4.0, why="it's", n=[1, None])]), NAMES)
    history = store.jobs.events(1)
    assert [event["what"] for event in history] == ["b", "a", "c"]
    assert history[2]["detail"] == {"why": "it's", "n": [1, None]}
    assert store.jobs.events(3) == []
    assert store.jobs.events(1, newest=2) == history[1:]
    counted = [count_events(store.jobs, 1, most) for most in (None, 2, 9)]
    assert counted == [3, 2, 3] and count_events(store.jobs, 3) == 0


def test_accounts_that_jobs_ever_had_in_a_cluster(store: Store) -> None:
    given = {1: {"delft": "asmith"}, 2: {"delft": "bob", "lab": "b"}, 3: {}}
    asked = [replace(accepted(n), spec={"accounts": names}) for n, names in given.items()]
    store.commit(batch(job(1, JobState.COMPLETED), job(2), job(3), accepted=asked), NAMES)
    assert store.jobs.all_accounts("delft") == {"asmith", "bob"}
    assert store.jobs.all_accounts("lab") == {"b"}
    assert store.jobs.all_accounts("leiden") == set()


def test_shapes_of_requests_are_shared_and_not_remembered_without_end() -> None:
    names = ClusterNames(["a", "b"])
    assert names.request((2, 3), ("b", "a")) is names.request([2, 3], ["b", "a"])
    for number in range(20_000):
        found = names.request((number + 1,), None)
        assert names.shared(Request((number + 1,))) is found
    assert len(names._requests) <= 4096


def test_one_task_of_an_array_is_found_without_the_others(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of which there may be a hundred thousand."""
    array = job(1, array=Array(TaskSet.read("0-29"), next=30))
    tasks = [job(10 + task, of=1, task=task) for task in range(30)]
    accept = [accepted(each.id) for each in (array, *tasks)]
    store.commit(batch(array, *tasks, accepted=accept), NAMES)
    read: list[int] = []
    rows = JobQueries._rows

    def counted(self: JobQueries, *query: Any, **given: Any) -> list[dict[str, Any]]:
        found = rows(self, *query, **given)
        read.append(len(found))
        return found

    monkeypatch.setattr(JobQueries, "_rows", counted)
    assert store.jobs.tasks([1], TaskSet.read("7")) == [17] and read == [1]
    assert store.jobs.tasks([1], TaskSet.read("28-999")) == [38, 39]
    assert store.jobs.tasks([1]) == list(range(10, 40))
