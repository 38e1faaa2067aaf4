"""What a setting changes is told as certain only where the log is sure of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from metabroker.advice import report
from metabroker.advice.advice import Advice, Chapter, Compared
from metabroker.advice.effects import LEAST_JOBS, LEAST_WEEKS, WEEK, effects, groups
from metabroker.advice.settings import AGING, NO_PLANS, Family, Setting
from metabroker.advice.site import Floats, Site, Tried
from metabroker.config.model import AgingConfig
from metabroker.policy import BACKFILLING, POLICIES, Aging
from metabroker.simulation.local_users import Line
from metabroker.simulation.planned import Plan
from tests.simulation.traces import KTH, TRACES

WEEKS, EACH = 20, 50
SUBMITS = np.arange(WEEKS * EACH) * WEEK / EACH
EVERYBODY = {"all jobs": np.ones(WEEKS * EACH, dtype=bool)}
NOISE = np.random.default_rng(3).normal(0, 600, (WEEKS, 1)).repeat(EACH, axis=1).flatten()
BEFORE = np.full(WEEKS * EACH, 5000.0)


def test_an_effect_beyond_the_noise_of_weeks_is_certain() -> None:
    (found,) = effects(SUBMITS, BEFORE, BEFORE + NOISE - 1500, EVERYBODY)
    assert found.certain and found.sign == -1 and found.jobs == WEEKS * EACH
    assert found.low is not None and found.high is not None
    assert found.low < found.change < found.high < 0
    assert found.change == pytest.approx(NOISE.mean() - 1500)


def test_weeks_are_drawn_and_not_jobs() -> None:
    """Job by job the same mean would be certain: its interval would be 1/7 as wide."""
    shifted = NOISE - NOISE.mean() + 150
    (found,) = effects(SUBMITS, BEFORE, BEFORE + shifted, EVERYBODY)
    assert found.low is not None and found.high is not None
    assert not found.certain and found.low < 0 < found.high
    assert abs(found.change) > 2.58 * shifted.std() / (WEEKS * EACH) ** 0.5


@pytest.mark.parametrize("weeks", [LEAST_WEEKS, 16])
def test_what_is_no_effect_is_seldom_called_certain_also_of_few_weeks(weeks: int) -> None:
    """At 99 % one in a hundred is."""
    draws = np.random.default_rng(5)
    submits = np.arange(weeks * EACH) * WEEK / EACH
    before = np.full(weeks * EACH, 5000.0)
    wrong = 0
    for _ in range(300):
        noise = draws.normal(0, 600, (weeks, 1)).repeat(EACH, axis=1).flatten()
        (found,) = effects(submits, before, before + noise, {"all jobs": before > 0})
        wrong += found.certain
    assert wrong <= 9


def test_of_few_weeks_nothing_is_certain() -> None:
    few = EACH * (LEAST_WEEKS - 1)
    (found,) = effects(
        SUBMITS[:few], BEFORE[:few], BEFORE[:few] + 9000, {"all jobs": BEFORE[:few] > 0}
    )
    assert not found.certain and found.low is not None and found.low > 0


def test_of_few_jobs_nothing_is_told_and_what_was_not_played_does_not_count() -> None:
    some = np.arange(WEEKS * EACH) < LEAST_JOBS
    after: Floats = BEFORE + 1
    after[0] = np.nan
    assert list(effects(SUBMITS, BEFORE, after, {"some": some})) == []
    (found,) = effects(SUBMITS, BEFORE, after, EVERYBODY)
    assert found.jobs == WEEKS * EACH - 1 and found.change == pytest.approx(1.0)


def test_of_two_weeks_no_interval_is_told(tmp_path: Path) -> None:
    """One that has no ends would be no JSON, and no word of a report."""
    submits = np.arange(2 * EACH) * WEEK / EACH
    before, after = np.full(2 * EACH, 5000.0), np.full(2 * EACH, 4000.0)
    (found,) = effects(submits, before, after, {"all jobs": before > 0})
    assert not found.certain and (found.low, found.high) == (None, None)
    compared = Compared(Setting("FPFS"), (found,))
    chapter = Chapter(Family("the policy", Setting("FCFS"), ()), 5000.0, (compared,))
    told = Advice(Site("log", ("a",), (100,)), 1, 2, 0, 0.5, None, (chapter,))
    assert json.dumps(told.as_json(), allow_nan=False)
    assert [path.exists() for path in report.write(told, tmp_path)] == [True] * 3
    assert "| -17 min |" in (tmp_path / "advice.md").read_text()


def test_what_is_certain_on_the_first_half_of_a_log_is_right_on_the_second() -> None:
    """A part of it: all settings of KTH and CTC take minutes (docs/experiments.md)."""
    path = TRACES / f"{KTH}.jobs.swf.gz"
    if not path.is_file():
        pytest.skip(f"{path} is not there (METABROKER_SHARED)")
    halves = [Site(str(path), ("all",), (100,), part) for part in ((1, 14240), (14241, 28481))]
    found = []
    for site in halves:
        replay = site.replay()
        jobs = list(replay.jobs())
        submits = np.array([job.submit for job in jobs])
        who = groups(jobs, list(replay.entries()), (100,), Setting("EASY"))
        now, *others = (Tried(site, Setting(p)).play(0).waits for p in ("FPFS", "FCFS", "EASY"))
        found.append([effect for waits in others for effect in effects(submits, now, waits, who)])
    certain = [(one, two) for one, two in zip(*found, strict=True) if one.certain]
    assert len(certain) >= 5 and {one.sign for one, _ in certain} == {-1, 1}
    assert [one.sign for one, _ in certain] == [two.sign for _, two in certain]


def swf(path: Path, lines: list[str]) -> str:
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def line(number: int, submit: int, size: int, run: int, user: int) -> str:
    return f"{number} {submit} 0 {run} {size} -1 -1 {size} {run} -1 1 {user} 1 -1 1 -1 -1 -1"


def test_a_log_s_partitions_are_the_clusters_of_their_names(tmp_path: Path) -> None:
    """Numbered as they come in the log, and not as the clusters."""
    header = ["; Partition: 1 leiden", "; Partition: 2 delft", "; Partition: 3 scratch"]
    header += ["; Partition: ² leiden", f"; Partition: {'9' * 5000} delft"]  # no numbers
    jobs = [(1, 8), (2, 100), (1, 16), (2, 128), (3, 1)]
    lines = [" ".join([*line(n, n, size, 100, 1).split()[:15], str(partition), "-1", "-1"])
             for n, (partition, size) in enumerate(jobs, 1)]  # fmt: skip
    site = Site(swf(tmp_path / "log", [*header, *lines]), ("delft", "leiden"), (128, 64))
    assert [job.local for job in site.replay().jobs()][:4] == [1, 0, 1, 0]
    assert not Tried(site, Setting("LP-GF")).play(0).refused


def test_a_policy_is_tried_with_the_daemons_aging(tmp_path: Path) -> None:
    """A wide job waits while small ones go on coming: FPFS alone would never let it start."""
    small = [line(2 + n, 1 + n * 50, 1, 100, 2) for n in range(4000)]
    lines = [line(1, 0, 1, 100, 2), *small[:10], line(9999, 520, 2, 10, 2), *small[10:]]
    site = Site(swf(tmp_path / "log", lines), ("a",), (2,))
    waits = [
        Tried(site, replace(Setting("FPFS"), aging=aging)).play(0).waits.max()
        for aging in (AGING, None)
    ]
    assert waits[0] < 5000 < waits[1]
    usual = AgingConfig()
    assert Aging(usual.overtaken, usual.wait) == AGING


def test_what_the_daemon_can_do_is_not_said_to_be_the_simulators_alone() -> None:
    for policy in (*POLICIES, *BACKFILLING):
        assert Setting(policy).live
    assert not Setting("AFCFS").live


def test_each_job_has_its_own_wait_also_those_of_local_users(tmp_path: Path) -> None:
    jobs = [(0, 4, 100, 1), (0, 4, 50, 2), (10, 4, 20, 1), (20, 4, 20, 2), (999, 1, 1, 2)]
    lines = [line(n, *job) for n, job in enumerate(jobs, 1)]
    site = Site(swf(tmp_path / "log", lines), ("a", "b"), (4, 4))
    waits = Tried(site, Setting("FPFS", None, True, None)).play(0).waits
    # Those of user 1 are local, at a; those of user 2 are the broker's, which are placed on b.
    assert waits.tolist()[:4] == [0.0, 0.0, 90.0, 30.0]
    alone = Tried(site, Setting("FPFS")).play(0).waits
    assert alone.tolist() == [0.0, 0.0, 40.0, 50.0, 0.0]


def test_a_co_allocated_job_gets_a_time_in_full_clusters_where_plans_are_tried(
    tmp_path: Path,
) -> None:
    """The local users' next job waits at any time, in both clusters."""
    local = [(100 * (n // 2), 3, 100, 1) for n in range(60)]
    local[4:] = [(submit - 150, size, run, user) for submit, size, run, user in local[4:]]
    jobs = sorted([*local, (60, 4, 20, 2), (9999, 1, 1, 2)])  # local users stop with the last one
    lines = [line(n, *job) for n, job in enumerate(jobs, 1)]
    ours = jobs.index((60, 4, 20, 2))
    site = Site(
        swf(tmp_path / "log", [f"; Components: {ours + 1} 2,2", *lines]), ("a", "b"), (4, 4)
    )
    usual = Setting("FPFS", None, True, Line(16, 2), Plan(share=1.0, again=10.0))
    with_plans = Tried(site, usual).play(0).waits
    without = Tried(site, replace(usual, plan=NO_PLANS)).play(0).waits
    assert with_plans[ours] < 400 < 2000 < without[ours]
    assert without.tolist() == Tried(site, replace(usual, plan=None)).play(0).waits.tolist()


def test_what_cannot_be_tried_says_why(tmp_path: Path) -> None:
    site = Site(swf(tmp_path / "log", [line(1, 0, 4, 9, 1), line(2, 1, 4, 9, 1)]), ("a",), (4,))
    assert "AFCFS-X" in Tried(site, Setting("AFCFS-X")).play(0).refused
