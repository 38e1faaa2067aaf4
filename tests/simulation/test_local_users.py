"""Clusters with local users and a scheduler of their own, and what the broker may have of them."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from metabroker.policy import POLICIES, Launch, Request, make, make_planner
from metabroker.policy.local_queue import LocalEasy, LocalFcfs
from metabroker.simulation import Finished, Impossible, SimJob, simulate
from metabroker.simulation.local_users import SCHEDULERS, Line, SharedCluster
from metabroker.simulation.shared_engine import simulate_shared
from tests.simulation.playing import stream
from tests.simulation.test_agreement import SIZES, mixed, policy_level, workload


def job(submit: float, size: int | tuple[int, ...], run: float, local: int = 0) -> SimJob:
    sizes = (size,) if isinstance(size, int) else size
    return SimJob(submit, Request(sizes), local, run, run)


def played(
    policy: str,
    jobs: Iterable[SimJob],
    clusters: Iterable[SharedCluster],
    line: Line | None = None,
) -> tuple[list[Finished], list[Finished]]:
    """The broker's jobs and those of local users, in the order of their submission."""
    broker: list[Finished] = []
    local: list[Finished] = []
    known = list(clusters)
    simulate_shared(make(policy, len(known)), jobs, known, broker.extend, local.extend, line)
    return sorted(broker, key=lambda done: done[2]), sorted(local, key=lambda done: -done[2])


def starts(done: Iterable[Finished]) -> list[float]:
    return [found[6] for found in done]


@pytest.mark.parametrize("policy", POLICIES)
def test_without_local_users_every_job_starts_when_the_engine_starts_it(policy: str) -> None:
    for ties in (False, True):
        jobs = workload(3, mixed, ties=ties)
        found: dict[int, float] = {}

        def sink(done: list[Finished], found: dict[int, float] = found) -> None:
            found.update({finished[2]: finished[6] for finished in done})

        clusters = [SharedCluster(size) for size in SIZES]
        scheduler = make(policy, len(SIZES), rng=random.Random(9))
        simulate_shared(scheduler, jobs, clusters, sink, sink, Line(4) if ties else None)
        assert [found[key] for key in range(len(jobs))] == policy_level(policy, jobs)


@pytest.mark.parametrize("scheduler", ["FCFS", "EASY"])
def test_local_users_alone_wait_as_under_their_scheduler(scheduler: str) -> None:
    jobs = [found._replace(local=0) for found in stream(600, (100,), 0.2, seed=4)]
    last = job(jobs[-1].submit, 1, 0.0)
    _, local = played("GS", [last], [SharedCluster(32, scheduler, jobs)])
    done: list[Finished] = []
    policy = make_planner("EASY", [32]) if scheduler == "EASY" else make("FCFS", 1)
    simulate(policy, jobs, [32], done.extend)
    assert starts(local) == starts(sorted(done, key=lambda found: found[2]))
    assert any(start > own.submit for start, own in zip(starts(local), jobs, strict=True))


HEAD = (job(0, 6, 10), job(1, 8, 5))
"""Of 10 processors, 6 are busy until 10, and the head of the local queue wants 8."""


def test_under_fcfs_the_broker_waits_behind_every_local_job() -> None:
    jobs = [job(2, 1, 1), job(20, 1, 1)]
    broker, local = played("GS", jobs, [SharedCluster(10, "FCFS", HEAD)])
    assert starts(local) == [0, 10] and starts(broker) == [10, 20]


@pytest.mark.parametrize(("size", "run", "start"), [(2, 50, 2), (3, 8, 2), (3, 9, 15), (5, 1, 15)])
def test_under_easy_the_broker_gets_what_does_not_delay_the_local_head(
    size: int, run: float, start: float
) -> None:
    """Two processors are left beside the head, and two more until it starts at 10."""
    jobs = [job(2, size, run), job(20, 1, 1)]
    local_jobs = [*HEAD, job(10.5, 1, 1)]
    broker, local = played("GS", jobs, [SharedCluster(10, "EASY", local_jobs)])
    assert starts(local)[1] == 10
    assert starts(broker)[0] == start


def test_a_job_that_one_cluster_would_not_start_goes_to_another() -> None:
    """Worst Fit takes the first cluster, whose head is in the way; the second has fewer idle."""
    clusters = [SharedCluster(10, "EASY", HEAD), SharedCluster(3)]
    broker, _ = played("GS", [job(2, 3, 50), job(20, 1, 1)], clusters)
    assert broker[0][4] == (1,) and broker[0][6] == 2


