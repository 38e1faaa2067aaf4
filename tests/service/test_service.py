"""What the API asks of the daemon, with real store, loop, executors and simulated clusters."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle, islice
from types import SimpleNamespace
from typing import Any

import pytest

from metabroker.api.service import Failure, Service, ServiceError, read
from metabroker.broker.outbox import Ready
from metabroker.broker.states import JobState
from metabroker.service import changes, queries
from metabroker.submission.model import Caller, Processors
from tests.daemon.harness import eventually
from tests.daemon_units.making import ANNA, House, engine, looked, refused, submission

BOB = Caller(1002, "bob")
BOSS = Caller(1003, "root-like")


def test_it_is_the_service_that_the_api_asks_for(house: House) -> None:
    it: Service = house.service
    assert read(it, "status")["store"] == "ok"


def test_a_job_from_its_submission_to_its_history(house: House) -> None:
    shown = house.submit(name="hello", args=("a",))
    assert (shown["job"], shown["name"], shown["user"]) == (1, "hello", "anna")
    ended = house.ended(1)
    assert (ended["state"], ended["exit_code"]) == ("COMPLETED", 0)
    assert (house.folder / "metabroker-1.out").read_text() == "hello\n"
    full = house.api.job(1)
    assert full["events"][0]["event"] == "submitted"
    assert full["events"][-1]["event"] == "completed"
    assert full["chdir"] == str(house.folder)
    assert [j["job"] for j in house.api.ended()] == [1]
    assert house.api.active() == []
    assert house.ended(1)["state"] == "COMPLETED", "at once, if it has ended before"


def test_a_co_allocated_job(house: House) -> None:
    script = b'#!/bin/sh\ncat "$METABROKER_PEERS_FILE"\n'
    house.submit(script=script, processors=Processors(components=(4, 4)))
    ended = house.ended(1)
    assert ended["state"] == "COMPLETED"
    assert {c["cluster"] for c in ended["components"]} == {"delft", "leiden"}
    first, second = (house.folder / f"metabroker-1.{n}.out" for n in (0, 1))
    assert first.read_text() == second.read_text() and "leiden" in first.read_text()
    eventually(lambda: house.api.status()["owed_effects"] == 0)
    assert not (house.folder / ".metabroker").exists()


def test_a_dry_run_says_how_long_the_files_take_to_come(house: House) -> None:
    def told(**given: Any) -> tuple[str, list[float | None]]:
        asked = submission(str(house.folder), **given)
        shown = house.answer(house.api.dry_run(ANNA, asked))
        return shown["reason"], [part["files_in"] for part in shown["components"]]

    here, there = ("delft:/data/x:10G",), ("leiden:/data/x:10G",)
    fits = "it fits on the idle processors now"
    assert told() == (fits, [None])
    assert told(input_at=here) == (f"{fits}; its files lie in delft", [0.0])
    assert told(input_at=there) == (
        f"{fits}; its files take some 100 s to come to delft",
        [100.0],
    )
    both = told(input_at=there, processors=Processors(components=(4, 4)))
    assert both[1] == [100.0, 0.0]
    assert "take some 100 s to come to delft and leiden" in both[0]
    large = told(input_at=there, processors=Processors(on=(("leiden", 30), ("delft", 4))))
    assert large[1] == [0.0, 100.0]


def test_a_file_in_a_cluster_that_there_is_not_is_refused(house: House) -> None:
    asked = submission(str(house.folder), input_at=("dleft:/x",))
    for why in (
        refused(lambda: house.api.submit(ANNA, asked)),
        refused(lambda: house.api.dry_run(ANNA, asked)),
    ):
        assert "no cluster 'dleft'" in why.message and "delft, leiden" in why.advice


def test_a_job_may_be_kept_where_its_files_are(house: House) -> None:
    """Under a placement that does not go by files, too."""
    files = ("leiden:/x:5", "delft:/y,leiden:/y:5")
    shown = house.submit(input_at=files, only_at_input=True)
    assert house.store.jobs.script(shown["job"])[1]["known"] == ["leiden"]
    assert house.ended(shown["job"])["components"][0]["cluster"] == "leiden"
    for given in (
        {"input_at": ("delft:/x", "leiden:/y")},
        {"input_at": ("delft:/x",), "processors": Processors(single=1, cluster="leiden")},
        {"input_at": ("delft:/x",), "processors": Processors(on=(("delft", 1), ("leiden", 1)))},
    ):
        asked = submission(str(house.folder), only_at_input=True, **given)
        told = refused(lambda: house.api.submit(ANNA, asked))  # noqa: B023
        assert "not all files of --input-at lie in" in told.message
    both = submission(
        str(house.folder),
        only_at_input=True,
        input_at=("delft:/x",),
        processors=Processors(components=(1, 1)),
    )
    assert "never run" in refused(lambda: house.api.submit(ANNA, both)).message


def test_show_tells_where_the_files_of_a_job_are_and_no_paths(house: House) -> None:
    house.submit(input_at=("delft:/secret/x:5",), staged_bytes=7)
    ended = house.ended(1)
    assert ended["inputs"] == {"staged": 7, "files": [{"size": 5, "clusters": ["delft"]}]}
    assert "secret" not in str(house.api.job(1))


def test_a_dry_run_queues_nothing(house: House) -> None:
    fits = submission(str(house.folder), processors=Processors(components=(40, 20)))
    shown = house.answer(house.api.dry_run(ANNA, fits))
    assert shown["dry_run"] and shown["starts_now"] and shown["position"] == 0
    assert [c["cluster"] for c in shown["components"]] == ["delft", "leiden"]
    house.submit(processors=Processors(single=60), script=b"#!/bin/sh\nsleep 300\n")
    later = house.answer(house.api.dry_run(ANNA, fits))
    assert not later["starts_now"] and later["earliest_start"] is None
    assert "40+20" in later["reason"]
    assert [j["job"] for j in house.api.active()] == [1]
    never = submission(str(house.folder), processors=Processors(single=65))
    assert "can never run" in refused(lambda: house.api.dry_run(ANNA, never)).message
    house.answer(house.api.cancel(ANNA, 1))
    house.ended(1)


def test_hold_release_and_cancel(house: House) -> None:
    house.submit(hold=True)
    assert house.api.job(1)["state"] == "HELD"
    house.loop.ask(lambda: None)
    full = house.submit(processors=Processors(single=64), script=b"#!/bin/sh\nsleep 300\n")
    waits = house.submit(processors=Processors(single=64))
    assert waits["state"] == "QUEUED"
    shown = house.api.job(waits["job"])
    assert shown["position"] == 0 and "asks for 64" in shown["reason"]
    assert house.answer(house.api.hold(ANNA, waits["job"]))["state"] == "HELD"
    assert house.answer(house.api.release(ANNA, waits["job"]))["state"] == "QUEUED"
    for job in (1, waits["job"], full["job"]):  # once there is room, the waiting one would run
        house.answer(house.api.cancel(ANNA, job))
        assert house.ended(job)["state"] == "CANCELLED"


def test_who_may_change_what(house: House) -> None:
    house.submit(hold=True)
    for change in (house.api.cancel, house.api.hold, house.api.release):
        error = refused(lambda change=change: change(BOB, 1))  # type: ignore[misc]
        assert (error.failure, error.message) == (Failure.FORBIDDEN, "job 1 belongs to anna")
    assert house.answer(house.api.cancel(BOSS, 1))["state"] == "CANCELLED"
    error = refused(lambda: house.api.cancel(ANNA, 1))
    assert (error.failure, error.message) == (Failure.CONFLICT, "job 1 has ended (CANCELLED)")
    assert refused(lambda: house.api.cancel(ANNA, 99)).failure is Failure.NOT_FOUND
    assert refused(lambda: house.api.job(99)).failure is Failure.NOT_FOUND
    assert refused(lambda: house.api.ended_future(99)).failure is Failure.NOT_FOUND
    stranger = Caller(1009, "eve")
    wanted = submission(str(house.folder))
    assert refused(lambda: house.api.submit(stranger, wanted)).failure is Failure.FORBIDDEN


def test_only_administrators_abandon_and_only_what_there_is(house: House) -> None:
    house.submit(hold=True)
    error = refused(lambda: house.api.abandon(ANNA, 1))
    assert (error.failure, "anna may not abandon" in error.message) == (Failure.FORBIDDEN, True)
    stolen = replace(BOSS, token="t1")
    assert refused(lambda: house.api.abandon(stolen, 1)).failure is Failure.FORBIDDEN
    assert refused(lambda: house.api.abandon(BOSS, 99)).failure is Failure.NOT_FOUND
    with pytest.raises(ServiceError, match="nothing of job 1 is in a cluster"):
        house.answer(house.api.abandon(BOSS, 1))
    house.answer(house.api.cancel(ANNA, 1))
    job = house.submit(
        script=b"#!/bin/sh\nsleep 300\n", processors=Processors(single=64, cluster="delft")
    )["job"]
    eventually(lambda: house.api.job(job)["state"] == "RUNNING")
    ended = house.answer(house.api.abandon(BOSS, job))
    assert ended["state"] == "FAILED"
    assert ended["reason"].startswith("abandoned by root-like; what may still be there: mb-")
    eventually(lambda: house.api.job(job)["left_behind"] == [])  # it could be ended after all
    assert house.ended(job)["state"] == "FAILED"


def test_only_administrators_drain_and_a_new_engine_remembers_it(house: House) -> None:
    for change in (lambda: house.api.drain(ANNA, "delft"), lambda: house.api.resume(ANNA, "delft")):
        assert refused(change).failure is Failure.FORBIDDEN
    stolen = replace(BOSS, token="t1")
    assert refused(lambda: house.api.drain(stolen, "delft")).failure is Failure.FORBIDDEN
    assert refused(lambda: house.api.drain(BOSS, "lab")).advice == "choose one of: delft, leiden"
    shown = house.answer(house.api.drain(BOSS, "delft", "new cables"))
    assert (shown["name"], shown["available"], shown["idle"]) == ("delft", 0, 64)
    assert (shown["drained"]["by"], shown["drained"]["reason"]) == ("root-like", "new cables")
    wanted = Processors(single=8, cluster="delft")
    told = house.submit(processors=wanted)["job"]
    reason = house.api.job(told)["reason"]
    assert "delft is drained by root-like since" in reason and reason.endswith(": new cables")
    fits = submission(str(house.folder), processors=Processors(single=40))
    plan = house.answer(house.api.dry_run(ANNA, fits))
    assert not plan["starts_now"] and "drained by root-like" in plan["reason"]
    fits = submission(str(house.folder), processors=Processors(single=8))
    assert house.answer(house.api.dry_run(ANNA, fits))["components"][0]["cluster"] == "leiden"
    fresh = engine(house.store)
    fresh.broker.handle(looked(0, house.clock()), house.clock())
    before = fresh.broker.view.at(house.clock()).available[0]
    fresh.recover(house.clock())
    fresh.broker.handle(looked(0, house.clock()), house.clock())
    assert (before, fresh.broker.view.at(house.clock()).available[0]) == (64, 0)
    assert house.answer(house.api.resume(BOSS, "delft"))["drained"] is None
    assert house.ended(told)["state"] == "COMPLETED"
    assert house.store.systems.drained() == {}


def test_native_options(house: House) -> None:
    def native(**options: tuple[str, ...]) -> ServiceError:
        wanted = submission(str(house.folder), native=options)
        return refused(lambda: house.api.submit(ANNA, wanted))

    error = native(deflt=("--mem=1G",))
    assert error.failure is Failure.INVALID
    assert error.message == "--native deflt: there is no cluster of that name"
    assert error.advice == "choose one of: delft, leiden"
    error = native(delft=("--mem=1G",))
    assert error.failure is Failure.INVALID
    assert error.message == "--native delft: delft is simulated and has no native options"
    assert house.api.active() == []


def test_the_same_request_twice_is_one_job(house: House) -> None:
    wanted = submission(str(house.folder), request_id="r", hold=True)
    both = [house.api.submit(ANNA, wanted) for _ in range(2)]
    assert [house.answer(future)["job"] for future in both] == [1, 1]
    house.answer(house.api.cancel(ANNA, 1))
    again = house.answer(house.api.submit(ANNA, wanted))
    assert (again["job"], again["state"]) == (1, "CANCELLED")


def test_a_cancel_is_answered_without_the_store(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be the core's thread that reads all that is known of the job."""
    house.submit(name="hello", hold=True)
    monkeypatch.setattr(house.service.queries, "job", None)
    told = house.answer(house.api.cancel(ANNA, 1))
    assert (told["job"], told["name"], told["state"]) == (1, "hello", "CANCELLED")
    assert told["reason"] == "cancelled by anna" and told["end_time"]


