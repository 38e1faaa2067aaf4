"""What components of the worlds tell each other, and what they may expect of it.

Each component of several puts something once its script has started, and more later. What another
has of it is always something that it has put: of this attempt, and whole. And in quiet times it is
the newest, a moment after.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from metabroker.broker import tokens
from metabroker.broker.tokens import Ref

from .oracle import Violation
from .scenario import JobPlan

if TYPE_CHECKING:
    from .world import World

_SLACK = 30.0  # seconds in which the broker must carry what was put
_AGAIN = 150.0
"""The same after something was wrong: what has failed often is tried again after a minute, and that
letter may be lost once. So it is with what is put meanwhile."""


def quiet(world: World) -> float:
    """Since when a broker that is alone has been able to act, and nothing was wrong with any
    cluster or its files."""
    life, host = world.life, world.hosts[0]
    if life is None or not host.alone or world.back.happened:
        return math.inf
    troubles = [until for cluster in world.clusters for until in cluster.until.values()]
    troubles += [cluster.accounts.troubled_until for cluster in world.clusters]
    troubles += [life.able_since, world._store_until, host.process.stopped_until]
    return max(troubles)


def letter(token: str, version: int) -> bytes:
    """What a component puts."""
    return f":told\n {token}\n {version}\n".encode()


def moments(token: str, seconds: float) -> list[float]:
    """When a component puts something, in seconds after the start of its script, which runs for so
    many: often just before its end, too."""
    rng = random.Random(f"{token} puts")
    found = [0.1, *(rng.uniform(0.1, 30.0) for _ in range(rng.randint(0, 3)))]
    if rng.random() < 0.5:
        found.append(max(0.1, seconds - rng.uniform(0.01, 1.0)))
    return sorted(found)


def with_letters(rng: random.Random, jobs: tuple[JobPlan, ...]) -> tuple[JobPlan, ...]:
    """Components of some jobs end long after others: they are to have what these put last."""
    found = []
    for job in jobs:
        apart = round(rng.uniform(35, 60), 3) if rng.random() < 0.3 else 0.0
        several = len(job.sizes) > 1 and not job.array and job.limit > 300
        found.append(replace(job, apart=apart) if several else job)
    return tuple(found)


class Post:
    """What becomes of a letter on its way to a component: it gets lost at times, and so does the
    answer that it has come; but never twice, one after the other. That is no trouble."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._lost: set[str] = set()

    def fate(self, path: str) -> str:
        """Of what is written there."""
        if path in self._lost:
            self._lost.discard(path)
        elif self._rng.random() < 0.25:
            self._lost.add(path)
            return self._rng.choice(("request", "reply"))
        return "well"


@dataclass(slots=True)
class Letters:
    """All that was put. `quiet`: since when nothing has been wrong; `running`: whose scripts do."""

    instance: str
    quiet: Callable[[], float]
    running: Container[Ref] = ()
    put: dict[Ref, list[tuple[int, float]]] = field(default_factory=dict)
    tokens: dict[Ref, str] = field(default_factory=dict)
    carried: int = 0

    def puts(self, token: str, version: int, now: float) -> None:
        """A component has put its letter of this version."""
        ref = self._ref(token)
        self.tokens[ref] = token
        self.put.setdefault(ref, []).append((version, now))

    def has(self, token: str, inboxes: Mapping[int, bytes | None], now: float) -> None:
        """What a component has of the others, at the end of its script.

        Raises:
            Violation: it is not what they have put.
        """
        own = self._ref(token)
        for component, content in inboxes.items():
            other = own._replace(component=component)
            told = self.put.get(other, [])
            versions = [version for version, _ in told]
            if content is not None:
                self.carried += 1
                right = [v for v in versions if letter(self.tokens[other], v) == content]
                if not right:
                    raise Violation(f"exchange: {own} has of {other} what that never put")
            since = self.quiet()
            due = [version for version, at in told if max(at + _SLACK, since + _AGAIN) < now]
            if due and (content is None or right[-1] < due[-1]):
                raise Violation(f"exchange: {own} has not got what {other} has put long ago")

    def of_others(
        self,
        token: str,
        inboxes: Mapping[tuple[int, int], bytes],
        joined: int,
        began: float,
        now: float,
    ) -> None:
        """What a component has of other jobs, at the end of its script, by job and component.
        `joined`: which its own has joined, if any: what that one has put long ago is there, if its
        script runs on; since then, or since this one `began`.

        Raises:
            Violation: not so, or it is not what they have put.
        """
        own = self._ref(token)
        for (job, component), content in inboxes.items():
            self.carried += 1
            put = [ref for ref in self.put if ref.job == job]
            own_number = [ref for ref in put if ref.component == component]
            if own_number or component:  # else it was one of several siblings
                put = own_number
            right = [letter(self.tokens[ref], v) for ref in put for v, _ in self.put[ref]]
            if content not in right:
                raise Violation(f"exchange: {own} has of {job}.{component} what that never put")
        since = self.quiet()
        for ref, told in self.put.items():
            if ref.job != joined or ref not in self.running:
                continue
            first = max(told[0][1], began)
            bound = max(first + _SLACK, since + _AGAIN)
            if bound < now and not any(job == joined for job, _ in inboxes):
                raise Violation(f"exchange: {own} has got nothing of job {joined}, which it joined")

    def _ref(self, token: str) -> Ref:
        ref = tokens.parse(self.instance, token)
        assert ref is not None
        return ref
