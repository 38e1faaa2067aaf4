"""What users are told where they have no share left."""

from __future__ import annotations

import pytest

from metabroker.api.service import ServiceError
from metabroker.broker.resource_limits import ResourceLimit, ResourceLimits
from metabroker.config import parse
from metabroker.daemon import build
from metabroker.service import reasons
from metabroker.submission.model import Processors
from tests.daemon_units.making import ANNA, Answers, Failing, House, ask, engine, looked, submission

NOW = 1000.0


def waiting(limits: ResourceLimits, *sizes: Processors) -> dict[int, reasons.Waiting]:
    """Why jobs of anna's wait."""
    it = engine(Failing())
    it.broker.limit(limits)
    answers = Answers()
    jobs = [ask(answers.to("a"), processors=wanted) for wanted in sizes]
    it.process([looked(0, NOW), looked(1, NOW, 32), *jobs], NOW)
    return reasons.of(it.broker.view, NOW, it.broker.view.jobs)


def single(processors: int) -> Processors:
    return Processors(single=processors)


def test_why_a_job_waits_for_its_users_share() -> None:
    found = waiting(ResourceLimits(ResourceLimit(processors=20)), single(16), single(8), single(2))
    assert found[2] == reasons.Waiting(
        None,
        "asks for 8 processors; user anna uses 16, and at most 20 are allowed "
        "(limits.per_user.processors)",
    )


def test_why_it_waits_for_its_queues_share() -> None:
    limits = ResourceLimits(per_queue=ResourceLimit(coallocated=1))
    pair = Processors(components=(4, 4))
    found = waiting(limits, pair, pair)
    assert found[2].reason == (
        "queue global has 1 co-allocated jobs under way, and at most 1 are allowed "
        "(limits.per_queue.coallocated)"
    )


def test_the_service_says_so_too(house: House) -> None:
    limits = ResourceLimits(ResourceLimit(waiting=1, processors=10))
    house.loop.ask(lambda: house.engine.broker.limit(limits))
    first = house.submit(script=b"#!/bin/sh\nsleep 60\n", processors=single(8))
    assert first["state"] != "QUEUED"
    wanted = submission(str(house.folder), processors=single(8))
    plan = house.answer(house.api.dry_run(ANNA, wanted))
    assert plan["starts_now"] is False and "user anna uses 8" in plan["reason"]
    second = house.submit(processors=single(8))
    (row,) = [job for job in house.api.active() if job["job"] == second["job"]]
    assert (row["state"], row["position"]) == ("QUEUED", None)
    assert "limits.per_user.processors" in row["reason"]
    for ask_again in (house.api.submit, house.api.dry_run):
        with pytest.raises(ServiceError, match="user anna has 1 jobs waiting") as caught:
            house.answer(ask_again(ANNA, wanted))
        assert caught.value.failure.value == 409
    house.answer(house.api.cancel(ANNA, first["job"]))
    assert house.ended(second["job"])["state"] == "COMPLETED"


def test_from_the_configuration() -> None:
    config = parse(
        "limits: {per_user: {waiting: 3, coallocated: 2}, per_queue: {processors: 9}}\n"
        "clusters: {lab: {system: simulated, processors: 32}}\n"
    )
    assert build.shares(config) == ResourceLimits(
        ResourceLimit(waiting=3, coallocated=2), ResourceLimit(processors=9), 100_000
    )
