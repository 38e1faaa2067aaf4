"""Others' reservations that begin before a job would end (see `golden/horizon.txt` too)."""

from __future__ import annotations

import pytest

from metabroker.broker.events import ClusterUnreachable, Observed, SubmitJob
from metabroker.broker.horizon import Horizon
from metabroker.broker.job import NewJob
from metabroker.broker.observation import Coming, Snapshot
from metabroker.broker.states import JobState
from metabroker.broker.upcoming import Upcoming
from metabroker.policy import Aging, Request

from .bench import START, Bench


def kept(name: str, later: float, processors: int, idle: int | None = None) -> Coming:
    start = START + later
    return Coming(name, start, start + 600, processors, processors if idle is None else idle)


def look(bench: Bench, others: int, *coming: Coming, cluster: int = 0) -> Observed:
    return Observed(cluster, Snapshot(bench.now, 32, 32, others, coming=coming))


def job(limit: int, processors: int = 4) -> SubmitJob:
    return SubmitJob(NewJob("anna", "job", Request((processors,)), limit))


def test_what_is_kept_until_a_moment_and_by_which_reservation() -> None:
    found = Upcoming([kept("b", 200, 8, 2), kept("a", 100, 16, 0), kept("c", 300, 1)], offset=50.0)
    assert [each.name for each in found.items] == ["a", "b", "c"]
    assert [found.idle(START + t) for t in (0, 50, 151, 251)] == [0, 0, 2, 3]
    assert found.beyond(START + 100, 15) == found.items[0]
    assert found.beyond(START + 100, 16) is None
    assert found.beyond(START + 200, 20) == found.items[1]
    assert found.beyond_idle(START + 999, 2) == found.items[2]
    assert found.beyond_idle(START + 999, -7) == found.items[1]
    assert found.last(START) is None and found.last(START + 150) == found.items[1]
    assert Upcoming().idle(START) == 0 and Upcoming().beyond(START, 0) is None


def test_what_moves_on_with_the_time_is_the_same_until_it_has_moved_far() -> None:
    before = Upcoming([kept("a", 100, 8)])
    assert before.is_like(Upcoming([kept("a", 150, 8, 0)]))
    for other in (kept("a", 161, 8), kept("a", 100, 9), kept("b", 100, 8)):
        assert not before.is_like(Upcoming([other]))
    assert not before.is_like(Upcoming())


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The jobs that were placed and then kept away."""
    found: list[int] = []
    old = Horizon.keep_away

    def keep_away(self: Horizon, job: object, *args: object) -> bool:
        away = old(self, job, *args)  # type: ignore[arg-type]
        if away:
            found.append(job.id)  # type: ignore[attr-defined]
        return away

    monkeypatch.setattr(Horizon, "keep_away", keep_away)
    return found


@pytest.mark.parametrize("policy", ["GS", "LP-GF", "FPFS"])
def test_jobs_that_have_no_room_are_placed_once_and_not_again_while_nothing_changes(
    policy: str, asked: list[int]
) -> None:
    bench = Bench({"delft": 32}, policy=policy, slice=20)
    full = look(bench, 24, kept("course", 1200, 16, 8))
    bench.handle(full, *(job(7200) for _ in range(200)))
    bench.ticks(0)
    assert 0 < len(asked) == len(set(asked)) <= 200
    asked.clear()
    for _ in range(11):
        bench.ticks(5)
        bench.handle(look(bench, 24, kept("course", 1200, 16, 8)))
    assert asked == []
    bench.handle(look(bench, 16, kept("course", 1200, 16, 8)))
    bench.ticks(0)
    started = [each for each in bench.broker.view.jobs.values() if each.components]
    assert [each.id for each in started] == [1, 2]
    bench.close()


def test_a_shorter_one_behind_goes_where_longer_ones_cannot(asked: list[int]) -> None:
    bench = Bench({"delft": 32}, slice=20)
    bench.handle(look(bench, 0, kept("maintenance", 1200, 32)), *(job(7200) for _ in range(90)))
    bench.handle(job(600))
    bench.ticks(0)
    assert [each.id for each in bench.broker.view.jobs.values() if each.components] == [91]
    assert asked == [], "it was known at once"
    bench.close()


def test_a_job_that_is_not_to_be_overtaken_keeps_no_cluster_that_it_may_not_use() -> None:
    bench = Bench({"delft": 32, "leiden": 32}, policy="FPFS", aging=Aging(overtaken=1))
    maintenance = kept("maintenance", 1200, 32)
    bench.handle(look(bench, 0, maintenance), look(bench, 32, cluster=1), job(7200))
    bench.handle(job(600), job(600), job(600))
    started = [each.id for each in bench.broker.view.jobs.values() if each.components]
    assert started == [2, 3, 4]
    bench.handle(look(bench, 30, cluster=1), job(7200, 2), job(7200, 2))
    bench.handle(look(bench, 28, cluster=1))
    started = [each.id for each in bench.broker.view.jobs.values() if each.components]
    assert started == [2, 3, 4, 5], "overtaken once in leiden, where it can go"
    bench.close()


def test_jobs_of_other_lengths_that_could_go_nowhere_go_as_soon_as_they_can() -> None:
    bench = Bench({"delft": 32})
    bench.handle(look(bench, 0, kept("maintenance", 1200, 32)), job(7200), job(3600))
    bench.handle(look(bench, 0, kept("maintenance", 4000, 32)))
    bench.ticks(0)
    assert [each.id for each in bench.broker.view.jobs.values() if each.components] == [2]
    bench.close()


def test_after_a_restart_the_first_poll_tells_of_it() -> None:
    bench = Bench({"delft": 32})
    bench.handle(look(bench, 0, kept("maintenance", 1200, 32)), job(7200))
    bench.broker = bench.restored()
    bench.handle(look(bench, 0, kept("maintenance", 1200, 32)))
    bench.ticks(0)
    assert not any(each.components for each in bench.broker.view.jobs.values())
    bench.close()


def test_after_a_restart_it_is_known_of_the_cluster_that_is_polled_first_too() -> None:
    bench = Bench({"delft": 32, "leiden": 8})
    bench.handle(look(bench, 32), Observed(1, Snapshot(bench.now, 8, 8, 8)))
    bench.handle(job(3600, 16))
    bench.broker = bench.restored(polled=False)
    bench.now += 5
    bench.handle(look(bench, 0, kept("maintenance", 600, 32)))
    bench.handle(Observed(1, Snapshot(bench.now, 8, 8, 8)))
    (waiting,) = bench.broker.view.jobs.values()
    assert waiting.attempt == 0, "it would run into the maintenance"
    bench.close()


def test_a_job_that_was_set_aside_while_its_cluster_was_away_is_kept_from_there_too() -> None:
    bench = Bench({"delft": 32, "leiden": 32})
    bench.handle(look(bench, 0))
    new = NewJob("anna", "job", Request((16, 16)), 3600)
    bench.handle(look(bench, 0, cluster=1), ClusterUnreachable(1, "no answer"))
    bench.handle(SubmitJob(new))
    (waiting,) = bench.broker.view.jobs.values()
    bench.handle(look(bench, 32, kept("maintenance", 600, 32), cluster=1))
    idle = kept("maintenance", 600, 32, idle=16)  # of the others a job has just ended
    bench.handle(look(bench, 0, idle, cluster=1))
    assert (waiting.attempt, waiting.state) == (0, JobState.QUEUED)
    bench.handle(look(bench, 0, cluster=1))
    assert waiting.state is JobState.RESERVING
    bench.close()
