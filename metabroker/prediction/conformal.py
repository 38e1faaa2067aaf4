"""From an expectation to an interval, by what came of earlier expectations.

Conformal prediction: how far waits were from what had been expected of them (their *scores*) tells
how far the next one will be, whatever the expectation is worth. Waits differ by orders of
magnitude, so a score is a difference of logarithms, in units of how unsure the expectation was.
An interval begins as that from the 9 % to the 91 % quantile of the last scores, and a little wider
while few are known.

Then both ends follow what comes (Gibbs and Candes 2021; Angelopoulos, Candes and Tibshirani 2023):
a wait beyond an end moves that end outwards, each other one a nineteenth as much inwards, until it
is where it began. So one wait in twenty is beyond each end in the long run, also when load changes.
An end never goes further inwards: jobs that come together share their fate, and a row of good
intervals says little of the next row. (The 9 % were chosen by what parts of the CTC and KTH logs
came to.)

The scores of jobs that have started are those of the lucky ones. So jobs that still wait count,
too: their scores are at least what they are by now (censored, as Kaplan and Meier have it), and who
has waited beyond its interval is told of as soon as it has.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp, log1p

CONFIDENCE = 0.9
LEAST = 50
"""So few scores tell nothing."""
_WINDOW = 500
_SURVIVORS = 10
_STEP = 0.05
_SHORT = 300.0  # seconds: waits far below it are compared by differences, not by ratios
_FURTHEST = 4.0  # times the longest wait that is known: no interval says more
_NOISE = 0.5  # of the distance between the quartiles of the scores
_TAIL = (1 - CONFIDENCE) / 2
_PARTS = (_TAIL, 0.5, 1 - _TAIL)
_BEGIN = 0.09  # the quantile at which an end begins
_FEW = 5.0  # by so much, divided by the number of scores, an end is further outwards


@dataclass(frozen=True, slots=True)
class Estimate:
    """When a job starts, in seconds: nine times in ten not before `earliest` and not after
    `latest`; as often before `likely` as after it."""

    earliest: float
    likely: float
    latest: float

    def after(self, moment: float) -> Estimate:
        """The same counted from `moment` seconds earlier: waits become moments."""
        return Estimate(self.earliest + moment, self.likely + moment, self.latest + moment)


@dataclass(frozen=True, slots=True)
class Expected:
    """An expectation: the logarithm of the wait, and how unsure that is."""

    middle: float = 0.0
    unsure: float = 1.0

    def score(self, wait: float) -> float:
        """How far a wait is from it."""
        return (_log(wait) - self.middle) / self.unsure

    def wait(self, score: float) -> float:
        """The wait that is so far from it; at least 0."""
        return max(0.0, _SHORT * (exp(min(self.middle + self.unsure * score, 60.0)) - 1))


NOTHING = Expected()
"""Where nothing is expected, scores are those of the waits themselves."""


def expectation(waits: Sequence[float]) -> Expected:
    """Of several expected waits, in increasing order; of none: `NOTHING`."""
    if not waits:
        return NOTHING
    known = [_log(wait) for wait in waits]
    return Expected(_quantile(known, 0.5), 1 + _quantile(known, 0.9) - _quantile(known, 0.1))


@dataclass(slots=True)
class Achieved:
    """How good the last intervals were: of so many (`told`) waits, those within (`kept`); the mean
    width, in seconds."""

    told: int = 0
    kept: int = 0
    width: float = 0.0


@dataclass(slots=True)
class Calibration:
    """The scores of one kind of jobs."""

    _last: deque[float] = field(default_factory=lambda: deque(maxlen=_WINDOW))
    _ordered: list[float] = field(default_factory=list)
    _below: float = 0.0
    _above: float = 0.0

    def __len__(self) -> int:
        return len(self._last)

    def interval(
        self, expected: Expected, longest: float, still: Sequence[float] = ()
    ) -> Estimate | None:
        """The wait of a job, None where too little is known. `longest`: the longest wait known;
        `still`: what the scores of jobs that wait are by now, in increasing order."""
        if len(self._last) < LEAST:
            return None
        found = _quantiles(self._ordered, still, (_BEGIN, 0.25, 0.5, 0.75, 1 - _BEGIN))
        if found is None:
            return None
        low, first, middle, third, high = found
        few = _FEW / len(self._last)
        likely = middle if expected is NOTHING else _beyond(middle, _NOISE * (third - first))
        low, high = low - few - self._below, high + few + self._above
        ends = (min(low, likely), likely, max(likely, high))
        return Estimate(*(min(expected.wait(score), _FURTHEST * longest) for score in ends))

    def later(
        self, expected: Expected, waited: float, longest: float, still: Sequence[float] = ()
    ) -> Estimate | None:
        """The same of a job that has waited for so long already: by those that did so too."""
        score = expected.score(waited)
        rest, others = (each[bisect_right(each, score) :] for each in (self._ordered, still))
        if len(self._last) < LEAST or len(rest) < _SURVIVORS:
            return None
        found = _quantiles(rest, others, _PARTS)
        if found is None:
            return None
        low, likely, high = found
        ends, far = (low, likely, high + self._above), _FURTHEST * max(waited, longest)
        return Estimate(*(max(waited, min(expected.wait(end), far)) for end in ends))

    def learn(self, score: float) -> None:
        """What came of an expectation."""
        if len(self._last) == _WINDOW:
            del self._ordered[bisect_left(self._ordered, self._last[0])]
        self._last.append(score)
        insort(self._ordered, score)

    def follow(self, early: bool, late: bool) -> None:
        """A wait was shorter or longer than its interval said, or neither."""
        self._below = max(0.0, self._below + _STEP * (early - _TAIL))
        self._above = max(0.0, self._above + _STEP * (late - _TAIL))


def _log(wait: float) -> float:
    return log1p(max(0.0, wait) / _SHORT)


def _beyond(middle: float, noise: float) -> float:
    """How much of the scores' median tells that expectations are wrong: a good one is made worse by
    what the last scores happen to be."""
    return max(0.0, middle - noise) + min(0.0, middle + noise)


def _quantiles(
    known: Sequence[float], still: Sequence[float], parts: Sequence[float]
) -> list[float] | None:
    """Quantiles of scores of which some are only known to be larger than those in `still` (the
    estimator of Kaplan and Meier); None: too many may still become larger than all that are known.
    All in increasing order."""
    if not still:
        return [_quantile(known, part) for part in parts]
    found: list[float] = []
    left, at_risk, place = 1.0, len(known) + len(still), 0
    for score in known:
        while place < len(still) and still[place] < score:
            place += 1
            at_risk -= 1
        left -= left / at_risk
        at_risk -= 1
        while len(found) < len(parts) and 1 - left >= parts[len(found)] - 1e-9:
            found.append(score)
    return found if len(found) == len(parts) else None


def _quantile(values: Sequence[float], part: float) -> float:
    place = part * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (place - below)
