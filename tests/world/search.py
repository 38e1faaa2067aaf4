"""`make storm-search`: worlds that are made from worlds, towards what was seldom reached.

    python -m tests.world.search --seconds 1800 [--seed 1] [--processes 2]

A seed draws its world blindly, so what needs three things in one moment comes once in ten thousand
worlds. Here a world that has led the core into something new is kept, and changed a little: faults
and users' actions are put beside the moments at which something happened in it, others are added,
left out, or taken from another world. What is new is told by what each event met: the state of its
job, and the phase, the step and the cause of its component.

Exit code 1 if a promise was broken; each such scenario is written to a file, made small.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from metabroker.broker.core import Broker
from metabroker.broker.events import Event, Observed
from metabroker.broker.tokens import Ref, parse

from .generation import generate
from .play import Outcome, play, shrink
from .scenario import (
    BESIDE_ROLLBACK,
    BROKERS,
    CRASHES,
    LATE,
    LIE,
    MOMENTS,
    RENAME,
    ROLLBACK,
    SPAN,
    STORE,
    TROUBLE,
    WINDOWS,
    Fault,
    JobPlan,
    Scenario,
)
from .storm import ALL, _prepared

_FRESH = 0.25  # of the worlds are drawn by a seed
_LARGEST = 24  # jobs and faults of a world that is made from others
_MOMENT = re.compile(r"^ *([0-9]+\.[0-9]+) (?!fault)", re.MULTILINE)
_ACTIONS = ("cancel", "cancel", "hold", "release")
Met = tuple[Any, ...]


@contextlib.contextmanager
def noticed(met: set[Met]) -> Iterator[None]:
    """Write down what each event meets that a core handles."""
    handle = Broker.handle

    def handled(self: Broker, event: Event, now: float) -> None:
        met.update(_met(self, event))
        handle(self, event, now)

    Broker.handle = handled  # type: ignore[method-assign]
    try:
        yield
    finally:
        Broker.handle = handle  # type: ignore[method-assign]


def _met(broker: Broker, event: Event) -> Iterator[Met]:
    kind = type(event).__name__
    if isinstance(event, Observed):
        seen = event.snapshot
        for token, native in seen.jobs.items():
            ref = parse(broker.settings.instance, token)
            if ref is not None:
                how = native.state, native.cause, native.exit_code, native.suspended, native.stuck
                yield kind, *how, *_of(broker, ref)
        for token in seen.reservations:
            ref = parse(broker.settings.instance, token)
            if ref is not None:
                yield "reserved", *_of(broker, ref)
        return
    what = [getattr(event, name) for name in ("step", "cause") if hasattr(event, name)]
    what += [bool(getattr(event, n)) for n in ("shut", "doubtful", "fenced") if hasattr(event, n)]
    ref = getattr(event, "ref", None)
    if isinstance(ref, Ref):
        yield kind, *what, *_of(broker, ref)
        return
    job = broker.view.jobs.get(getattr(event, "job", 0))
    yield kind, *what, *(() if job is None else (job.state, job.goal, len(job.components)))


def _of(broker: Broker, ref: Ref) -> Met:
    """What is known of a component."""
    component = broker._saga.claims.known.get(ref)
    job = broker.view.jobs.get(ref.job)
    life = () if job is None else (job.state, job.goal, job.attempt == ref.attempt, job.single)
    if component is None:
        return life
    flags = component.started, component.sibling, component.ahead, component.tries > 0
    return (*life, component.phase, component.step, component.cause, *flags)


@dataclass(slots=True)
class Kept:
    """A world, and the moments at which something happened in it."""

    scenario: Scenario
    moments: list[float]


@dataclass
class Search:
    """What was met so far, how often, and a world (the smallest) that leads there."""

    rng: random.Random
    hits: Counter[Met] = field(default_factory=Counter)
    kept: dict[Met, Kept] = field(default_factory=dict)
    played: int = 0

    def next(self) -> Scenario:
        """The next world to play."""
        if not self.kept or self.rng.random() < _FRESH:
            seed = self.rng.randrange(1 << 40)
            return generate(seed, "", self.rng.choice(ALL))
        keys = list(self.kept)
        weights = [1.0 / self.hits[key] for key in keys]
        chosen, other = self.rng.choices(keys, weights, k=2)
        return changed(self.rng, self.kept[chosen], self.kept[other].scenario)

    def learn(self, outcome: Outcome, met: set[Met]) -> int:
        """Keep what it has reached; how much of that is new."""
        self.played += 1
        moments = [float(told) for told in _MOMENT.findall("\n".join(outcome.story))]
        world = Kept(outcome.scenario, [m for m in moments if m < 2 * SPAN] or [0.0])
        fresh = 0
        for key in met:
            self.hits[key] += 1
            before = self.kept.get(key)
            fresh += before is None
            if before is None or _size(world.scenario) < _size(before.scenario):
                self.kept[key] = world
        return fresh


def _size(scenario: Scenario) -> int:
    return len(scenario.jobs) + len(scenario.faults)


def changed(rng: random.Random, kept: Kept, other: Scenario) -> Scenario:
    """The world, with a few things otherwise. `other`: one to take faults from."""
    scenario = kept.scenario
    back = any(fault.what == ROLLBACK for fault in scenario.faults)
    for _ in range(rng.choice((1, 2, 2, 3, 4))):
        at = _beside(rng, kept.moments)
        what = rng.random()
        if what < 0.3 and not back:
            faults = (*scenario.faults, *_more(rng, scenario, at, other))
            scenario = replace(scenario, faults=faults)
        elif what < 0.55:
            scenario = _moved(rng, scenario, at)
        elif what < 0.75 and not back:
            scenario = _otherwise(rng, scenario, at)
        elif what < 0.9 or _size(scenario) > _LARGEST:
            scenario = _less(rng, scenario)
        else:
            scenario = replace(scenario, seed=rng.randrange(1 << 40))
    return replace(scenario, faults=tuple(sorted(scenario.faults, key=lambda fault: fault.at)))


def _beside(rng: random.Random, moments: list[float]) -> float:
    apart = rng.choice((0.3, 0.3, 2.0, 10.0))
    return round(max(0.0, rng.choice(moments) + rng.uniform(-apart, apart)), 3)


def _more(rng: random.Random, scenario: Scenario, at: float, other: Scenario) -> tuple[Fault, ...]:
    """Another fault at that time."""
    where = rng.choice(scenario.clusters).name
    drawn = rng.random()
    if drawn < 0.4:
        what = rng.choice(tuple(WINDOWS))
        shortest, longest = WINDOWS[what]
        return (Fault(at, what, where, round(rng.uniform(shortest, longest), 3)),)
    if drawn < 0.5:
        return (Fault(at, rng.choice((LATE, LATE, LIE)), where, 60.0),)
    if drawn < 0.6:
        moment = rng.choice([what for what in (*MOMENTS, RENAME) if what != "crash"])
        return (Fault(at, moment, where),)
    if drawn < 0.7:
        lasts = round(rng.uniform(*STORE[TROUBLE]), 3)
        return (Fault(at, TROUBLE, "", lasts, rng.choice(("", *CRASHES[3:]))),)
    if drawn < 0.8 and scenario.brokers > 1:
        broker = rng.choice(tuple(BROKERS))
        how = {"stop": "slip", "cut": "after"}.get(broker, "")
        return (Fault(at, broker, "", round(rng.uniform(1, 40), 3), how),)
    names = {cluster.name for cluster in scenario.clusters}
    usual = {*WINDOWS, *MOMENTS, RENAME, LATE, LIE}
    found = [f for f in other.faults if f.what in usual and f.where in names]
    if drawn < 0.85 and found:
        return (replace(rng.choice(found), at=at),)
    then = rng.choice(("", "", "down", "frozen", "files"))
    lasts = round(rng.choice((rng.uniform(0, 10), rng.uniform(0, 90))), 3)
    return (Fault(at, "crash", where if then else "", lasts, rng.choice(CRASHES), then),)


def _moved(rng: random.Random, scenario: Scenario, at: float) -> Scenario:
    """A fault, or a user's action, at another time."""
    movable = [f for f in scenario.faults if f.what != ROLLBACK]
    if any(f.what == ROLLBACK for f in scenario.faults):
        movable = [f for f in movable if f.what in BESIDE_ROLLBACK]
    elif rng.random() < 0.3:
        return _asked(rng, scenario, at)
    if not movable:
        return scenario
    fault = rng.choice(movable)
    lasts = round(fault.lasts * rng.choice((1.0, 1.0, rng.uniform(0.2, 2))), 3)
    faults = tuple(f for f in scenario.faults if f is not fault)
    return replace(scenario, faults=(*faults, replace(fault, at=at, lasts=lasts)))