def test_all_components_start_or_none() -> None:
    clusters = [SharedCluster(10, "EASY", HEAD), SharedCluster(10)]
    broker, local = played("GS", [job(2, (3, 3), 50), job(20, 1, 1)], clusters)
    assert starts(broker) == [15, 20] and starts(local) == [0, 10]


def test_a_job_that_was_not_started_keeps_its_place_and_its_queue() -> None:
    """First Come First Served: nobody overtakes the head that the cluster would not start."""
    jobs = [job(2, 3, 50), job(2, 1, 1), job(20, 1, 1)]
    broker, _ = played("FCFS", jobs, [SharedCluster(10, "EASY", HEAD)])
    assert starts(broker)[:2] == [15, 15]
    broker, _ = played("FPFS", jobs, [SharedCluster(10, "EASY", HEAD)])
    assert starts(broker)[:2] == [15, 2]
    jobs = [job(2, 3, 50), job(2, 9, 1), job(20, 1, 1)]
    broker, _ = played("FCFS", jobs, [SharedCluster(10, "EASY", HEAD)])
    assert starts(broker)[:2] == [15, 65]


def test_the_local_scheduler_counts_on_the_ends_of_the_brokers_jobs() -> None:
    """The broker's job holds 6 until 10: the local head is promised 10, and nothing delays it."""
    local_jobs = [job(1, 8, 5), job(2, 4, 9), job(3, 4, 7)]
    broker, local = played(
        "GS", [job(0, 6, 10), job(9, 1, 1)], [SharedCluster(10, "EASY", local_jobs)]
    )
    assert starts(broker)[0] == 0 and starts(local) == [10, 15, 3]


class Promising(LocalEasy):
    """Sees that a head is never promised a later start than before."""

    promised: tuple[int, float] | None = None
    heads = 0

    def run(self, now: float) -> list[Launch]:
        launches = super().run(now)
        before, promise = self.promised, self.promise
        if promise is not None and before is not None and promise[0] == before[0]:
            assert promise[1] <= before[1] + 1e-9
            Promising.heads += promise[0] < 0
        self.promised = promise
        return launches


@pytest.mark.parametrize("line", [None, Line(4, 3)])
def test_nothing_of_the_brokers_delays_the_head_of_a_local_queue(
    line: Line | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SCHEDULERS, "EASY", Promising)
    monkeypatch.setattr(Promising, "heads", 0)
    clusters = []
    for seed in range(3):
        users = [found._replace(local=0) for found in stream(400, (100,), 0.2, seed=seed)]
        exact = [found._replace(estimate=found.run_time) for found in users]
        clusters.append(SharedCluster(32, "EASY", exact))
    wide = stream(150, (70, 30), 0.1, seed=9, sizes=range(4, 17))
    jobs = [found._replace(estimate=found.run_time, local=0) for found in wide]
    played("FPFS", jobs, clusters, line)
    assert Promising.heads > 100


def test_local_users_submit_until_the_brokers_last_job_is_submitted() -> None:
    endless = (job(float(n), 1, 1) for n in range(10**9))
    broker, local = played("GS", [job(5, 1, 3)], [SharedCluster(10, "EASY", endless)])
    assert len(broker) == 1 and len(local) == 6


def test_a_local_job_that_can_never_run_is_refused() -> None:
    with pytest.raises(Impossible, match="11 processors"):
        played("GS", [job(5, 1, 3)], [SharedCluster(10, "EASY", [job(1, 11, 1)])])
    with pytest.raises(Impossible, match="12 processors"):
        played("GS", [job(5, 12, 3)], [SharedCluster(10)])
    with pytest.raises(ValueError, match="a policy for 1 clusters"):
        simulate_shared(make("GS", 1), [], [SharedCluster(1)] * 2, print, print)


@pytest.mark.parametrize("kind", [LocalEasy, LocalFcfs])
def test_the_next_ones_start_when_the_head_is_withdrawn(kind: type[LocalEasy]) -> None:
    pool = kind((10,))
    for key, size in enumerate((6, 8, 8, 4)):
        pool.submit(key, Request((size,)), 0, 10.0, float(key))
        pool.run(float(key))
    assert (pool.queued, pool.starts_now(4, 8.0, 3.0)) == (20, False)
    pool.withdraw(2)
    assert pool.queued == 12
    pool.submit(4, Request((1,)), 0, 1.0, 4.0)
    backfilled = [] if kind is LocalFcfs else [4]
    assert [key for key, _, _ in pool.run(4.0)] == backfilled
    if backfilled:
        pool.end(4, 4.0)
    pool.withdraw(1)
    assert 3 in [key for key, _, _ in pool.run(4.0)] and pool.idle < 2
    with pytest.raises(KeyError):
        pool.withdraw(1)


