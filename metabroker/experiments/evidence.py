"""How a claim is decided: comparisons by paired intervals, at several utilizations and cases.

A *comparison* says that one quantity is below another (or below a multiple of it). It is decided by
the 95 % interval of the difference on the same jobs: "yes" if all of it is on the right side, "no"
if all of it is on the wrong one, else "open". A system that could not keep up has no mean: against
one that could it has lost, and two of them say nothing. What is open after the last look is "same"
if all of the interval lies within 1 % of the second quantity: a difference, if any, that nobody
would speak of.

A *statement* is a comparison at several utilizations: it holds if one of them says yes and none no,
fails if one says no and none yes, or if all that say anything say same; if they contradict each
other it is undecided. A *claim* holds
if all its statements hold (or most, where the paper says so), and fails if one fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from metabroker.simulation.statistics.intervals import Interval, paired, t_interval
from metabroker.simulation.system import Run

from .result_cache import CachedRun, ResultCache, Trial, trials
from .scale import Scale

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
REASON, TESTED = "likely reason", "reason, tested"
"""How the evidence begins that says why a claim does not hold; tested: what it blames was changed
(`benchmarks/reasons.py`)."""
YES, NO, OPEN, NOTHING, SAME = "yes", "no", "open", "nothing", "same"
LEVEL = 0.95
_NO_DIFFERENCE = 0.01  # of the second quantity


@dataclass(frozen=True)
class Quantity:
    """A figure of one replication, made of the outcomes of one or more tasks.

    `label` names it in the evidence. `value` takes the outcomes of the tasks, in their order; None
    says that there is no such figure. `total`: it is the mean response time of all jobs of one run,
    so that a saturated one is infinite.
    """

    label: str
    tasks: tuple[CachedRun, ...]
    value: Callable[..., float | None]
    total: bool = False


class Verdict(NamedTuple):
    """What a comparison has shown: "yes", "no", "open", "nothing" or "same", and the numbers;
    `equal`: if it stays open, it is "same"."""

    sign: str
    text: str
    equal: bool = False


class Comparison(Protocol):
    """Something that measured values say yes or no to."""

    @property
    def tasks(self) -> tuple[CachedRun, ...]:
        """What is to be played."""

    def judge(self, results: ResultCache, replications: int, level: float = LEVEL) -> Verdict:
        """What `replications` of each task show, by intervals of this confidence level."""


@dataclass(frozen=True)
class Below:
    """`first` is below `factor` times `second`."""

    first: Quantity
    second: Quantity
    factor: float = 1.0

    @property
    def tasks(self) -> tuple[CachedRun, ...]:
        return (*self.first.tasks, *self.second.tasks)

    def judge(self, results: ResultCache, replications: int, level: float = LEVEL) -> Verdict:
        """See the module's text."""
        times = "" if self.factor == 1 else f"{self.factor:g} x "
        what = f"{self.first.label} < {times}{self.second.label}"
        lost = [_lost(q, results, replications) for q in (self.first, self.second)]
        if any(lost):
            return _by_saturation(what, lost, self.first.total and self.second.total)
        pair = _values(self.first, self.second, results, replications)
        if pair is None:
            return Verdict(NOTHING, f"{what}: no such jobs")
        ours, theirs = pair
        bound = [self.factor * value for value in theirs]
        gap = paired(ours, bound, level)
        sign = YES if gap.high < 0 else NO if gap.low > 0 else OPEN
        near = _NO_DIFFERENCE * t_interval(bound).mean
        equal = -near < gap.low and gap.high < near
        return Verdict(sign, f"{what}: {_numbers(ours, theirs, gap)}", equal)


@dataclass(frozen=True)
class Close:
    """`first` is within `tolerance` (a part of `second`) of `second`."""

    first: Quantity
    second: Quantity
    tolerance: float

    @property
    def tasks(self) -> tuple[CachedRun, ...]:
        return (*self.first.tasks, *self.second.tasks)

    def judge(self, results: ResultCache, replications: int, level: float = LEVEL) -> Verdict:
        """Yes if the interval of the difference lies within the tolerance, no if it lies outside.

        Between a saturated system and one that is not, the difference is larger than any.
        """
        what = f"{self.first.label} within {self.tolerance:.0%} of {self.second.label}"
        lost = [_lost(q, results, replications) for q in (self.first, self.second)]
        if all(lost) or (any(lost) and not (self.first.total and self.second.total)):
            return Verdict(NOTHING, f"{what}: saturated")
        if any(lost):
            return Verdict(NO, f"{what}: one of them is saturated")
        pair = _values(self.first, self.second, results, replications)
        if pair is None:
            return Verdict(NOTHING, f"{what}: no such jobs")
        ours, theirs = pair
        over = paired(ours, [(1 + self.tolerance) * value for value in theirs], level)
        under = paired(ours, [(1 - self.tolerance) * value for value in theirs], level)
        sign = OPEN
        if over.high < 0 < under.low:
            sign = YES
        elif over.low > 0 or under.high < 0:
            sign = NO
        return Verdict(sign, f"{what}: {_numbers(ours, theirs, paired(ours, theirs, level))}")


