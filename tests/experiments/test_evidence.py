"""How claims are decided, on made-up outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from metabroker.experiments.evidence import (
    FAILS,
    HOLDS,
    UNDECIDED,
    Below,
    Close,
    Compared,
    Comparison,
    Looks,
    Quantity,
    Statement,
    conclusion,
    verdict,
)
from metabroker.experiments.result_cache import KeptResults, ResultCache, trials
from metabroker.experiments.scale import TINY, Scale
from metabroker.simulation.executor import InProcess
from metabroker.simulation.measure import JobOutcome
from metabroker.simulation.system import Run, System
from metabroker.simulation.workloads.batch import Batch

SCALE = replace(TINY, replications=4)


@dataclass(frozen=True)
class Numbers:
    """A task whose replications have these outcomes."""

    values: tuple[float, ...]

    def play(self, replication: int) -> float:
        return self.values[replication]


def quantity(*values: float) -> Quantity:
    return Quantity("it", (Numbers(values),), float)


@dataclass(frozen=True)
class Made(Run):
    """A run whose outcome is made up: it has grown so much."""

    response: float = 1.0
    grown: float = 0.0

    def play(self, replication: int = 0, also: object = None) -> JobOutcome:
        time = self.response + 0.001 * replication
        return JobOutcome(
            jobs=1, counted=1, warmup=0, response=time, response_first=time, response_others=None,
            max_first=0, max_others=0, wait=0, gross=0, net=0,
            awrt=0, awwt=0, slowdown=1, split_jobs=0, split_share=0, makespan=1, growth=self.grown,
        )  # fmt: skip


def mean(response: float, grown: float = 0.0, *, total: bool = True) -> Quantity:
    run = Made(System((1,), "GS"), Batch(()), 1, response=response, grown=grown)
    return Quantity("it", (run,), lambda outcome: outcome.response, total)


LOW, HIGH = quantity(1.0, 2.0, 3.0, 4.0), quantity(1.1, 2.2, 3.1, 4.2)
NOISY = quantity(2.0, 1.0, 4.0, 3.0)


@pytest.mark.parametrize(
    ("comparison", "sign"),
    [
        # Only the differences count: the values themselves vary far more.
        (Below(LOW, HIGH), "yes"),
        (Below(HIGH, LOW), "no"),
        (Below(LOW, NOISY), "open"),
        (Below(LOW, HIGH, 0.5), "no"),
        (Close(LOW, HIGH, 0.5), "yes"),
        (Close(LOW, quantity(2.0, 4.0, 6.0, 8.1), 0.1), "no"),
        (Close(LOW, NOISY, 0.1), "open"),
        (Below(mean(1.0), mean(2.0, grown=2.0)), "yes"),
        (Below(mean(1.0, grown=2.0), mean(2.0)), "no"),
        (Below(mean(1.0, grown=2.0), mean(2.0, grown=2.0)), "nothing"),
        (Below(mean(1.0), mean(2.0, grown=2.0, total=False)), "nothing"),
        (Close(mean(1.0), mean(1.0, grown=2.0), 0.1), "no"),
        (Close(mean(1.0, grown=2.0), mean(1.0, grown=2.0), 0.1), "nothing"),
        (Below(LOW, Quantity("none", LOW.tasks, lambda _: None)), "nothing"),
        (Close(LOW, Quantity("none", LOW.tasks, lambda _: None), 0.1), "nothing"),
    ],
)
def test_a_comparison(comparison: Comparison, sign: str) -> None:
    assert comparison.judge(ResultCache(), 4).sign == sign


def test_what_is_open_is_looked_at_again_with_twice_the_replications() -> None:
    early, late = quantity(*(1.0, 2.0) * 8), quantity(*(1.1, 2.2) * 8)
    undecided = quantity(*(2.0, 1.0) * 4, *(3.0, 4.0) * 4)
    looks = Looks.doubling(4, 3)
    assert looks.at == (4, 8, 16)
    results = ResultCache()
    assert looks.judge(Below(early, late), results).text.endswith("n=4")
    assert looks.judge(Below(early, undecided), results).text.endswith("n=4")
    results.play(trials([*early.tasks, *undecided.tasks], 16))
    assert looks.judge(Below(early, undecided), results) == Below(early, undecided).judge(
        results, 16, looks.level
    )
    results = ResultCache()
    made = [Statement("case", (("", Below(early, other)),)) for other in (late, undecided)]
    claim = Compared(lambda scale: made)
    scale = replace(SCALE, looks=2)
    assert len(claim.trials(scale)) == 4 * 4
    further = claim.further(results, scale, 1)
    assert {task for task, _ in further} == {*early.tasks, *undecided.tasks}
    assert max(replication for _, replication in further) == 7
    assert not claim.further(results, scale, 2)
    assert not replace(claim, once=True).further(results, scale, 1)


def test_what_stays_open_within_a_hundredth_is_the_same() -> None:
    one, other = quantity(*(100.0, 200.0) * 8), quantity(*(100.5, 199.5) * 8)
    looks, results = Looks.doubling(4, 3), ResultCache()
    assert looks.judge(Below(one, other), results).sign == "open"  # there are looks left
    results.play(trials([*one.tasks, *other.tasks], 16))
    assert looks.judge(Below(one, other), results).sign == "same"
    assert looks.judge(Below(one, other, 0.9), results).sign == "no"
    assert Looks.doubling(4, 1).judge(Below(LOW, NOISY), ResultCache()).sign == "open"


def test_nothing_is_looked_at_again_that_cannot_change_the_result() -> None:
    low, high = quantity(*(1.0, 2.0) * 8), quantity(*(1.1, 2.2) * 8)
    open_ = Below(low, quantity(*(2.0, 1.0) * 4, *(3.0, 4.0) * 4))
    right, wrong = Below(low, high), Below(high, low)
    scale = replace(SCALE, looks=2)

    def further(*statements: tuple[Comparison, ...]) -> bool:
        made = [Statement("", tuple(("", each) for each in at)) for at in statements]
        return bool(Compared(lambda scale: made).further(ResultCache(), scale, 1))

    assert further((open_,)) and further((right, open_)) and further((wrong, open_))
    assert not further((right, wrong, open_))  # it contradicts itself already
    assert not further((open_,), (wrong,))  # the claim fails already
    assert further((open_,), (wrong, open_))  # which may still turn out otherwise


@pytest.mark.parametrize("number", [2, 4, 6])
def test_all_looks_together_err_in_a_twentieth_of_the_cases(number: int) -> None:
    """Pocock 1977, here for sums that double with each look: some of 100,000 walks leave the bounds
    though nothing pulls them."""
    looks, rng = Looks.doubling(1, number), np.random.default_rng(7)
    bound = NormalDist().inv_cdf(0.5 + looks.level / 2)
    steps = [n - before for n, before in zip(looks.at, (0, *looks.at), strict=False)]
    walks = np.cumsum(rng.normal(size=(100_000, number)) * np.sqrt(steps), axis=1)
    errs = (np.abs(walks) > bound * np.sqrt(looks.at)).any(axis=1).mean()
    assert 0.048 < errs < 0.052


def test_a_comparison_tells_its_numbers() -> None:
    text = Below(LOW, HIGH).judge(ResultCache(), 4).text
    assert text == "it < it: 2.5 and 2.65, difference -0.15 [-0.242, -0.0581], n=4"


@pytest.mark.parametrize(
    ("signs", "expected"),
    [
        (["yes", "open", "nothing"], HOLDS),
        (["no", "open"], FAILS),
        (["yes", "no"], UNDECIDED),
        (["open", "nothing"], UNDECIDED),
        (["same", "nothing"], FAILS),
        (["same", "open"], UNDECIDED),
        (["same", "yes"], HOLDS),
        ([], UNDECIDED),
    ],
)
def test_a_statement_is_looked_at_in_several_places(signs: list[str], expected: str) -> None:
    assert verdict(signs) == expected


@pytest.mark.parametrize(
    ("verdicts", "most", "expected"),
    [
        ([HOLDS, HOLDS], False, HOLDS),
        ([HOLDS, UNDECIDED], False, UNDECIDED),
        ([HOLDS, FAILS, UNDECIDED], False, FAILS),
        ([], False, UNDECIDED),
        ([HOLDS, HOLDS, FAILS], True, HOLDS),
        ([HOLDS, FAILS], True, FAILS),
        ([HOLDS, UNDECIDED], True, UNDECIDED),
    ],
)
def test_a_claim_of_several_statements(verdicts: list[str], most: bool, expected: str) -> None:
    assert conclusion(verdicts, most) == expected


def claim(*comparisons: Comparison, reading: str = "", doubt: str = "") -> Compared:
    def statements(_: Scale) -> list[Statement]:
        return [Statement("case", (("at 0.8", comparison),)) for comparison in comparisons]

    return Compared(statements, reading, doubt)


def test_a_claim_that_holds() -> None:
    result, evidence = claim(Below(LOW, HIGH), reading="so").decide(ResultCache(), SCALE)
    assert result == HOLDS and evidence[0].startswith("yes: case at 0.8: it < it: ")
    assert evidence[1:] == ["read as: so"]


def test_one_that_does_not_says_why() -> None:
    result, evidence = claim(Below(LOW, HIGH), Below(HIGH, LOW)).decide(ResultCache(), SCALE)
    assert result == FAILS and evidence[-1].startswith("likely reason: ")
    result, evidence = claim(Below(LOW, NOISY), doubt="noise").decide(ResultCache(), SCALE)
    assert result == UNDECIDED and evidence[-1] == "likely reason: noise"


def test_a_trial_is_played_once() -> None:
    results = ResultCache()
    for _ in range(2):
        claim(Below(LOW, HIGH), Below(HIGH, LOW)).decide(results, SCALE)
    assert results.played == 8


def test_results_are_kept_for_later_calls_by_what_they_are_of(tmp_path: Path) -> None:
    task, other = Numbers((1.0, 2.0)), Numbers((3.0,))
    first = ResultCache(kept=KeptResults(tmp_path / "kept"))
    assert first.outcomes(task, 2) == (1.0, 2.0)
    assert (tmp_path / "kept").stat().st_mode & 0o077 == 0

    played = KeptResults(tmp_path / "kept")
    assert played.find([(task, 1), (other, 0)]) == {(task, 1): 2.0}

    class Nowhere(InProcess):
        def _results(self, function: object, arguments: object) -> Iterator[Any]:
            raise AssertionError("it is known")

    assert ResultCache(Nowhere(), played).outcomes(Numbers((1.0, 2.0)), 2) == (1.0, 2.0)
