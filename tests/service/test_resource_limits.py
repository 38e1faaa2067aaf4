"""What users are told where they have no share left."""

from __future__ import annotations

from dataclasses import replace

import pytest

from metabroker.api.service import ServiceError
from metabroker.broker.observation import NodeKind
from metabroker.broker.resource_limits import ResourceLimit, ResourceLimits
from metabroker.config import parse
from metabroker.daemon import build
from metabroker.service import reasons
from metabroker.service.preview import preview
from metabroker.submission.model import Processors
from metabroker.submission.shape import Shape
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


def test_why_it_waits_where_whole_nodes_count() -> None:
    """Of a job that is held back, and of one that another cluster would take: what it would hold.
    A dry run says the same."""
    it, answers, alone = engine(Failing()), Answers(), Shape(exclusive=True)
    it.broker.limit(ResourceLimits(ResourceLimit(processors=24)))
    nodes = (NodeKind(16, count=4),), (NodeKind(4, count=8),)
    seen = [
        replace(look, snapshot=replace(look.snapshot, nodes=kinds))
        for look, kinds in zip((looked(0, NOW), looked(1, NOW, 32)), nodes, strict=True)
    ]
    full = [
        ask(answers.to("a"), user, processors=Processors(single=size, cluster="leiden"))
        for user, size in (("bob", 24), ("carol", 8))
    ]
    asked = [ask(answers.to("a"), shape=alone, processors=single(size)) for size in (4, 4, 9)]
    it.process(seen, NOW)
    plan, _ = preview(it, asked[0], NOW)
    assert [(part["cluster"], part["held"]) for part in plan["components"]] == [("delft", 16)]
    it.process([*full, *asked], NOW)
    assert it.broker.view.usage().processors["user", "anna"] == 16
    found = reasons.of(it.broker.view, NOW, it.broker.view.jobs)
    limit = "user anna uses 16, and at most 24 are allowed (limits.per_user.processors)"
    there = f"in delft it would hold 16 processors (whole nodes), and {limit}"
    assert found[4].position == 0 and found[4].reason.endswith(there)
    assert found[5] == reasons.Waiting(
        None, f"asks for 9 processors, and would hold at least 12 (whole nodes); {limit}"
    )
    plan, _ = preview(it, ask(answers.to("a"), shape=alone), NOW)
    assert not plan["starts_now"] and plan["reason"].endswith(there)


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