def _lost(quantity: Quantity, results: ResultCache, replications: int) -> bool:
    """Could one of its systems not keep up?"""
    runs = [task for task in quantity.tasks if isinstance(task, Run)]
    return any(results.summary(run, replications).saturated for run in runs)


def _by_saturation(what: str, lost: Sequence[bool], total: bool) -> Verdict:
    if all(lost) or not total:
        return Verdict(NOTHING, f"{what}: saturated")
    which = "the first" if lost[0] else "the second"
    return Verdict(NO if lost[0] else YES, f"{what}: {which} is saturated, the other is not")


def _values(
    first: Quantity, second: Quantity, results: ResultCache, replications: int
) -> tuple[list[float], list[float]] | None:
    """Both quantities, replication by replication; None if one of them is missing."""
    found: list[list[float]] = []
    for quantity in (first, second):
        each = [results.outcomes(task, replications) for task in quantity.tasks]
        column: Iterable[tuple[Any, ...]] = zip(*each, strict=True)
        values = [quantity.value(*outcomes) for outcomes in column]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        found.append(known)
    return found[0], found[1]


def _numbers(ours: Sequence[float], theirs: Sequence[float], gap: Interval) -> str:
    means = f"{t_interval(ours).mean:.4g} and {t_interval(theirs).mean:.4g}"
    return f"{means}, difference {gap.mean:.3g} [{gap.low:.3g}, {gap.high:.3g}], n={gap.values}"


class Looks(NamedTuple):
    """How often a comparison is looked at that is still open: after so many replications, and by
    intervals of which level. All looks have the same, as Pocock's (1977): with all of them
    together the wrong side is taken in at most 5 % of the cases."""

    at: tuple[int, ...]
    level: float

    @classmethod
    def doubling(cls, first: int, number: int) -> Looks:
        """After `first` replications, then after twice as many as before; at most six looks."""
        return cls(tuple(first << look for look in range(number)), _LEVELS[number - 1])

    def judge(self, comparison: Comparison, results: ResultCache) -> Verdict:
        """What the first look shows after which it is not open; else the last that was made."""
        found = comparison.judge(results, self.at[0], self.level)
        for replications in self.at[1:]:
            if found.sign != OPEN or not results.knows(comparison.tasks, replications):
                return found
            found = comparison.judge(results, replications, self.level)
        return found._replace(sign=SAME) if found.sign == OPEN and found.equal else found


# Pocock's own, 0.9779, 0.9818 and so on from the third on, are for looks at equal distances. These
# are for as many values again at each look: less of what was seen comes again.
_LEVELS = (LEVEL, 0.9706, 0.9792, 0.984, 0.987, 0.9891)


@dataclass(frozen=True)
class Statement:
    """A comparison at several places, by name: utilizations near saturation and below."""

    label: str
    at: tuple[tuple[str, Comparison], ...]

    def judge(self, results: ResultCache, looks: Looks) -> tuple[str, list[str]]:
        """Holds, fails or undecided, and one line for each place."""
        signs, lines = [], []
        for place, comparison in self.at:
            finding = looks.judge(comparison, results)
            signs.append(finding.sign)
            where = f"{self.label} {place}".rstrip()
            lines.append(f"{finding.sign}: {where}: {finding.text}")
        return verdict(signs), lines


def separately(label: str, comparisons: Iterable[Comparison]) -> list[Statement]:
    """A statement for each comparison."""
    return [Statement(label, (("", comparison),)) for comparison in comparisons]


def verdict(signs: Sequence[str]) -> str:
    """What the signs of a statement's comparisons come to."""
    if YES in signs:
        return UNDECIDED if NO in signs else HOLDS
    if NO in signs:
        return FAILS
    return FAILS if SAME in signs and OPEN not in signs else UNDECIDED


def conclusion(verdicts: Sequence[str], most: bool = False) -> str:
    """What the verdicts of a claim's statements come to; `most`: more than half are enough."""
    holds, fails = verdicts.count(HOLDS), verdicts.count(FAILS)
    if most:
        half = len(verdicts) / 2
        return HOLDS if holds > half else FAILS if fails >= half else UNDECIDED
    if fails:
        return FAILS
    return HOLDS if verdicts and holds == len(verdicts) else UNDECIDED