def test_clusters(house: House) -> None:
    house.look()
    delft, leiden = house.api.clusters()
    assert (delft["name"], delft["processors"], delft["idle"]) == ("delft", 64, 64)
    assert leiden["reachable"] and leiden["fresh"] and leiden["age_seconds"] >= 0


def test_somebody_who_does_not_wait_any_more_is_no_trouble(house: House) -> None:
    house.submit(script=b"#!/bin/sh\nuntil [ -e go ]; do sleep 0.02; done\n")
    gone, here = house.api.ended_future(1), house.api.ended_future(1)
    assert gone.cancel()
    (house.folder / "go").write_text("")
    assert house.answer(here)["state"] == "COMPLETED"
    assert not house.service.completions._waiters


@pytest.mark.parametrize("first", ["core", "caller"])
def test_a_job_that_ends_while_somebody_asks_for_its_end(
    first: str, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Either the core answers or the caller's thread does, and never both."""
    house.submit(hold=True)
    house.answer(house.api.cancel(ANNA, 1))
    read = house.service.queries.row

    def row(number: int) -> dict[str, Any]:
        found = read(number)
        monkeypatch.setattr(house.service.queries, "row", read)
        if first == "core":
            ended: Any = SimpleNamespace(id=1, state=JobState.CANCELLED)
            house.service.completions.written(Ready([ended], [], [], []))
        return found

    monkeypatch.setattr(house.service.queries, "row", row)
    assert house.answer(house.api.ended_future(1))["state"] == "CANCELLED"
    assert not house.service.completions._waiters


def test_while_the_store_cannot_be_written_users_are_told_and_nothing_is_lost(
    house: House,
) -> None:
    entries = house.loop.engine.broker.view.entries
    eventually(lambda: all(entry.snapshot is not None for entry in entries))
    house.api.status()  # what the first polls have told is written
    house.store.down = "before"
    first = house.api.submit(ANNA, submission(str(house.folder), hold=True))
    eventually(lambda: house.loop.trouble is not None)
    error = refused(lambda: house.api.submit(ANNA, submission(str(house.folder))))
    assert (error.failure, error.message) == (Failure.UNAVAILABLE, "disk full")
    assert "disk full" in house.api.status()["store"]
    # The core has taken the first one over: it is done later, so nobody is told that it is not.
    undecided = refused(lambda: first)
    assert (undecided.failure, undecided.message) == (Failure.UNDECIDED, "disk full")
    assert "may still be done" in undecided.advice
    house.store.down = ""
    eventually(lambda: house.loop.trouble is None)
    assert house.api.job(1)["state"] == "HELD"
    assert house.api.status()["store"] == "ok"
    house.answer(house.api.cancel(ANNA, 1))


def test_a_store_that_cannot_be_read_does_not_end_the_core(house: House) -> None:
    house.submit(hold=True)
    waits = house.api.ended_future(1)
    house.store.goes_blind = True
    assert house.answer(house.api.cancel(ANNA, 1))["state"] == "CANCELLED"
    assert refused(lambda: waits).failure is Failure.UNAVAILABLE
    assert refused(lambda: house.api.job(1)).failure is Failure.UNAVAILABLE
    house.store.goes_blind, house.store.blind = False, ""
    assert house.loop.alive and house.loop.died is None
    assert house.api.job(1)["state"] == "CANCELLED"


def test_leftovers_are_for_administrators_to_remove(house: House) -> None:
    assert house.api.leftovers() == {"restored": None, "leftovers": []}
    error = refused(lambda: house.api.remove_leftovers(BOB, None))
    assert error.failure is Failure.FORBIDDEN and "any user" in error.message
    root = Caller(0, "root")
    assert house.api.remove_leftovers(root, None) == {"leftovers": []}
    error = refused(lambda: house.api.remove_leftovers(root, ["mb-abcdef01-1-1-0"]))
    assert error.failure is Failure.NOT_FOUND


@pytest.mark.parametrize("name", ["status", "clusters", "overview"])
def test_of_a_core_that_has_ended_it_is_said_that_it_does_not_answer(
    house: House, name: str
) -> None:
    house.loop.stop()
    with pytest.raises(ServiceError) as refused:
        read(house.service, name)
    assert refused.value.failure is Failure.UNAVAILABLE
    assert refused.value.message == "the broker's core does not answer"


def test_a_dry_run_is_refused_while_the_store_is_away(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = house.submit(hold=True)["job"]
    house.answer(house.api.cancel(ANNA, job))

    def outcomes(_named: Any) -> Any:  # it goes away just after that
        house.store.blind = "yes"
        return {}

    monkeypatch.setattr(house.service.changes._queries, "outcomes", outcomes)
    wanted = submission(str(house.folder), dependency=f"afterany:{job}")
    error = refused(lambda: house.api.dry_run(ANNA, wanted))
    house.store.blind = ""
    assert error.failure is Failure.UNAVAILABLE and "cannot be read" in error.message


def test_a_job_that_was_changed_very_often_is_shown_and_may_be_cancelled(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "_MOST_EVENTS", 5)
    monkeypatch.setattr(queries, "_FIRST_EVENTS", 2)
    monkeypatch.setattr(changes, "_MOST_CHANGES", 6)
    job = house.submit(hold=True, dependency="afterany:" + str(house.submit(hold=True)["job"]))
    number, told = job["job"], len(house.api.job(job["job"])["events"])
    for change in islice(cycle((house.api.release, house.api.hold)), 6):
        house.answer(change(ANNA, number))
        told += 1
        shown = house.api.job(number)
        assert len(shown["events"]) + shown["events_left_out"] == told
        assert len(shown["events"]) == min(5, told)
        assert shown["events"][0]["event"] == "submitted"
        assert shown["events"][-1]["event"] == change.__name__.replace("hold", "hel") + "d"
    error = refused(lambda: house.api.release(ANNA, number))
    assert error.failure is Failure.CONFLICT and "changed 6 times" in error.message
    house.answer(house.api.call(Caller(0, "root"), "change", job=number, time_limit=60))
    house.answer(house.api.cancel(ANNA, number))