def _asked(rng: random.Random, scenario: Scenario, at: float) -> Scenario:
    """A user wants something of a job then."""
    index = rng.randrange(len(scenario.jobs))
    job = scenario.jobs[index]
    kept = [action for action in job.actions if rng.random() < 0.7]
    if at > job.at:
        kept.append((round(at - job.at, 3), rng.choice(_ACTIONS)))
    return _with_job(scenario, index, replace(job, actions=tuple(sorted(kept))))


def _otherwise(rng: random.Random, scenario: Scenario, at: float) -> Scenario:
    """A job that comes at another time, or does something else."""
    index = rng.randrange(len(scenario.jobs))
    job = scenario.jobs[index]
    bound = (
        job.after
        or job.joins >= 0
        or any(
            other.joins == index or any(number == index for _, number in other.after)
            for other in scenario.jobs
        )
    )
    changes: list[JobPlan] = [
        replace(job, exits=(rng.choice((0, 0, 1, 7)),)),
        replace(job, traps=not job.traps),
        replace(job, sends=not job.sends),
        replace(job, fetches=not job.fetches),
        replace(job, run_time=round(rng.choice((1.0, rng.uniform(0, 60))), 3)),
        replace(job, limit=rng.choice((60, 600))),
    ]
    if not bound:
        changes.append(replace(job, at=min(at, SPAN)))
    return _with_job(scenario, index, rng.choice(changes))


