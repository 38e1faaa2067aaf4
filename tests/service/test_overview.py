"""What a page is made of: all of one moment, and little of it however many jobs there are."""

from __future__ import annotations

import pytest

from metabroker.service import overview
from metabroker.submission.model import Processors
from metabroker.web.data import everything, totals
from tests.daemon.harness import eventually
from tests.daemon_units.making import Failing, House

LONG = b"#!/bin/sh\nuntil [ -e go ]; do sleep 0.05; done\n"


def running(house: House, number: int) -> bool:
    return bool(house.api.job(number)["state"] == "RUNNING")


def test_jobs_under_way_come_first_and_the_rest_in_the_order_of_their_queues(house: House) -> None:
    house.submit(script=LONG, processors=Processors(single=64))
    house.submit(script=LONG, processors=Processors(single=64), hold=True)
    house.submit(script=LONG, processors=Processors(single=60))
    house.submit(script=LONG, processors=Processors(single=4))
    eventually(lambda: running(house, 1))
    seen = house.api.overview()
    assert [(job["job"], job["state"]) for job in seen["jobs"]] == [
        (1, "RUNNING"),
        (3, "QUEUED"),
        (4, "QUEUED"),
        (2, "HELD"),
    ]
    alone = house.api.job(3)["reason"].partition(" (")[0]
    assert seen["jobs"][1]["reason"].startswith(alone), "in the same words as one by one"
    assert seen["jobs"][2]["position"] == 1
    assert seen["status"]["jobs"] == {"RUNNING": 1, "HELD": 1, "QUEUED": 2}
    assert [cluster["name"] for cluster in seen["clusters"]] == ["delft", "leiden"]
    told = everything(seen)
    assert [row["job"] for row in told["timeline"]] == [1]
    assert told["clusters"][0]["parts"]["ours"] == 64
    (house.folder / "go").touch()
    for number in (1, 3, 4):
        house.ended(number)
    assert [job["job"] for job in house.api.overview()["jobs"]] == [2]


def test_of_a_thousand_waiting_jobs_the_first_are_shown(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "MOST_WAITING", 20)
    house.submit(script=LONG, processors=Processors(single=64))
    futures = [house.submit(processors=Processors(single=64)) for _ in range(60)]
    assert len(futures) == 60
    seen = house.api.overview()
    assert [job["job"] for job in seen["jobs"] if job["state"] == "QUEUED"] == list(range(2, 22))
    (queue,) = (queue for queue in totals(seen)["queues"] if queue["name"] == "global")
    assert queue["waiting"] == 60, "and all are counted"
    (house.folder / "go").touch()


def test_an_array_has_its_row_beside_its_tasks(house: House) -> None:
    house.submit(script=LONG, processors=Processors(single=64), array="0-9%2")
    eventually(lambda: house.api.overview()["status"]["jobs"].get("RUNNING") == 1)
    seen = {job["job"]: job for job in house.api.overview()["jobs"]}
    assert seen[1]["reason"].startswith("an array: 8 of 10 tasks are to come, at most 2 at once")
    assert everything(house.api.overview())["jobs"]
    (house.folder / "go").touch()


def test_reservations_are_those_that_the_cluster_showed(house: House) -> None:
    script = LONG.replace(b"go", b"go-$METABROKER_COMPONENT")
    house.submit(script=script, processors=Processors(components=(40, 20)))
    eventually(lambda: running(house, 1))
    house.look()
    found = house.api.overview()["reservations"]
    assert {(r["job"], r["component"], r["processors"]) for r in found} == {
        (1, 0, 40),
        (1, 1, 20),
    }
    for index in (0, 1):
        (house.folder / f"go-{index}").touch()
    house.ended(1)
    eventually(lambda: house.api.overview()["reservations"] == [])


def test_totals_are_told_while_the_store_cannot_be_read(house: House) -> None:
    store = house.store
    assert isinstance(store, Failing)
    house.submit(script=b"#!/bin/sh\nexit 0\n")
    house.ended(1)
    store.blind = "yes"
    assert house.api.totals()["jobs"] == []
