"""A broker that stands by, and the one that leads, over one store: what is passed on, and what is
said where nobody leads."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from metabroker.api.service import Failure, Service, read
from metabroker.daemon.sharing import rpc_client as relaying
from metabroker.daemon.sharing import standby as standing
from metabroker.daemon.sharing.rpc_client import RpcClient
from metabroker.daemon.sharing.rpc_server import RpcServer
from metabroker.daemon.sharing.standby import StandbyService
from metabroker.service import queries
from metabroker.store import Store
from metabroker.store.requests import ANSWERED, ASKED
from metabroker.submission.errors import SubmissionError
from metabroker.submission.model import Caller, Processors
from metabroker.submission.wire import to_wire
from tests.api.asking import Asking
from tests.daemon_units.making import refused

from .making import ANNA, House, submission

LONG = b"#!/bin/sh\nsleep 300\n"
NOBODY = Caller(1009, "nobody-we-know")


class Pair:
    """A broker that leads, once it is told to, and one that stands by."""

    def __init__(self, folder: Path) -> None:
        self.house = House(folder)
        url = f"sqlite:///{folder}/metabroker.db"
        self.store = Store(url, migrate=False, clock=lambda _connection: time.time())
        self.client = RpcClient(self.store.requests, self.store.listener(ANSWERED), "b")
        own = {"policy": "GS", "offline": False}
        self.standby = StandbyService(self.store, self.client, self.house.clock, own, 0.0)
        self.api = Asking(self.standby)
        self.client.start()
        self.standby.start()
        self.servers: list[RpcServer] = []

    def lead(self, term: int = 1) -> None:
        """Take what was passed on, in that term."""
        store = self.house.store
        self.servers.append(
            RpcServer(store.requests, store.listener(ASKED), term, self.house.service)
        )
        self.servers[-1].start()

    def close(self) -> None:
        for server in self.servers:
            server.stop()
        self.standby.stop()
        self.client.stop()
        self.store.close()
        self.house.close()


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    monkeypatch.setattr(standing, "PATIENCE", 0.3)
    made = Pair(tmp_path)
    yield made
    made.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes are given up soon."""
    monkeypatch.setattr(standing, "_GRACE", 0.3)
    monkeypatch.setattr(relaying, "_LONGER", 0.3)


def answer(future: Future[Any]) -> Any:
    return future.result(timeout=20)


def test_it_is_the_service_that_the_api_asks_for(pair: Pair) -> None:
    it: Service = pair.standby
    assert read(it, "status")["role"] == "standby"


def test_a_job_from_its_submission_to_its_end(pair: Pair) -> None:
    pair.lead()
    wanted = submission(str(pair.house.folder), name="it's", args=("a b", "\n'"))
    shown = answer(pair.api.submit(ANNA, wanted))
    assert (shown["job"], shown["name"], shown["user"]) == (1, "it's", "anna")
    ended = answer(pair.api.ended_future(1))
    assert (ended["state"], ended["exit_code"]) == ("COMPLETED", 0)
    assert answer(pair.api.ended_future(1))["state"] == "COMPLETED", "at once"
    full, told = pair.api.job(1), pair.house.api.job(1)
    assert full == told
    assert pair.api.ended() == pair.house.api.ended()
    assert pair.api.active() == []


def test_where_and_why_a_job_waits_is_what_the_leader_says(pair: Pair) -> None:
    pair.lead()
    first = submission(str(pair.house.folder), processors=Processors(single=64), script=LONG)
    answer(pair.api.submit(ANNA, first))
    answer(pair.api.submit(ANNA, first))
    here, there = pair.api.active(), pair.house.api.active()
    assert [job["position"] for job in here] == [None, 0]
    assert [job["position"] for job in there] == [None, 0]
    assert "asks for 64" in here[1]["reason"]
    assert [c["name"] for c in pair.api.clusters()] == ["delft", "leiden"]
    assert pair.api.clusters()[0]["reachable"] is True
    assert pair.api.status()["jobs"] == pair.house.api.status()["jobs"]
    assert [job["job"] for job in pair.api.overview()["jobs"]] == [1, 2]
    assert pair.api.totals()["jobs"] == []
    assert not answer(pair.api.dry_run(ANNA, first))["starts_now"]
    for job in (1, 2):
        answer(pair.api.cancel(ANNA, job))
        answer(pair.api.ended_future(job))


def test_refusals_are_the_leaders(pair: Pair) -> None:
    pair.lead()
    it, folder = pair.api, str(pair.house.folder)
    too_large = submission(folder, processors=Processors(single=999))
    assert refused(lambda: it.submit(ANNA, too_large)).failure is Failure.CONFLICT
    stranger = refused(lambda: it.submit(NOBODY, submission(folder)))
    assert stranger.failure is Failure.FORBIDDEN and "submitters" in stranger.advice
    assert refused(lambda: it.cancel(ANNA, 99)).failure is Failure.NOT_FOUND
    answer(it.submit(ANNA, submission(folder, hold=True)))
    assert refused(lambda: it.cancel(NOBODY, 1)).failure is Failure.FORBIDDEN
    assert refused(lambda: it.job(99)).failure is Failure.NOT_FOUND
    assert answer(it.release(ANNA, 1))["state"] != "HELD"


