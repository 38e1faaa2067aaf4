"""Limits on processors count what jobs hold, which is more than they ask for where nodes are given
whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from metabroker.broker.events import (
    Arrived,
    Cleaned,
    Ended,
    Observed,
    Started,
    SubmitJob,
    Submitted,
)
from metabroker.broker.job import Job, NewJob, Split
from metabroker.broker.observation import NodeKind, Snapshot
from metabroker.broker.rejected import Rejected
from metabroker.broker.resource_limits import ResourceLimit, ResourceLimits
from metabroker.policy import Request
from metabroker.submission.chunks import NodeRange
from metabroker.submission.shape import Shape
from metabroker.submission.tasks import parse_array

from .bench import Bench
from .planned import Site

Kinds = Mapping[str, tuple[NodeKind, ...]]
ALONE = Shape(exclusive=True)
LARGE = (NodeKind(64, count=16),)
WHOLE = {"delft": 1024}


class House:
    """A bench whose clusters have nodes. `shown`: what these give components, by their tokens; as
    many as they count for, where that is not said."""

    def __init__(
        self, sizes: Mapping[str, int], nodes: Kinds, limits: ResourceLimits, **given: Any
    ) -> None:
        self.it = Bench(sizes, shares=limits, **given)
        self.sizes, self.nodes = sizes, nodes
        self.shown: dict[str, int] = {}
        self.look()

    def look(self, **more: int) -> None:
        """The clusters are seen as they are; `more`: of each held by others, or wanted there."""
        events = []
        for cluster, (name, size) in enumerate(self.sizes.items()):
            broker = self.it.broker
            weigh = broker._queues.held_back.holdings.of
            live = broker._saga.claims.live[cluster].values()
            ours = {
                self.it.token(c.ref): weigh(c, self.job(c.ref.job)) for c in live if c.processors
            }
            for token in ours:
                ours[token] = self.shown.setdefault(token, ours[token])
            busy = min(size, sum(ours.values()) + more.get(name, 0))
            seen = Snapshot(self.it.now, size, size, busy, ours=ours)
            waiting = more.get("wanted", 0)
            nodes = self.nodes.get(name, ())
            seen = replace(seen, nodes=nodes, idle=nodes, free=nodes, waiting=waiting)
            events.append(Observed(cluster, seen))
        self.it.handle(*events)

    def submit(self, *sizes: int, user: str = "anna", **given: Any) -> Job:
        """A new job."""
        clusters = given.pop("clusters", None)
        new = NewJob(user, "job", Request(sizes, clusters), 600, **given)
        self.it.handle(SubmitJob(new))
        return self.job(self.it.broker.next_job - 1)

    def job(self, number: int) -> Job:
        """One that has not ended."""
        return self.it.broker.view.jobs[number]

    def where(self, job: Job) -> list[str]:
        """The clusters of its components."""
        return [self.it.name(component.cluster) for component in job.components]

    def held_back(self) -> set[int]:
        """Who waits for a limit."""
        return set(self.it.broker.view.held_back)

    def used(self, user: str = "anna") -> int:
        """The processors that count for a user."""
        return self.it.broker.view.usage().processors["user", user]

    def end(self, job: Job) -> None:
        """A job of one component runs, and ends."""
        ref = job.components[0].ref
        self.it.handle(Submitted(ref, "77"), Started(ref, self.it.now), Ended(ref, self.it.now, 0))
        self.it.handle(Cleaned(ref))


@pytest.fixture
def made() -> Iterator[list[House]]:
    houses: list[House] = []
    yield houses
    for house in houses:
        house.it.close()


def house(
    made: list[House], sizes: Mapping[str, int], nodes: Kinds, most: int, **given: Any
) -> House:
    """A house in which each user may have so many processors."""
    limits = given.pop("limits", ResourceLimits(ResourceLimit(processors=most)))
    made.append(House(sizes, nodes, limits, **given))
    return made[-1]


def test_nodes_of_its_own_count_as_what_is_in_them(made: list[House]) -> None:
    """Sixteen jobs of one processor each held 1,024."""
    it = house(made, WHOLE, {"delft": LARGE}, 128)
    jobs = [it.submit(1, shape=ALONE) for _ in range(16)]
    assert [len(job.components) for job in jobs] == [1, 1] + 14 * [0]
    assert it.used() == 128 and it.held_back() == {job.id for job in jobs[2:]}
    it.look()
    assert it.used() == 128
    it.end(jobs[0])
    assert jobs[2].components and it.used() == 128


def test_a_queues_limit_counts_the_same(made: list[House]) -> None:
    limits = ResourceLimits(per_queue=ResourceLimit(processors=128))
    it = house(made, WHOLE, {"delft": LARGE}, 0, limits=limits)
    jobs = [it.submit(1, user=f"user{n}", shape=ALONE) for n in range(4)]
    assert [bool(job.components) for job in jobs] == [True, True, False, False]


def test_components_on_whole_nodes_count_as_those(made: list[House]) -> None:
    it = house(made, WHOLE, {}, 1000, units={"delft": 64})
    first = it.submit(*(8 * [1]), clusters=8 * (0,))
    assert first.components and it.used() == 512
    second = it.submit(*(8 * [1]), clusters=8 * (0,))
    assert not second.components and it.held_back() == {second.id}


@pytest.mark.parametrize("whole", [True, False])
def test_what_would_hold_too_much_alone_is_refused(made: list[House], whole: bool) -> None:
    given: dict[str, Any] = {"units": {"delft": 64}} if whole else {}
    it = house(made, WHOLE, {"delft": LARGE}, 63, **given)
    with pytest.raises(Rejected, match=r"user anna may have 63 processors.*would hold at least 64"):
        it.submit(1, shape=Shape() if whole else ALONE)
    with pytest.raises(Rejected, match=r"may have 63 processors at a time .*at least 128"):
        it.submit(1, 1, clusters=(0, 0), shape=ALONE)
    assert whole or it.submit(63).components


def test_where_nodes_are_not_known_it_is_not_refused_and_where_they_differ_it_waits(
    made: list[House],
) -> None:
    it = house(made, WHOLE, {}, 40)
    unknown = it.submit(1, shape=ALONE)
    assert unknown.components and it.used() == 1
    it.nodes = {"delft": (NodeKind(24, count=4), NodeKind(64, count=8))}
    it.look()
    late = it.submit(1, user="bob", shape=ALONE)  # it may hold 24 or 64
    assert not late.components and late.id in it.held_back()
    with pytest.raises(Rejected, match="at least 48"):
        it.submit(2, user="bob", shape=ALONE, nodes=NodeRange(2, 2))
    it.nodes = {"delft": (NodeKind(24, count=4),)}
    it.look()
    it.submit(1, user="carol")  # any event: those that wait are looked at again
    it.it.broker.limit(ResourceLimits(ResourceLimit(processors=41)))
    it.it.settle()
    assert late.components


@pytest.mark.parametrize(
    ("nodes", "held"), [(NodeRange(), 64), (NodeRange(4, 4), 256), (NodeRange(2, 8), 512)]
)
@pytest.mark.parametrize("whole", [True, False])
def test_tasks_on_many_nodes_count_as_these(
    made: list[House], nodes: NodeRange, held: int, whole: bool
) -> None:
    given: dict[str, Any] = {"units": {"delft": 64}} if whole else {}
    it = house(made, WHOLE, {"delft": LARGE}, 512, **given)
    shape = Shape() if whole else ALONE
    assert it.submit(16, shape=shape, nodes=nodes).components and it.used() == held
    it.look()
    it.it.restart()
    it.look()
    assert it.used() == held
    beside = it.submit(16, shape=shape)
    assert bool(beside.components) == (held < 512)


def test_an_administrators_option_for_all_jobs_counts_too(made: list[House]) -> None:
    it = house(made, WHOLE, {"delft": LARGE}, 64)
    settings = it.it.settings
    whole = tuple(replace(cluster, whole=True) for cluster in settings.clusters)
    it.it.settings = replace(settings, clusters=whole)
    it.it.restart()
    it.look()
    first, second = it.submit(1), it.submit(1)
    assert first.components and not second.components


@pytest.mark.parametrize(
    ("system", "twin_of", "whole"),
    [("slurm", "", True), ("simulated", "slurm", True), ("simulated", "openpbs", False)],
)
def test_whole_nodes_that_slurm_and_its_twin_reserve_for_memory_count(
    made: list[House], system: str, twin_of: str, whole: bool
) -> None:
    it = house(made, WHOLE, {"delft": LARGE}, 128)
    settings = it.it.settings
    clusters = tuple(replace(c, system=system, twin_of=twin_of) for c in settings.clusters)
    it.it.settings = replace(settings, clusters=clusters)
    it.it.restart()
    it.look()
    shape = Shape(memory=1000)
    pair = it.submit(1, 1, clusters=(0, 0), shape=shape)
    assert pair.components and it.used() == (128 if whole else 2)
    alone = it.submit(1, shape=shape)
    assert bool(alone.components) == (not whole)


def test_what_a_cluster_shows_counts(made: list[House]) -> None:
    """Whatever is the reason for it: processors that go with memory, threads of a core."""
    it = house(made, WHOLE, {"delft": LARGE}, 16)
    first = it.submit(4)
    it.shown = {it.it.token(first.components[0].ref): 14}
    it.look()
    assert it.used() == 14
    second = it.submit(4)
    assert not second.components
    it.shown = {it.it.token(first.components[0].ref): 4}
    it.look()
    assert it.used() == 8 and second.components


TWO = {"delft": 1024, "leiden": 64}


def test_a_cluster_in_which_it_would_hold_too_much_is_none_for_it(made: list[House]) -> None:
    it = house(made, TWO, {}, 16, units={"delft": 64})
    first, second = it.submit(8), it.submit(8)
    assert it.where(first) == it.where(second) == ["leiden"]
    third = it.submit(8)
    assert it.held_back() == {third.id}
    with pytest.raises(Rejected, match="at least 64"):
        it.submit(8, clusters=(0,))
    it.end(first)
    assert it.where(third) == ["leiden"]


def test_beside_what_is_in_use_another_cluster_takes_it(made: list[House]) -> None:
    it = house(made, TWO, {}, 80, units={"delft": 64})
    jobs = [it.submit(8) for _ in range(4)]
    assert [it.where(job) for job in jobs] == [["delft"], ["leiden"], ["leiden"], []]
    it.look()
    it.end(jobs[1])
    assert it.where(jobs[3]) == ["leiden"]
    late = it.submit(8)
    assert it.held_back() == {late.id}
    it.end(jobs[0])
    assert late.components and it.used() <= 80


def test_where_no_other_has_room_it_waits_and_goes_there_once_it_may(made: list[House]) -> None:
    it = house(made, TWO, {}, 80, units={"delft": 64})
    it.submit(64, user="bob", clusters=(1,))
    first, second = it.submit(8), it.submit(8)
    assert it.where(first) == ["delft"] and not second.components
    assert not it.held_back()  # leiden would do
    it.end(first)
    assert it.where(second) == ["delft"]


def test_of_a_co_allocated_job_one_component_may_be_on_whole_nodes(made: list[House]) -> None:
    sizes = {"delft": 1024, "leiden": 512, "lab": 64}
    it = house(made, sizes, {}, 80, units={"delft": 64, "leiden": 64})
    job = it.submit(8, 8)
    assert sorted(it.where(job)) in (["delft", "lab"], ["lab", "leiden"])
    assert it.used() == 72


def test_tasks_of_an_array_count_as_they_hold(made: list[House]) -> None:
    it = house(made, WHOLE, {"delft": LARGE}, 128)
    it.submit(1, shape=ALONE, nodes=NodeRange(1, 1), array=parse_array("0-9%4"))
    it.it.ticks(1)
    assert it.used() == 128
    running = [job for job in it.it.broker.view.jobs.values() if job.components]
    assert len(running) == 2 and all(job.nodes == (1, 1) for job in running)


def test_in_line_it_counts_as_where_it_would_hold_the_most(made: list[House]) -> None:
    it = house(made, TWO, {}, 80, units={"delft": 64})
    it.look(wanted=1, leiden=64)
    first, second = it.submit(8), it.submit(8)

    def line(job: Job) -> list[str]:
        return sorted(it.it.name(sibling.cluster) for sibling in job.line)

    assert (line(first), line(second)) == (["delft", "leiden"], ["leiden"])
    third = it.submit(9)
    assert not third.line
    for sibling in first.line:
        it.it.handle(Submitted(sibling.ref, f"7{sibling.cluster}", it.it.now))
    (there,) = (sibling for sibling in first.line if sibling.cluster == 0)
    it.it.broker.limit(ResourceLimits(ResourceLimit(processors=60)))
    it.it.handle(Arrived(there.ref, "node"))
    assert there not in first.line and not first.components


def test_what_the_policy_could_start_only_above_the_limit_is_refused(made: list[House]) -> None:
    sizes = {"delft": 64, "leiden": 64, "lab": 8}
    it = house(made, sizes, {}, 16, units={"delft": 8, "leiden": 8})
    with pytest.raises(Rejected, match="would hold at least 17"):
        it.submit(3, 1, 3)  # in three clusters
    assert it.submit(3, 3).components and it.used() == 16
    assert not it.submit(3).components


def test_who_is_put_above_the_limit_again_and_again_keeps_nobody_back(made: list[House]) -> None:
    """All four would be within it in one order, which Worst Fit does not find."""
    sizes = {"delft": 32, "leiden": 24, "lab": 8, "utrecht": 32}
    units = {"delft": 2, "leiden": 2, "lab": 4, "utrecht": 4}
    limits = ResourceLimits(per_queue=ResourceLimit(processors=24))
    it = house(made, sizes, {}, 0, limits=limits, units=units)
    stuck = it.submit(5, 5, 3, 8)
    assert not stuck.components and not it.held_back()
    later = it.submit(8, user="bob")
    assert later.components
    it.it.broker.limit(ResourceLimits(per_queue=ResourceLimit(processors=40)))
    it.it.ticks(100)
    it.look()
    assert stuck.components and it.used() <= 32


def test_a_plan_counts_as_what_it_will_hold() -> None:
    site = Site(3)
    units = (16, 16, 1)
    clusters = zip(site.bench.settings.clusters, units, strict=True)
    whole = tuple(replace(cluster, unit=unit) for cluster, unit in clusters)
    site.bench.settings = replace(site.bench.settings, clusters=whole)
    site.bench.shares = ResourceLimits(ResourceLimit(processors=30))
    site.bench.broker = site.bench._new()
    site.look()
    job = site.submit(8, 8)
    site.pass_time(30)
    site.reserve_all()
    assert sorted(component.processors for component in job.components) == [8, 16]
    assert site.bench.broker.view.usage().processors["user", "ann"] == 24
    site.bench.close()


def test_one_that_the_policy_splits_waits_for_clusters_in_which_it_is_light(
    made: list[House],
) -> None:
    """Though only one job is handled in a turn, and each time it is put above its limit."""
    sizes, units = {"delft": 8, "leiden": 16, "lab": 8}, {"delft": 2, "lab": 8}
    it = house(made, sizes, {}, 23, units=units, policy="MULTI-SITE", slice=1)
    other = it.submit(4, user="bob", clusters=(0,))
    job = it.submit(22, split=Split(parts=3))
    for _ in range(20):
        it.it.settle()
    assert not job.components and it.it.broker._scheduling.unfinished is None
    it.end(other)
    for _ in range(5):
        it.it.settle()
    assert it.where(job) == ["leiden", "delft"] and it.used() == 22


def test_what_one_job_weighs_by_its_nodes_is_not_taken_for_anothers(made: list[House]) -> None:
    sizes, nodes = {"delft": 1024, "leiden": 1024}, {"delft": LARGE, "leiden": LARGE}
    it = house(made, sizes, nodes, 400)
    with pytest.raises(Rejected, match="at least 512"):
        it.submit(4, 4, user="bob", shape=ALONE, nodes=NodeRange(4, 4))
    it.submit(4, 4, shape=ALONE)
    assert not it.held_back()


def test_who_could_be_within_limits_nowhere_is_looked_at_again_when_nodes_are_back(
    made: list[House],
) -> None:
    sizes, small = {"delft": 1024, "leiden": 64}, (NodeKind(16, count=4),)
    it = house(made, sizes, {"delft": LARGE, "leiden": small}, 64)
    first = it.submit(64, clusters=(0,), shape=ALONE)
    job = it.submit(20, shape=ALONE)
    assert it.held_back() == {job.id}
    it.sizes, it.nodes = {"delft": 1024, "leiden": 16}, {"delft": LARGE, "leiden": small[:0]}
    it.it.broker.limit(ResourceLimits(ResourceLimit(processors=32)))
    it.look()
    it.end(first)
    it.look()
    assert it.held_back() == {job.id}
    it.sizes, it.nodes = sizes, {"delft": LARGE, "leiden": small}
    it.look()
    it.look()
    assert it.where(job) == ["leiden"]
