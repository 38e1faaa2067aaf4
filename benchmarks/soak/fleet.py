"""Whose daemons are soaked: one broker with a store of its own, or several that share a database,
each by a way there that can be cut."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.daemon.brokers import Broker
from tests.daemon.harness import Site
from tests.testbed.clock import Clock
from tests.testbed.clock import install as install_clock
from tests.testbed.postgres import Postgres
from tests.testbed.postgres import install as install_postgres
from tests.testbed.proxy import Proxy

from .faults import CLOCK, Faults
from .kind import Everywhere
from .leading import Moment
from .verdict import EndedById

LEASE = 4.0  # seconds: brokers are stopped, and cut off, for less than that and for more
_OF_DATABASES = ("database killed", "database ended", CLOCK, "way cut", "way silent")
_TIMED = ["--log-format", "json"]  # each line has its time
_OF_JOBS = "scontrol show hostnames "  # which each job runs by itself, by the path of its broker


@dataclass
class Database:
    """What brokers share, and the way of each to it."""

    server: Postgres
    ways: list[Proxy]

    def faults(self, faults: Faults, draw: random.Random) -> None:
        """Until they are stopped; then all is well, but for a clock that was stepped (seconds to a
        day and a half, forwards or backwards), which stays so until it is stepped again."""
        while faults.pause(draw.expovariate(1 / (2 * faults.pace))):
            what = draw.choice(_OF_DATABASES)
            seconds = draw.uniform(0.1, faults.longest)
            with faults.told(what, "database"):
                if what == CLOCK:
                    self._clock.step(draw.choice((-1, 1)) * 10 ** draw.uniform(0, 5))
                elif what.startswith("database"):
                    self._restart(faults, what, seconds)
                else:
                    self._cut(faults, draw.choice(self.ways), what, seconds)

    @property
    def _clock(self) -> Clock:
        assert self.server.clock is not None
        return self.server.clock

    def _restart(self, faults: Faults, what: str, seconds: float) -> None:
        if what == "database killed":
            self.server.kill()
        else:
            self.server.stop()
        faults.pause(seconds)
        self.server.start()

    def _cut(self, faults: Faults, way: Proxy, what: str, seconds: float) -> None:
        if what == "way silent":
            way.silence()
        else:
            way.refuse()
            way.cut()
        faults.pause(seconds)
        way.heal()
        way.cut()


@dataclass
class House:
    """The brokers, in order; `database` where they share one."""

    sites: Sequence[Site]
    database: Database | None = None
    brokers: list[Broker] = field(default_factory=list)

    def ended_by_id(self) -> list[EndedById]:
        """Native jobs that the brokers have ended by their ids alone."""
        every = [ran for broker in self.brokers for ran in broker.ran()]
        ended = [(ran, ran.words.split()[-1]) for ran in every if ran.words.startswith("scancel ")]
        return [EndedById(ran.cluster, last, ran.time) for ran, last in ended if last.isdigit()]

    @property
    def names(self) -> list[str]:
        """What faults of each are told of."""
        if self.database is None:
            return ["daemon"]
        return [f"broker {number}" for number in range(1, len(self.sites) + 1)]

    def excused(self, site: Site) -> bool:
        """Whether its daemon has ended since it could not reach the database when it was started:
        its operator starts it again."""
        if self.database is None or site.process is None or site.process.poll() != 1:
            return False
        return "cannot serve: store" in "".join(site.log.read_text().splitlines(True)[-3:])

    def begun(self) -> list[Moment]:
        """When which broker has begun a command."""
        return [
            Moment(ran.time, name)
            for name, broker in zip(self.names, self.brokers, strict=True)
            for ran in broker.ran()
            if not ran.words.startswith(_OF_JOBS)
        ]


@contextmanager
def house(
    folder: Path, kind: Everywhere, brokers: int, settings: Mapping[str, Any]
) -> Iterator[House]:
    """So many brokers over the clusters; nothing of them runs afterwards."""
    with ExitStack() as stack:
        if brokers == 1:
            site = Site(folder, kind, settings)
            site.words = _TIMED
            stack.callback(site.close)
            yield House([site])
            return
        server = stack.enter_context(closing(Postgres(install_postgres(), install_clock())))
        server.start()
        name = server.database()
        (folder / "work").mkdir()
        found, ways = [], []
        for number in range(1, brokers + 1):
            ways.append(stack.enter_context(closing(Proxy(server.port))))
            broker = Broker(folder, f"b{number}", kind, server.url(name, ways[-1].port))
            broker.words, broker.notes_steps = _TIMED, False
            broker.configure({**settings, "lease": f"{LEASE:g}s"})
            stack.callback(broker.close)
            found.append(broker)
        yield House(found, Database(server, ways), found)
