"""The engine: the order of events, what it refuses, and what it holds in memory."""

from collections.abc import Iterator, Sequence

import pytest

from metabroker.policy import Launch, Planner, Request, make, make_planner
from metabroker.simulation import CHUNK, Finished, Impossible, Overbooked, SimJob, simulate
from tests.simulation.playing import new, play, stream, waits

ONE = Request((1,))
TWO = Request((2,))


def job(submit: float, request: Request, run: float, estimate: float | None = None) -> SimJob:
    return SimJob(submit, request, 0, run, run if estimate is None else estimate)


def test_what_a_sink_gets() -> None:
    first, second = job(1.0, TWO, 2.0), job(2.0, TWO, 1.0)
    done: list[Finished] = []
    assert simulate(make("FCFS", 1), [first, second], [2], done.extend) == 2
    assert done == [
        (3.0, 1, 0, first, (0,), (2,), 1.0),
        (4.0, 2, 1, second, (0,), (2,), 3.0),
    ]


def test_an_empty_stream() -> None:
    assert simulate(make("FCFS", 1), [], [2], lambda done: None) == 0


def test_finished_jobs_come_in_chunks_in_order_of_their_ends() -> None:
    chunks: list[list[Finished]] = []
    number = 2 * CHUNK + 7
    jobs = (job(float(key), ONE, 0.5) for key in range(number))
    assert simulate(make("FCFS", 1), jobs, [1], chunks.append) == number
    assert [len(chunk) for chunk in chunks] == [CHUNK, CHUNK, 7]
    ends = [done[0] for chunk in chunks for done in chunk]
    assert ends == sorted(ends)


@pytest.mark.parametrize("policy", ["GS", "EASY", "AFCFS"])
def test_jobs_are_taken_when_their_time_comes_and_forgotten_after_their_end(policy: str) -> None:
    taken = ended = 0
    most = 0

    def jobs() -> Iterator[SimJob]:
        nonlocal taken, most
        for key in range(5 * CHUNK):
            taken += 1
            most = max(most, taken - ended)
            yield job(float(key), ONE, 0.5)

    def sink(done: list[Finished]) -> None:
        nonlocal ended
        ended += len(done)

    simulate(new(policy, [2]), jobs(), [2], sink)
    assert ended == 5 * CHUNK
    assert most <= CHUNK + 3


def test_batch_has_all_ends_then_all_submissions_then_one_pass() -> None:
    # At 10, a and b end, and c is submitted: d (2 processors) is first in the queue.
    jobs = [job(0, ONE, 10), job(0, ONE, 10), job(5, TWO, 1), job(10, ONE, 1)]
    assert waits(play("EASY", jobs, [2])) == [0, 0, 5, 1]
    assert waits(play("FPFS", jobs, [2])) == [0, 0, 5, 1]


def test_pyss_has_event_by_event() -> None:
    # The end of a, of which nobody knew, has its own pass before the end of b.
    jobs = [job(0, ONE, 10, 20), job(0, ONE, 10, 20), job(5, TWO, 1), job(6, ONE, 30)]
    assert waits(play("FPFS", jobs, [2])) == [0, 0, 5, 5]
    assert waits(play("FPFS", jobs, [2], "pyss")) == [0, 0, 35, 4]


def test_in_pyss_order_submissions_come_before_ends() -> None:
    jobs = [job(0, TWO, 10, 20), job(5, TWO, 5, 8), job(10, ONE, 4)]
    assert waits(play("EASY", jobs, [3])) == [0, 5, 0]
    jobs = [job(0, TWO, 10, 20), job(5, Request((3,)), 5), job(10, ONE, 10)]
    assert waits(play("EASY", jobs, [3])) == [0, 5, 5]
    # The submission sees a head promised 20, and fits in front of it.
    assert waits(play("EASY", jobs, [3], "pyss")) == [0, 15, 0]


def test_in_pyss_order_an_end_by_the_estimate_is_foreseen() -> None:
    jobs = [job(0, TWO, 10), job(5, Request((3,)), 5), job(10, ONE, 10)]
    assert waits(play("EASY", jobs, [3], "pyss")) == [0, 5, 5]


@pytest.mark.parametrize("order", ["batch", "pyss"])
@pytest.mark.parametrize("policy", ["GS", "EASY", "CONSERVATIVE", "LG-SS-BS", "MULTI-SITE"])
def test_jobs_without_a_run_time_end_at_once(policy: str, order: str) -> None:
    jobs = [job(1.0, TWO, 0.0)] * 5 + [job(1.0, TWO, 1.0)] * 2
    done = play(policy, jobs, [2], order)
    assert [finished[0] for finished in done[:5]] == [1.0] * 5
    assert sorted(waits(done)) == [0.0] * 6 + [1.0]