@pytest.mark.parametrize("kind", [LocalEasy, LocalFcfs])
def test_who_is_withdrawn_leaves_the_others_as_if_it_had_never_come(kind: type[LocalEasy]) -> None:
    """Random queues with and without jobs that leave again start the others at the same time."""
    rng = random.Random(5)
    for _ in range(40):
        events = [(rng.randint(1, 10), rng.randint(1, 9), rng.random() < 0.3) for _ in range(12)]
        assert run(kind, events) == run(kind, [event for event in events if not event[2]])


def run(kind: type[LocalEasy], events: list[tuple[int, int, bool]]) -> list[tuple[int, float]]:
    """(size, start) of the jobs that stay; those that leave do so before anything starts."""
    pool, stays, found = kind((10,)), {}, []
    pool.submit(-1, Request((10,)), 0, 5.0, 0.0)
    ends = [(5.0, key) for key, _, _ in pool.run(0.0)]
    for key, (size, time, gone) in enumerate(events):
        pool.submit(key, Request((size,)), 0, float(time), 1.0)
        assert pool.run(1.0) == []
        stays[key] = (size, time, gone)
    for key, (_, _, gone) in stays.items():
        if gone:
            pool.withdraw(key)
            assert pool.run(2.0) == []
    while ends:
        ends.sort()
        now, key = ends.pop(0)
        pool.end(key, now)
        for started, _, _ in pool.run(now):
            found.append((stays[started][0], now))
            ends.append((now + stays[started][1], started))
    assert not len(pool)
    return found


# The line


def two(*, first: float, second: float) -> list[SharedCluster]:
    """Two full clusters of 10 with a local job waiting, which become idle at these times."""
    return [SharedCluster(10, "FCFS", [job(0, 10, end), job(1, 4, 30)]) for end in (first, second)]


def test_a_job_starts_where_it_comes_up_first_and_once() -> None:
    clusters = two(first=20, second=10)
    broker, local = played("GS", [job(2, 6, 5), job(50, 1, 1)], clusters, Line(1))
    assert (broker[0][4], starts(broker)) == ((1,), [10, 50])
    assert starts(local) == [0, 0, 20, 10]


@pytest.mark.parametrize("line", [None, Line(0), Line(1, 1), Line(1, 2)])
def test_as_many_siblings_as_the_line_allows(line: Line | None) -> None:
    """Idle-only it would not have the 6 of the second cluster before the local job has 4."""
    clusters = two(first=10, second=10)
    clusters[1] = SharedCluster(10, "FCFS", [job(0, 10, 8), job(1, 4, 30), job(3, 6, 30)])
    broker, _ = played("GS", [job(2, 6, 5), job(50, 1, 1)], clusters, line)
    expected = {None: (0, 10), Line(0): (0, 10), Line(1, 1): (0, 10), Line(1, 2): (1, 8)}
    assert (broker[0][4][0], broker[0][6]) == expected[line]


def test_a_co_allocated_job_takes_nobodys_place_in_line() -> None:
    """The 2 beside the head are for the single job, which is second to a co-allocated one."""
    jobs = [job(2, (10, 10), 1), job(3, 2, 1), job(50, 1, 1)]
    clusters = [SharedCluster(10, "EASY", HEAD), SharedCluster(10, "EASY", HEAD)]
    for line, start in ((None, 3), (Line(1), 3), (Line(2), 3)):
        broker, _ = played("FPFS", jobs, clusters, line)
        assert (starts(broker)[0], starts(broker)[1]) == (15, start)


def test_a_cluster_stays_contested_while_a_sibling_of_ours_waits_in_it() -> None:
    """From 5 on no local job waits, but the first job does, for 8 that it gets at 10."""
    local_jobs = [job(0, 6, 10), job(0, 3, 5), job(1, 2, 30)]
    jobs = [job(2, 8, 5), job(6, 2, 1), job(50, 1, 1)]
    for line, start in ((None, 6), (Line(1), 15), (Line(2), 6)):
        broker, local = played("FPFS", jobs, [SharedCluster(10, "EASY", local_jobs)], line)
        assert starts(local) == [0, 0, 5]
        assert starts(broker)[:2] == [10, start]