def _with_job(scenario: Scenario, index: int, job: JobPlan) -> Scenario:
    jobs = (*scenario.jobs[:index], job, *scenario.jobs[index + 1 :])
    return replace(scenario, jobs=jobs)


def _less(rng: random.Random, scenario: Scenario) -> Scenario:
    """Without some of its faults."""
    kept = tuple(f for f in scenario.faults if f.what == ROLLBACK or rng.random() < 0.8)
    return replace(scenario, faults=kept)


def _work(given: tuple[int, float, Path]) -> tuple[int, int, list[str]]:
    """Search for so many seconds; how much was played and met, and what was found wrong."""
    seed, seconds, folder = given
    search, wrong = Search(random.Random(seed)), list[str]()
    end, told = time.monotonic() + seconds, time.monotonic()
    while time.monotonic() < end:
        scenario, met = search.next(), set[Met]()
        with noticed(met):
            outcome = play(scenario)
        search.learn(outcome, met)
        if outcome.wrong:
            wrong.append(_keep(outcome, folder, f"search-{seed}-{search.played}"))
        if time.monotonic() > told + 60:
            told = time.monotonic()
            text = f"{search.played} worlds, {len(search.kept)} met, {len(wrong)} violations"
            print(f"search {seed}: {text}", file=sys.stderr, flush=True)
    return search.played, len(search.kept), wrong


def _keep(outcome: Outcome, folder: Path, name: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}-whole.json").write_text(outcome.scenario.to_json())
    small = shrink(outcome, tries=150)
    (folder / f"{name}.json").write_text(small.scenario.to_json())
    last = small.wrong.strip().splitlines()[-1]
    print(f"{name}: {last}", file=sys.stderr, flush=True)
    return f"{name}: {last}"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.world.search")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    folder = Path("storm-failures")
    tasks = [(given.seed + i, given.seconds, folder) for i in range(given.processes)]
    with multiprocessing.Pool(given.processes, _prepared) as pool:
        done = pool.map(_work, tasks)
    wrong = [line for _, _, lines in done for line in lines]
    print(f"{sum(d[0] for d in done)} worlds, {max(d[1] for d in done)} met, {len(wrong)} wrong")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
