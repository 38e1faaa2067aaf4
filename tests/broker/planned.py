"""Clusters that others keep full, under a broker on the bench that plans."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from metabroker.broker import tokens
from metabroker.broker.effects import Clean, Effect, Reserve
from metabroker.broker.events import Cleaned, Observed, Reserved, SubmitJob
from metabroker.broker.job import Job, NewJob
from metabroker.broker.observation import Coming, NativeReservation, Snapshot
from metabroker.policy import Request
from metabroker.policy.availability import Booked, Held, Wanted

from .bench import INSTANCE, START, Bench

DELFT, LEIDEN = 0, 1
_NAMES = ("delft", "leiden", "utrecht", "amsterdam")
FREE_AT = START + 600  # when what runs there is over


class Site:
    """Two full clusters of 32 processors, or more, in whose own queues others wait. `reserved`:
    those of ours that a poll shows, by token."""

    def __init__(self, clusters: int = 2, **settings: Any) -> None:
        self.bench = Bench(dict.fromkeys(_NAMES[:clusters], 32))
        given = {"plan_ahead": 86400.0, "line_depth": 0, **settings}
        self.bench.settings = replace(self.bench.settings, **given)
        self.bench.broker = self.bench._new()
        self.waiting = [8] * clusters
        self.busy = [32] * clusters
        self.held = {cluster: [Held(32, FREE_AT)] for cluster in range(clusters)}
        self.wanted: dict[int, list[Wanted]] = {c: [] for c in range(clusters)}
        self.reserved: dict[int, dict[str, NativeReservation]] = {c: {} for c in range(clusters)}
        self.coming: dict[int, list[Coming]] = {c: [] for c in range(clusters)}
        self.others: dict[int, list[Booked]] = {}  # if not as these are told
        self.kept = 0  # idle processors of each of these
        self.clock_awaited = False  # in all of them
        self.effects: list[Effect] = []
        self.look()

    @property
    def now(self) -> float:
        return self.bench.now

    def look(self) -> list[Effect]:
        return self.handle(
            *(
                Observed(
                    cluster,
                    Snapshot(
                        self.now,
                        32,
                        32,
                        self.busy[cluster],
                        ours=dict.fromkeys(self.reserved[cluster], self.kept),
                        reservations=self.reserved[cluster],
                        clock_awaited=self.clock_awaited,
                        coming=self.coming[cluster],
                        waiting=self.waiting[cluster],
                        held=self.held[cluster],
                        wanted=self.wanted[cluster],
                        reserved=self.others.get(cluster) or self._others(cluster),
                    ),
                )
                for cluster in range(len(self.busy))
            )
        )

    def _others(self, cluster: int) -> list[Booked]:
        return [
            Booked(each.processors, each.start, each.end)
            for each in self.coming[cluster]
            if tokens.parse(INSTANCE, each.name) is None
        ]

    def handle(self, *events: Any) -> list[Effect]:
        self.effects = self.bench.handle(*events).effects
        return self.effects

    def submit(self, *sizes: int, clusters: tuple[int, ...] | None = None, **more: Any) -> Job:
        number = self.bench.broker.next_job
        new = NewJob("ann", "job", Request(sizes or (8, 8), clusters), 600, **more)
        self.handle(SubmitJob(new))
        return self.job(number)

    def job(self, number: int) -> Job:
        return self.bench.broker.view.jobs[number]

    def reserve_all(self) -> list[Reserve]:
        """Every reservation that is asked for is made; what was asked for, in turn."""
        asked = []
        while found := [e for e in self.effects if isinstance(e, Reserve)]:
            (effect,) = found
            asked.append(effect)
            token = tokens.make(INSTANCE, effect.ref)
            end = (effect.start or self.now) + effect.seconds
            start = self.now if effect.start is None else effect.start
            made = NativeReservation(effect.processors, start, end)
            self.reserved[effect.cluster][token] = made
            self.handle(Reserved(effect.ref))
        return asked

    def planned(self, *sizes: int, clusters: tuple[int, ...] | None = None) -> Job:
        job = self.submit(*sizes, clusters=clusters)
        self.reserve_all()
        return job

    def pass_time(self, seconds: float) -> list[Effect]:
        """Polls come every five seconds; all that was asked for meanwhile."""
        found: list[Effect] = []
        until = self.now + seconds
        while self.now < until:
            step = min(5.0, until - self.now)
            found += [e for _, ready in self.bench.ticks(step) for e in ready.effects]
            found += self.look()
        self.effects = found
        return found

    def clean(self) -> None:
        """Whatever is to be cleaned up is."""
        for effect in [e for e in self.effects if isinstance(e, Clean)]:
            self.reserved[effect.cluster].pop(tokens.make(INSTANCE, effect.ref), None)
            self.handle(Cleaned(effect.ref))
