"""What goes wrong where several brokers share a store."""

from __future__ import annotations

import random
from collections.abc import Sequence

from .scenario import BROKERS, CRASHES, DATABASE_CLOCK, MEETS, RENEWED, SPAN, Fault


def with_broker_faults(rng: random.Random, faults: Sequence[Fault]) -> Sequence[Fault]:
    """What else goes wrong where several brokers share a store."""
    found = list(faults)
    for _ in range(rng.randint(1, 6)):
        at = round(rng.uniform(0, SPAN), 3)
        what = rng.choice(("stop", "stop", "cut", "handover", "crash"))
        if what == "crash":
            lasts = round(rng.uniform(0, 60), 3)
            found.append(Fault(at, "crash", "", lasts, rng.choice(CRASHES)))
            continue
        shortest, longest = BROKERS[what]
        lasts = round(rng.choice((rng.uniform(shortest, 15), rng.uniform(shortest, longest))), 3)
        how = ""
        if what == "stop":
            how = rng.choice(("slip", "slip", "slip", *CRASHES))
        elif what == "cut":
            how = rng.choice(("before", "after"))
        found.append(Fault(at, what, "", lasts, how))
    return found


def with_meetings(rng: random.Random, faults: Sequence[Fault]) -> Sequence[Fault]:
    """Brokers that are stopped at the worst moments, for longer than their lease."""
    found = list(faults)
    while rng.random() < 0.5:
        how, lasts = rng.choice((MEETS, MEETS, RENEWED)), round(rng.uniform(12, 120), 3)
        found.append(Fault(round(rng.uniform(0, SPAN), 3), "stop", "", lasts, how))
    return found


def with_clock_steps(rng: random.Random, faults: Sequence[Fault]) -> tuple[Fault, ...]:
    """The database's clock is set while several brokers lead by turns."""
    found = list(faults)
    while rng.random() < 0.5:
        step = round(rng.choice((rng.uniform(5, 120), -rng.uniform(5, 120), 3600.0)), 3)
        at = round(rng.uniform(0, SPAN), 3)
        found.append(Fault(at, DATABASE_CLOCK, "", 0.0, str(step)))
    return tuple(sorted(found, key=lambda fault: fault.at))
