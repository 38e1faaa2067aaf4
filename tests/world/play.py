"""Plays scenarios: one by one, and makes failing ones small."""

from __future__ import annotations

import contextlib
import signal
import traceback
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import delete, insert

from metabroker.store.tables import facts, metadata

from .generation import generate
from .mutations import planted
from .oracle import Violation
from .scenario import Scenario, Tally, smaller
from .stores import WorldStore
from .world import World

_LONGEST = 120.0  # seconds of the processor's time; most worlds take less than one


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a scenario went: `wrong` is empty, or what was found."""

    scenario: Scenario
    wrong: str
    story: list[str]


_store: WorldStore | None = None


def clean_store() -> WorldStore:
    """This process's store, empty (but for what every store has)."""
    global _store
    if _store is None:
        _store = WorldStore()
        _store.instance = "0123abcd"
    _store.written.clear()
    with _store._engine.begin() as connection:
        for table in metadata.sorted_tables:
            connection.execute(delete(table))
        connection.execute(insert(facts).values(name="instance", value=_store.instance))
    return _store


@contextlib.contextmanager
def not_for_ever() -> Iterator[None]:
    """What computes for so long does not end: no moment of the world comes any more."""

    def over(*_given: object) -> None:
        raise Violation(f"liveness: {_LONGEST:g} s of the processor's time, and it goes on")

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, _LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def play(scenario: Scenario, tally: Tally | None = None) -> Outcome:
    """Play a scenario; whatever goes wrong is in the outcome."""
    world = World(scenario, clean_store(), tally or Tally())
    wrong = ""
    with planted(scenario.mutation), not_for_ever():
        try:
            world.run()
        except Violation as violation:
            wrong = str(violation)
        except Exception:
            wrong = traceback.format_exc(limit=-6)
    return Outcome(scenario, wrong, world.story)


def play_seed(
    seed: int, tally: Tally | None = None, mutation: str = "", brokers: int = 1, kind: str = ""
) -> Outcome:
    """Play the world of a seed."""
    return play(generate(seed, mutation, brokers, kind), tally)


def shrink(outcome: Outcome, tries: int = 400) -> Outcome:
    """The smallest failing scenario that can be found by leaving things out."""
    kind = outcome.wrong.split(":")[0]
    better = True
    while better and tries > 0:
        better = False
        for scenario in smaller(outcome.scenario):
            tries -= 1
            found = play(scenario)
            if found.wrong and found.wrong.split(":")[0] == kind:
                outcome, better = found, True
                break
            if tries <= 0:
                break
    return outcome