class Decision(NamedTuple):
    """The result of a claim, "holds", "fails" or "undecided", and what it rests on."""

    result: str
    evidence: list[str]


class Check(Protocol):
    """How a claim is decided."""

    def trials(self, scale: Scale) -> list[Trial]:
        """All trials that it needs."""

    def decide(self, results: ResultCache, scale: Scale) -> Decision:
        """The decision; trials that were not played yet are played now."""


@dataclass(frozen=True)
class Compared:
    """A claim that is decided by comparisons.

    `statements` makes them for a scale. `searched`: they are about maximal utilizations, so there
    are as many replications as of a search. `reading`: how the words of the claim are read.
    `doubt`: the reason if it does not hold, a likely one unless it begins with TESTED.
    `replications`: how many, where not as the scale says. `once`: comparisons that are still open
    are not looked at again with more of them.
    """

    statements: Callable[[Scale], Sequence[Statement]]
    reading: str = ""
    doubt: str = ""
    most: bool = False
    searched: bool = False
    notes: tuple[str, ...] = field(default=())
    replications: int | None = None
    once: bool = False

    def trials(self, scale: Scale) -> list[Trial]:
        comparisons = self._comparisons(scale)
        return _trials_of(comparisons, self._looks(scale).at[0])

    def further(self, results: ResultCache, scale: Scale, look: int) -> list[Trial]:
        """The trials of its look number `look` (from 1): for what is open after those before, if
        the claim's result depends on it."""
        looks = self._looks(scale)
        if look >= len(looks.at):
            return []
        still: list[Comparison] = []
        for statement in self.statements(scale):
            signs = [looks.judge(each, results).sign for _, each in statement.at]
            if not self.most and NO in signs and not {YES, OPEN} & set(signs):
                return []  # it fails, whatever else
            if not {YES, NO} <= set(signs):
                still += [
                    c for (_, c), sign in zip(statement.at, signs, strict=True) if sign == OPEN
                ]
        return _trials_of(still, looks.at[look])

    def _comparisons(self, scale: Scale) -> list[Comparison]:
        return [each for statement in self.statements(scale) for _, each in statement.at]

    def decide(self, results: ResultCache, scale: Scale) -> Decision:
        results.play(self.trials(scale))
        for look in range(1, len(self._looks(scale).at)):
            results.play(self.further(results, scale, look))
        verdicts: list[str] = []
        evidence: list[str] = []
        turned = False
        for statement in self.statements(scale):
            found, lines = statement.judge(results, self._looks(scale))
            verdicts.append(found)
            evidence += lines
            turned |= {YES, NO} <= {line.partition(":")[0] for line in lines}
        result = conclusion(verdicts, self.most)
        if self.reading:
            evidence.append(f"read as: {self.reading}")
        if self.most:
            count = f"{verdicts.count(HOLDS)} of {len(verdicts)} statements hold"
            evidence.append(f"{count}, {verdicts.count(FAILS)} fail")
        evidence += self.notes
        if result != HOLDS:
            doubt = self.doubt or _usual(result, turned)
            evidence.append(doubt if doubt.startswith(TESTED) else f"{REASON}: {doubt}")
        return Decision(result, evidence)

    def _looks(self, scale: Scale) -> Looks:
        if self.replications is not None:
            return Looks((self.replications,), LEVEL)
        if self.searched:
            return Looks.doubling(scale.search_replications, scale.search_looks)
        return Looks.doubling(scale.replications, 1 if self.once else scale.looks)


def _trials_of(comparisons: Iterable[Comparison], replications: int) -> list[Trial]:
    return trials([task for each in comparisons for task in each.tasks], replications)


@dataclass(frozen=True)
class Refuted:
    """A claim that the paper itself contradicts: nothing is played. `said`: the evidence, and
    whether it speaks for the claim; `doubt`: the likely reason."""

    said: Sequence[tuple[bool, str]]
    doubt: str

    def trials(self, scale: Scale) -> list[Trial]:
        return []

    def decide(self, results: ResultCache, scale: Scale) -> Decision:
        evidence = [f"{YES if right else NO}: {what}" for right, what in self.said]
        return Decision(FAILS, [*evidence, f"{REASON}: {self.doubt}"])


def _usual(result: str, turned: bool) -> str:
    if turned:
        return "the order turns round with the utilization, and the paper does not name its own"
    if result == UNDECIDED:
        return "some intervals still contain 0: it takes longer runs and more replications"
    return "the paper shows one utilization that its text does not name; ours are others"
