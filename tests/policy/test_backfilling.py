"""What a daemon tells a backfilling policy that a simulator never does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from metabroker.policy import Backfilling, Request, Run, SchedulerView, make

SIZES = (8, 8)


@dataclass
class Site:
    """The driver's side: time limits, what runs, and others' jobs."""

    policy: Backfilling
    limits: dict[int, float] = field(default_factory=dict)
    runs: dict[int, Run] = field(default_factory=dict)
    held: dict[int, Sequence[tuple[int, float]]] = field(default_factory=dict)
    free: list[int] = field(default_factory=lambda: list(SIZES))
    capacity: list[int] = field(default_factory=lambda: list(SIZES))
    contested: tuple[int, ...] = ()
    now: float = 0.0

    def __post_init__(self) -> None:
        self.policy.follow(self)

    def limit(self, key: int) -> float:
        return self.limits[key]

    def running(self, now: float) -> Mapping[int, Run]:
        return self.runs

    def others(self, cluster: int, processors: int, now: float) -> Sequence[tuple[int, float]]:
        return self.held.get(cluster, [(processors, now)] if processors else [])

    def submit(
        self, key: int, sizes: tuple[int, ...], limit: float, seq: int | None = None
    ) -> None:
        self.limits[key] = limit
        self.policy.arrive(key, Request(sizes), 2, self.now, seq=seq)

    def run(self) -> dict[int, tuple[int, ...]]:
        idle = list(self.free)
        starts = dict(self.policy.run(idle, self.now, self.capacity, self.contested))
        for key, clusters in starts.items():
            sizes = self.sizes[key]
            self.runs[key] = Run(clusters, sizes, self.now + self.limits[key])
            for cluster, size in zip(clusters, sizes, strict=True):
                self.free[cluster] -= size
        assert self.free == idle, "it has told what it takes"
        return starts

    @property
    def sizes(self) -> dict[int, tuple[int, ...]]:
        return {1: (8,), 2: (8,), 3: (8, 8), 4: (2,), 5: (2,), 6: (8,)}

    def end(self, key: int) -> None:
        run = self.runs.pop(key)
        for cluster, size in zip(run.clusters, run.sizes, strict=True):
            self.free[cluster] += size
        self.policy.depart(run.clusters)


@pytest.fixture(params=["EASY", "CONSERVATIVE"])
def site(request: pytest.FixtureRequest) -> Site:
    policy = make(request.param, 2)
    assert isinstance(policy, Backfilling)
    return Site(policy)


def of_others(site: Site, cluster: int, processors: int, until: float) -> None:
    site.free[cluster] -= processors
    site.held[cluster] = [(processors, until)]


def test_jobs_of_others_count_until_their_limits(site: Site) -> None:
    of_others(site, 0, 6, until=100.0)
    site.submit(3, (8, 8), 50.0)  # promised 100
    site.submit(4, (2,), 100.0)
    site.submit(5, (2,), 101.0)
    assert set(site.run()) == {4}


def test_what_nobody_knows_of_may_end_at_any_moment(site: Site) -> None:
    site.free[0] -= 6
    site.submit(3, (8, 8), 50.0)
    site.submit(4, (2,), 1.0)
    assert not site.run()


def test_a_job_that_comes_back_takes_its_old_place(site: Site) -> None:
    site.submit(1, (8,), 50.0)
    site.submit(2, (8,), 50.0)
    assert set(site.run()) == {1, 2}
    site.submit(6, (8,), 50.0)
    assert not site.run()
    site.end(1)  # refused by its cluster
    site.submit(1, (8,), 50.0, seq=0)
    assert set(site.run()) == {1}
    site.end(2)
    assert set(site.run()) == {6}


def test_who_was_withdrawn_keeps_nothing(site: Site) -> None:
    of_others(site, 0, 6, until=100.0)
    site.submit(3, (8, 8), 50.0)
    site.submit(5, (2,), 101.0)
    assert not site.run()
    assert site.policy.remove(3)
    assert set(site.run()) == {5}


def test_a_cluster_that_is_down_has_no_processors_and_comes_back(site: Site) -> None:
    site.capacity, site.free = [0, 8], [0, 8]
    site.submit(3, (8, 8), 50.0)  # set aside
    site.submit(1, (8,), 50.0)
    assert set(site.run()) == {1}
    site.capacity, site.free = [8, 8], [8, 0]
    site.submit(5, (2,), 51.0)
    assert not site.run()
    site.end(1)
    assert set(site.run()) == {3}


def test_one_that_runs_on_nodes_that_are_down_is_forgotten_until_it_ends(site: Site) -> None:
    site.submit(1, (8,), 50.0)
    site.submit(2, (8,), 50.0)
    site.run()
    site.capacity, site.free = [0, 8], [0, 0]
    site.submit(6, (8,), 50.0)
    assert not site.run()
    del site.runs[next(key for key, run in site.runs.items() if run.clusters == (0,))]
    site.policy.depart((0,))
    assert not site.run()


def test_jobs_of_one_component_do_not_start_in_contested_clusters(site: Site) -> None:
    site.contested = (0, 1)
    site.submit(1, (8,), 50.0)
    site.submit(3, (8, 8), 50.0)
    assert set(site.run()) == {3}


@pytest.mark.parametrize(("before", "started"), [(10, [4]), (990, [])])
def test_only_so_many_are_looked_at(site: Site, before: int, started: list[int]) -> None:
    of_others(site, 0, 6, until=100.0)
    for key in range(10, 10 + before):
        site.limits[key] = 60.0
        site.policy.arrive(key, Request((8, 8)), 2, 0.0)
    site.submit(4, (2,), 1.0)  # it would delay none of them
    assert [key for key, _ in site.policy.run(list(site.free), 0.0, SIZES)] == started


def test_what_would_start_at_once_is_told_before_it_is_submitted(site: Site) -> None:
    of_others(site, 0, 6, until=100.0)
    site.submit(3, (8, 8), 50.0)  # promised 100
    assert not site.run()
    view = SchedulerView(site.policy)

    def start(limit: float) -> tuple[int, ...] | None:
        found = view.preview(Request((8,)), 2, site.free, site.now, SIZES, limit=limit)
        return None if found is None else found[1]

    assert (start(100.0), start(101.0)) == ((1,), None)
    site.submit(1, (8,), 100.0)
    assert set(site.run()) == {1}