@pytest.mark.parametrize("name", ["submit", "dry run"])
@pytest.mark.parametrize("wire", [None, {}, {"script": "A" * 100}, {"name": "\0"}])
def test_what_is_no_sound_submission_is_not_passed_on(pair: Pair, name: str, wire: Any) -> None:
    """Nobody leads, and it is refused all the same: it never reaches the database."""
    with pytest.raises(SubmissionError):
        pair.standby.call(ANNA, name, {"submission": wire})


@pytest.mark.usefixtures("impatient")
def test_a_change_that_nobody_has_begun_is_certainly_not_done(pair: Pair) -> None:
    wanted = submission(str(pair.house.folder))
    told = refused(lambda: pair.api.submit(ANNA, wanted))
    assert told.failure is Failure.UNAVAILABLE and "nothing was changed" in told.advice
    pair.lead()
    answer(pair.api.submit(ANNA, wanted))
    assert len(pair.store.jobs.rows()) == 1


@pytest.mark.usefixtures("impatient")
def test_a_change_that_was_begun_and_not_answered_may_be_done(pair: Pair) -> None:
    future = pair.api.submit(ANNA, submission(str(pair.house.folder)))
    assert len(pair.store.requests.take(1)) == 1
    told = refused(lambda: future)
    assert told.failure is Failure.UNDECIDED and "check before you repeat it" in told.advice


def test_a_change_waits_for_the_next_leader_and_is_made_once(pair: Pair) -> None:
    it, folder = pair.api, str(pair.house.folder)
    futures = [it.submit(ANNA, submission(folder, hold=True)) for _ in range(3)]
    taken = pair.store.requests.take(1)  # by a leader that carries out two of them, and dies
    for passed in taken[:2]:
        pair.house.answer(pair.house.api.submit(ANNA, _again(passed.body)))
    pair.lead(2)
    assert sorted(answer(future)["job"] for future in futures) == [1, 2, 3]
    assert len(pair.store.jobs.rows()) == 3


def _again(body: Any) -> Any:
    from metabroker.submission.wire import from_wire

    assert to_wire(from_wire(body)) == body
    return from_wire(body)


def test_what_a_leader_may_have_done_before_it_died_is_said_to_be_open(pair: Pair) -> None:
    pair.house.submit(hold=True)
    cancelled = pair.api.cancel(ANNA, 1)
    assert len(pair.store.requests.take(1)) == 1
    pair.house.answer(pair.house.api.cancel(ANNA, 1))
    pair.house.ended(1)
    pair.lead(2)
    told = refused(lambda: cancelled)
    assert told.failure is Failure.UNDECIDED and "has ended" in told.message


def test_where_nobody_leads_reads_say_what_is_not_known(pair: Pair) -> None:
    pair.house.submit(processors=Processors(single=64), script=LONG)
    pair.house.submit(processors=Processors(single=64))
    it = pair.api
    waiting = it.job(2)
    assert waiting["position"] is None and "no broker leads" in waiting["reason"]
    assert [job["job"] for job in it.active()] == [1, 2]
    cluster = it.clusters()[0]
    assert (cluster["name"], cluster["processors"]) == ("delft", 64)
    assert cluster["reachable"] is None and cluster["idle"] is None and not cluster["fresh"]
    status = it.status()
    assert (status["role"], status["answered"], status["leader"]) == ("standby", False, None)
    assert refused(it.overview).failure is Failure.UNAVAILABLE
    for job in (1, 2):
        pair.house.answer(pair.house.api.cancel(ANNA, job))
        pair.house.ended(job)


def test_who_waits_when_the_broker_ends_is_told(pair: Pair) -> None:
    future = pair.api.submit(ANNA, submission(str(pair.house.folder)))
    pair.client.stop()
    assert refused(lambda: future).failure is Failure.UNDECIDED


def test_of_a_long_list_the_leader_is_asked_page_by_page_and_not_again_at_once(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "PAGE", 3)
    pair.lead()
    for _ in range(8):
        pair.house.submit(processors=Processors(single=64), script=LONG)
    asked: list[Any] = []
    ask = pair.client.ask

    def counted(name: str, who: Any, arguments: Any, seconds: float) -> Any:
        asked.append(arguments["jobs"])
        return ask(name, who, arguments, seconds)

    monkeypatch.setattr(pair.client, "ask", counted)

    def listed(**which: Any) -> list[tuple[int, int | None]]:
        pages = read(pair.standby, "queue", **which)["jobs"]
        if not isinstance(pages, list):
            pages = pages.objects()
        return [(job["job"], job["position"]) for job in pages]

    there = read(pair.house.service, "queue")["jobs"].objects()
    expected = [(job["job"], job["position"]) for job in there]
    assert listed() == expected and expected[-1] == (8, 6)
    assert asked == [[2, 3], [4, 5, 6], [7, 8]]
    assert listed() == expected and listed(user="anna") == expected
    assert len(asked) == 3
    for job in range(8, 0, -1):
        pair.house.answer(pair.house.api.cancel(ANNA, job))
        pair.house.ended(job)


def test_of_a_long_list_nobody_is_waited_for_more_than_once(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "PAGE", 1)
    for _ in range(4):
        pair.house.submit(processors=Processors(single=64), script=LONG)
    asked: list[Any] = []
    monkeypatch.setattr(pair.standby._places, "_ask", lambda jobs: asked.append(jobs))
    found = read(pair.standby, "queue")["jobs"].objects()
    assert ["no broker leads" in (job["reason"] or "") for job in found] == [False] + [True] * 3
    assert asked == [[2]]
    for job in range(4, 0, -1):
        pair.house.answer(pair.house.api.cancel(ANNA, job))
        pair.house.ended(job)
