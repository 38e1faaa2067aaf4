"""Statements about policies in the cases of the synthetic model, in short forms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from metabroker.simulation.measure import JobOutcome
from metabroker.simulation.system import Run

from .evidence import Below, Close, Compared, Comparison, Quantity, Statement
from .experiment import METRICS, ratio
from .four_clusters import Case, level, run
from .scale import Scale

CLOSE = 0.10
"""Response times that differ by less than this part are "close", or "slightly" different."""
MUCH = 1.25
"""A response time at least this many times another one is "much" worse."""
ALL_LEVELS = (0, 1, 2)
"""Orders are looked at in all places that `level` knows: also where one policy is saturated."""
BELOW_SATURATION = (0, 1)
"""How much two policies differ is looked at where no policy is saturated: close to saturation any
difference becomes as large as one likes."""


class Claims:
    """Makes statements at a scale. `kind` is of `METRICS`: total, local or global jobs."""

    def __init__(self, scale: Scale) -> None:
        self._scale = scale

    def below(
        self, case: Case, first: str, second: str, kind: str = "total", factor: float = 1.0
    ) -> Statement:
        """The response time under `first` is below `factor` times that under `second`."""
        levels = ALL_LEVELS if factor == 1 else BELOW_SATURATION
        return self._compared(
            case, (first, kind), (second, kind), lambda a, b: Below(a, b, factor), levels
        )

    def order(self, case: Case, policies: Sequence[str], kind: str = "total") -> list[Statement]:
        """Each policy has a lower response time than the next one."""
        return [self.below(case, first, second, kind) for first, second in pairwise(policies)]

    def best(
        self, case: Case, policy: str, others: Iterable[str], kind: str = "total"
    ) -> list[Statement]:
        """The policy has a lower response time than all others."""
        return [self.below(case, policy, other, kind) for other in others if other != policy]

    def worst(
        self, case: Case, policy: str, others: Iterable[str], kind: str = "total"
    ) -> list[Statement]:
        """The policy has a higher response time than all others."""
        return [self.below(case, other, policy, kind) for other in others if other != policy]

    def close(self, case: Case, first: str, second: str, kind: str = "total") -> Statement:
        """The response times under both policies are close."""

        def close(a: Quantity, b: Quantity) -> Comparison:
            return Close(a, b, CLOSE)

        return self._compared(case, (first, kind), (second, kind), close, BELOW_SATURATION)

    def kinds(self, case: Case, policy: str, first: str, second: str) -> Statement:
        """Under one policy, jobs of kind `first` have a lower response time than of `second`."""
        return self._compared(case, (policy, first), (policy, second), Below, ALL_LEVELS)

    def ratios(
        self, low: tuple[Case, str, str], high: tuple[Case, str, str], kind: str
    ) -> Statement:
        """By what factor the first policy is above the second: less in `low` than in `high`."""

        def at(number: int) -> Comparison:
            return Below(self._ratio(*low, kind, number), self._ratio(*high, kind, number))

        return Statement(kind, _places(at))

    def spreads(self, low: Case, high: Case, policies: Sequence[str]) -> Statement:
        """The policies differ less (largest over smallest response time) in `low` than `high`."""

        def executor(case: Case, number: int) -> Quantity:
            utilization = level(case, policies, number)
            runs = tuple(self._run(case, policy, utilization) for policy in policies)
            return Quantity(f"largest/smallest in {case} at {utilization:g}", runs, _executor)

        def at(number: int) -> Comparison:
            return Below(executor(low, number), executor(high, number))

        return Statement("total", _places(at))

    def cases(
        self, policy: str, low: Case, high: Case, utilizations: Sequence[float], kind: str
    ) -> Statement:
        """Under one policy, `low` has the lower response time at the same utilization."""

        def there(case: Case, utilization: float) -> Quantity:
            played = self._run(case, policy, utilization)
            return Quantity(f"{case} {kind}", (played,), METRICS[kind], kind == "total")

        places = [(f"at {u:g}", Below(there(low, u), there(high, u))) for u in utilizations]
        return Statement(policy, tuple(places))

    def _run(self, case: Case, policy: str, utilization: float) -> Run:
        return run(case, policy, utilization, self._scale.jobs, self._scale.seed)

    def _response(self, case: Case, policy: str, utilization: float, kind: str) -> Quantity:
        """The mean response time, in mean service times."""
        played = self._run(case, policy, utilization)
        return Quantity(f"{policy} {kind}", (played,), METRICS[kind], total=kind == "total")

    def _ratio(self, case: Case, first: str, second: str, kind: str, number: int) -> Quantity:
        utilization = level(case, (first, second), number)
        runs = tuple(self._run(case, policy, utilization) for policy in (first, second))
        return Quantity(f"{first}/{second} in {case} at {utilization:g}", runs, _RATIOS[kind])

    def _compared(
        self,
        case: Case,
        first: tuple[str, str],
        second: tuple[str, str],
        compare: Callable[[Quantity, Quantity], Comparison],
        levels: Sequence[int],
    ) -> Statement:
        """Compares the response times of two pairs of policy and kind, at some levels."""
        at = []
        for number in levels:
            u = level(case, (first[0], second[0]), number)
            a, b = (self._response(case, policy, u, kind) for policy, kind in (first, second))
            at.append((f"at {u:g}", compare(a, b)))
        return Statement(str(case), tuple(at))


def _places(at: Callable[[int], Comparison]) -> tuple[tuple[str, Comparison], ...]:
    """Comparisons of two cases, where neither is saturated."""
    return tuple(("", at(number)) for number in BELOW_SATURATION)


def claim(
    make: Callable[[Claims], Sequence[Statement]],
    reading: str = "",
    *,
    most: bool = False,
) -> Compared:
    """A claim of which `make` makes the statements."""
    return Compared(lambda scale: make(Claims(scale)), reading, most=most)


_RATIOS = {kind: ratio(metric, metric) for kind, metric in METRICS.items()}


def _executor(*outcomes: JobOutcome) -> float:
    times = [outcome.response for outcome in outcomes]
    return max(times) / min(times)