def test_two_siblings_that_come_up_at_one_instant_start_one_job() -> None:
    local_jobs = [job(0, 10, 10), job(1, 4, 30), job(3, 6, 7)]
    clusters = [SharedCluster(10, "FCFS", local_jobs) for _ in range(2)]
    broker, local = played("GS", [job(2, 6, 5), job(50, 1, 1)], clusters, Line(1))
    assert (broker[0][4], broker[0][6]) == ((0,), 10)
    assert sorted(starts(local)) == [0, 0, 10, 10, 10, 15]


def test_who_stands_in_line_is_among_the_first_of_its_queue() -> None:
    jobs = [job(2, 6, 5), job(2, 6, 5), job(50, 1, 1)]
    broker, _ = played("GS", jobs, two(first=10, second=100), Line(1, 1))
    assert starts(broker)[:2] == [10, 15]
    broker, _ = played("GS", jobs, two(first=10, second=11), Line(2, 1))
    assert [(done[4], done[6]) for done in broker[:2]] == [((0,), 10), ((1,), 11)]


def test_a_job_of_a_local_queue_stands_in_its_own_cluster_alone() -> None:
    clusters = two(first=20, second=10)
    broker, _ = played("LP-GF", [job(2, 6, 5, local=0), job(50, 1, 1)], clusters, Line(1))
    assert (broker[0][4], broker[0][6]) == ((0,), 20)


def test_a_job_in_line_is_placed_where_nobody_waits() -> None:
    """It is the first of its queue still, and leaves the line of the other cluster."""
    clusters = [two(first=20, second=20)[0], SharedCluster(10)]
    jobs = [job(0, (10,), 5, local=1), job(2, 6, 5), job(50, 1, 1)]
    broker, local = played("GS", jobs, clusters, Line(2))
    assert (broker[1][4], broker[1][6]) == ((1,), 5) and starts(local) == [0, 20]


def test_co_allocated_jobs_do_not_stand_in_line() -> None:
    clusters = two(first=20, second=10)
    broker, _ = played("GS", [job(2, (3, 3), 5), job(15, 1, 1)], clusters, Line(8, 2))
    idle_only, _ = played("GS", [job(2, (3, 3), 5), job(15, 1, 1)], two(first=20, second=10))
    assert starts(broker)[:1] == starts(idle_only)[:1] == [20]


@pytest.mark.parametrize("policy", ["FPFS", "GS", "LP-GF", "LS-RO", "EQ-LF"])
def test_every_job_starts_once_whatever_comes_up_when(policy: str) -> None:
    """Whole numbers: much happens at one instant. (The book of idle processors is the engine's.)"""
    for seed in range(3):
        rng = random.Random(seed)
        clusters = []
        for size in SIZES:
            times = sorted(rng.randint(0, 150) for _ in range(70))
            users = [job(t, rng.randint(1, size // 2), rng.randint(1, 9)) for t in times]
            clusters.append(SharedCluster(size, rng.choice(("FCFS", "EASY")), users))
        jobs = workload(seed, mixed, ties=True)
        broker, local = played(policy, jobs, clusters, Line(rng.randint(1, 9), rng.randint(1, 4)))
        assert [done[2] for done in broker] == list(range(len(jobs)))
        assert [done[2] for done in local] == list(range(-1, -1 - len(local), -1))


@pytest.mark.parametrize("scheduler", ["FCFS", "EASY"])
def test_a_wide_job_starves_where_only_idle_processors_count_and_not_in_line(
    scheduler: str,
) -> None:
    """As on two real clusters of 32 with 8 jobs of 4 processors always pending: bare sbatch of 16
    processors started after 31 to 56 s, and through the broker it had not after 8 minutes."""

    def users(late: float) -> list[SimJob]:
        running = [job(0, 4, 4 * n + late) for n in range(1, 9)]
        pending = [job(0, 4, 32) for _ in range(8)]
        return [*running, *pending, *(job(4 * n, 4, 32) for n in range(1, 150))]

    jobs = [job(10, 16, 60), job(590, 1, 1)]

    def start(line: Line | None) -> float:
        clusters = [SharedCluster(32, scheduler, users(late)) for late in (0, 2)]
        return starts(played("FPFS", jobs, clusters, line)[0])[0] - 10

    assert start(None) > 480
    assert 31 <= start(Line(8, 2)) <= 56
