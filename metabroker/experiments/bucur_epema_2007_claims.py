"""The claims BT-01 to BT-22 (BE07 4) and CO-01 to CO-06 (BE07 5.3): about maximal utilizations.

"We assess the performance in terms of the point where the system saturates" (5.3): each maximal
utilization is found by bisection, on the same jobs for all systems that are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from .das import LIMITS, NOTES_LOG, NOTES_RUNTIMES, WORKLOADS, limit_of_measured, limit_of_traced
from .evidence import Below, Close, Compared, Comparison, Quantity, Statement
from .scale import Scale

ALIKE = 0.03
"""Maximal utilizations that differ by less than this part are "similar", "small" or "slight"."""
CLEARLY = 1.05
"""A maximal utilization at least this many times another one is "clearly", or "much", better."""
_LS, _LP = "LS-DO", "LP-GF"
_MULTI = ("GS", _LS, _LP)
_ALIKE = "similar, slightly, small: maximal utilizations within 3 %"
_CLEARLY = "clearly, much: the maximal utilization is at least 1.05 times the other one"


class ClaimLimits:
    """Maximal utilizations at a scale, and statements about them."""

    def __init__(self, scale: Scale) -> None:
        self._scale = scale

    def traced(
        self, policy: str, limit: int = 16, *, most: int = 128, balanced: bool = True
    ) -> Quantity:
        """That of a system of section 4."""
        search = limit_of_traced(policy, limit, self._scale, most=most, balanced=balanced)
        label = policy if policy == "SC" else f"{policy} limit {limit}"
        label += "" if most == 128 else f" DAS-s-{most}"
        return Quantity(label if balanced else f"{label} unbalanced", (search,), float)

    def drop(self, policy: str, limit: int) -> Quantity:
        """By how much unbalanced local queues lower it."""
        balanced, other = (self.traced(policy, limit, balanced=b) for b in (True, False))
        return _difference(f"loss of {policy} limit {limit} by unbalance", balanced, other)

    def gain(self, policy: str) -> Quantity:
        """By how much DAS-s-64 raises it."""
        small, full = self.traced(policy, most=64), self.traced(policy)
        return _difference(f"gain of {policy} by DAS-s-64", small, full)

    def measured(self, workload: str, rule: str, policy: str) -> Quantity:
        """That of a system of section 5; with [no], LP is LS."""
        played = _LS if (rule, policy) == ("no", _LP) else policy
        search = limit_of_measured(workload, rule, played, self._scale)
        return Quantity(f"{policy} [{rule}]", (search,), float)

    def lead(self, workload: str, rule: str) -> Quantity:
        """By how much that of LS is above that of LP."""
        ours, theirs = (self.measured(workload, rule, policy) for policy in (_LS, _LP))
        return _difference(f"lead of LS over LP [{rule}]", ours, theirs)


def _difference(label: str, first: Quantity, second: Quantity) -> Quantity:
    return Quantity(label, (*first.tasks, *second.tasks), lambda a, b: a - b)


def _say(comparison: Comparison, where: str = "maximal utilization") -> Statement:
    return Statement(where, (("", comparison),))


def _below(first: Quantity, second: Quantity, factor: float = 1.0) -> Statement:
    return _say(Below(first, second, factor))


def _clearly(low: Quantity, high: Quantity) -> Statement:
    """`high` is clearly above `low`."""
    return _say(Below(low, high, 1 / CLEARLY))


def _close(first: Quantity, second: Quantity) -> Statement:
    return _say(Close(first, second, ALIKE))


def _claim(
    make: Callable[[ClaimLimits], Sequence[Statement]],
    notes: tuple[str, ...],
    reading: str = "",
) -> Compared:
    def statements(scale: Scale) -> Sequence[Statement]:
        return make(ClaimLimits(scale))

    return Compared(statements, reading, searched=True, notes=notes)


# 4.1 Comparing the policies


def _traced(make: Callable[[ClaimLimits], Sequence[Statement]], reading: str = "") -> Compared:
    return _claim(make, NOTES_LOG[:2], reading)


def _unbalance(m: ClaimLimits) -> list[Statement]:
    return [_below(m.drop(_LP, limit), m.drop(_LS, limit)) for limit in LIMITS]


def _below_065(m: ClaimLimits) -> list[Statement]:
    single = m.traced("SC")
    return [_below(single, Quantity("0.65", single.tasks, lambda _: 0.65))]


_POLICIES: dict[str, Compared] = {
    "BT-01": _traced(
        lambda m: [
            _below(m.traced(other, limit), m.traced(_LS, limit))
            for limit in LIMITS
            for other in ("GS", _LP)
        ]
    ),
    "BT-02": _traced(
        lambda m: [
            _below(m.traced(_LP, limit, balanced=balanced), m.traced("GS", limit))
            for limit in LIMITS
            for balanced in (True, False)
        ]
    ),
    "BT-03": _traced(
        lambda m: [_below(m.traced("SC"), m.traced(_LS, 16), 1 + ALIKE)],
        "the maximal utilization of SC is below 1.03 times that of LS",
    ),
    "BT-04": _traced(lambda m: [_close(m.traced("GS", 32), m.traced(_LS, 32))], _ALIKE),
    "BT-05": _traced(_below_065),
    "BT-10": _traced(_unbalance),
    "BT-11": _traced(
        lambda m: [_below(m.drop(_LS, low), m.drop(_LS, high)) for low, high in pairwise(LIMITS)]
    ),
    "BT-12": _traced(lambda m: [_below(m.traced(_LS, 32, balanced=False), m.traced("GS", 32))]),
    "BT-13": _traced(
        lambda m: [_close(m.traced(_LS, 32, balanced=False), m.traced(_LP, 32, balanced=False))],
        _ALIKE,
    ),
}


# 4.2 Setting the job-component-size limit; 4.3 Limiting the total job size

_SIZES: dict[str, Compared] = {
    "BT-06": _traced(
        lambda m: [
            _below(m.traced(policy, 24), m.traced(policy, other))
            for policy in _MULTI
            for other in (16, 32)
        ]
    ),
    "BT-07": _traced(
        lambda m: [
            _below(m.traced("GS", 16), m.traced("GS", 32)),
            _close(m.traced("GS", 16), m.traced("GS", 32)),
        ],
        _ALIKE,
    ),
    "BT-08": _traced(lambda m: [_clearly(m.traced(_LS, 32), m.traced(_LS, 16))], _CLEARLY),
    "BT-09": _traced(
        lambda m: [
            _below(m.traced(_LP, 32), m.traced(_LP, 16)),
            _close(m.traced(_LP, 32), m.traced(_LP, 16)),
        ],
        _ALIKE,
    ),
    "BT-20": _traced(
        lambda m: [_below(m.traced(p), m.traced(p, most=64)) for p in (*_MULTI, "SC")],
    ),
    "BT-21": _traced(lambda m: [_below(m.gain(_LS), m.gain("SC"))]),
    "BT-22": _traced(lambda m: [_below(m.traced("GS", most=64), m.traced(_LP, most=64))]),
}


# 5.3 Evaluation (of the coallocation rules)


def _rules(make: Callable[[ClaimLimits, str], Sequence[Statement]], reading: str = "") -> Compared:
    """A claim that is to hold in each of the three workloads."""

    def statements(m: ClaimLimits) -> list[Statement]:
        return [
            Statement(f"{workload}: {said.label}", said.at)
            for workload in WORKLOADS
            for said in make(m, workload)
        ]

    return _claim(statements, NOTES_RUNTIMES, reading)


def _restricted(
    m: ClaimLimits, w: str, policies: Sequence[str], others: Sequence[str]
) -> list[Statement]:
    """[rco] and [fco] are clearly better than the `others`."""
    return [
        _clearly(m.measured(w, other, policy), m.measured(w, rule, policy))
        for policy in policies
        for rule in ("rco", "fco")
        for other in others
    ]


_RULES: dict[str, Compared] = {
    "CO-01": _rules(
        lambda m, w: [
            _below(m.measured(w, "co", policy), m.measured(w, rule, policy))
            for policy in _MULTI
            for rule in ("no", "rco", "fco")
        ]
    ),
    "CO-02": _rules(lambda m, w: _restricted(m, w, _MULTI, ("co",)), _CLEARLY),
    "CO-03": _rules(
        lambda m, w: [_close(m.measured(w, "fco", "GS"), m.measured(w, "no", "GS"))], _ALIKE
    ),
    "CO-04": _rules(lambda m, w: _restricted(m, w, (_LS, _LP), ("no", "co")), _CLEARLY),
    "CO-05": _rules(
        lambda m, w: [
            _clearly(m.measured(w, "rco", _LP), m.measured(w, "rco", _LS)),
            _below(m.lead(w, "fco"), m.lead(w, "rco")),
        ],
        _CLEARLY,
    ),
    "CO-06": _rules(
        lambda m, w: [_below(m.measured(w, "no", _LS), m.measured(w, "no", "GS"))],
    ),
}


# Why one of them may not hold here: told with it if it does not.

_LOG = (
    "the log of the DAS is not public: the stand-in has its moments and the fractions that the "
    "paper tells, but not which sizes fit beside each other"
)
_LAW = (
    "only mean and coefficient of variation of the service times are known; the maximal "
    "utilization falls as they vary more (SC: 0.74 if they are exponential, 0.63 at a cv of 2)"
)
_TABLE = (
    "the table of run times is lost; how much is gained by which rule depends on the numbers of "
    "jobs of each size and shape, which are stand-ins"
)
_DOUBTS: dict[str, str] = {
    **dict.fromkeys(_POLICIES, _LOG),
    **dict.fromkeys(_SIZES, _LOG),
    **dict.fromkeys(_RULES, _TABLE),
    "BT-03": _LAW,
    "BT-05": _LAW,
}

CLAIMS: dict[str, Compared] = {
    name: replace(check, doubt=_DOUBTS[name])
    for name, check in (_POLICIES | _SIZES | _RULES).items()
}
"""How each claim is decided, by its id."""