@pytest.mark.parametrize("order", ["batch", "pyss"])
@pytest.mark.parametrize("policy", ["EASY", "CONSERVATIVE", "JOB-SHARING", "MULTI-SITE"])
def test_estimates_may_be_wrong_in_both_directions(policy: str, order: str) -> None:
    right = stream(1500, (100,), utilization=0.85)
    jobs = [
        each._replace(estimate=each.run_time * (0.2, 1, 5)[key % 3])
        for key, each in enumerate(right)
    ]
    processors = [128] if policy in {"EASY", "CONSERVATIVE"} else [64, 32, 32]
    assert len(play(policy, jobs, processors, order)) == 1500


def test_a_split_job_runs_longer() -> None:
    planner = make_planner("MULTI-SITE", [4, 4], overhead=0.25)
    done = play(planner, [job(0, Request((6,)), 8), job(0, TWO, 8)], [4, 4])
    assert [(each[0], each[4], each[5]) for each in done] == [
        (10.0, (0, 1), (4, 2)),
        (8.0, (1,), (2,)),
    ]


@pytest.mark.parametrize("policy", ["FCFS", "LS-OR", "EASY", "CONSERVATIVE", "AFCFS"])
@pytest.mark.parametrize("order", ["batch", "pyss"])
def test_a_job_that_can_never_run_is_named(policy: str, order: str) -> None:
    endless = (job(float(key), Request((5,)) if key == 3 else ONE, 0.5) for key in range(10**9))
    with pytest.raises(Impossible, match=r"job 3 \(components of 5 .* clusters of 4"):
        play(policy, endless, [4], order)


def test_a_single_component_is_too_large_for_its_own_cluster() -> None:
    jobs = [SimJob(0.0, Request((6,)), 1, 1.0, 1.0)]
    assert play("GS", jobs, [8, 4])
    with pytest.raises(Impossible, match="job 0"):
        play("LS-OR", jobs, [8, 4])


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (job(0.5, ONE, 1.0), r"job 1: submitted at 0\.5, after one of 1\.0"),
        (job(float("nan"), ONE, 1.0), "job 1: submitted at nan"),
        (job(2.0, ONE, -1.0), r"job 1: .* to run for -1\.0"),
        (job(2.0, ONE, float("nan")), "job 1: .* to run for nan"),
    ],
)
def test_a_broken_stream_is_refused(second: SimJob, message: str) -> None:
    for policy in ("FCFS", "EASY"):
        with pytest.raises(ValueError, match=message):
            play(policy, [job(1.0, ONE, 1.0), second], [4])


def test_a_broken_first_job_is_refused() -> None:
    with pytest.raises(ValueError, match=r"job 0: .* to run for -1\.0"):
        play("EASY", [job(1.0, ONE, -1.0)], [4])
    with pytest.raises(ValueError, match="job 0: submitted at nan"):
        play("EASY", [job(float("nan"), ONE, 1.0)], [4])


def test_an_unknown_order_and_another_system_are_refused() -> None:
    with pytest.raises(ValueError, match="no event order is called 'fifo'"):
        play("FCFS", [], [4], "fifo")
    with pytest.raises(ValueError, match="a policy for 2 clusters on a system of 1"):
        play(make("GS", 2), [], [4])
    with pytest.raises(ValueError, match="a policy for"):
        play(make_planner("EASY", [8]), [], [4])


class Greedy(Planner):
    """Starts everything at once."""

    def __init__(self, processors: Sequence[int]) -> None:
        super().__init__(processors)
        self.launches: list[Launch] = []

    def submit(self, key: int, request: Request, local: int, estimate: float, now: float) -> None:
        self.launches.append((key, (0,), request.sizes))

    def end(self, key: int, now: float) -> None:
        pass

    def run(self, now: float) -> list[Launch]:
        launches, self.launches = self.launches, []
        return launches

    def __len__(self) -> int:
        return len(self.launches)

    def ever_fits(self, request: Request) -> bool:
        return True


def test_a_policy_that_uses_more_than_there_is_is_found_out() -> None:
    with pytest.raises(Overbooked, match="job 1 was started with 2 processors on cluster 0"):
        play(Greedy([3]), [job(0.0, TWO, 1.0), job(0.5, TWO, 1.0)], [3])
