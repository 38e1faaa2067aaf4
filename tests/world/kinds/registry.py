"""Which kinds of worlds there are, and which one a seed is of."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from tests.world.scenario import ROLLBACK, Scenario

Make = Callable[[random.Random, Scenario], Scenario]
KINDS: dict[str, Make] = {}
FOR_SEVERAL: set[str] = set()
"""Those of worlds in which brokers share a store; the others are of one broker."""
_SHARE = 1 / 16
APART: dict[str, float] = {}
"""Kinds that came later, and which share of the other worlds they have: so these stay what they
were."""


def special(seed: int, scenario: Scenario, kind: str) -> Scenario:
    """The scenario, if it is to be of this kind; "": of any, or most often of none."""
    rng = random.Random(f"{seed} kind")
    several = scenario.brokers > 1
    if not kind:
        back = any(fault.what == ROLLBACK for fault in scenario.faults)
        if back or not scenario.faults:
            return scenario
        if rng.random() < _SHARE:
            usual = [name for name in KINDS if name not in APART]
            kind = rng.choice([name for name in usual if (name in FOR_SEVERAL) is several])
        else:
            kind = next((n for n in APART if random.Random(f"{seed} {n}").random() < APART[n]), "")
            if not kind:
                return scenario
    else:  # a store goes back only in kinds that say so: users ask for little else there
        kept = tuple(fault for fault in scenario.faults if fault.what != ROLLBACK)
        scenario = replace(scenario, faults=kept)
    made = KINDS[kind](rng, scenario)
    return replace(made, faults=tuple(sorted(made.faults, key=lambda fault: fault.at)))


def kind(make: Make) -> Make:
    """A kind, by the name of its function."""
    KINDS[make.__name__.strip("_").replace("_", "-")] = make
    return make


def apart(make: Make) -> Make:
    """One that came later, for any number of brokers."""
    APART[make.__name__.strip("_").replace("_", "-")] = _SHARE / 4
    return kind(make)


def for_several(make: Make) -> Make:
    """One of brokers that share a store."""
    FOR_SEVERAL.add(make.__name__.strip("_").replace("_", "-"))
    return kind(make)
