"""A store that goes back by itself: the file of some time before is put in its place while no
broker runs; or under brokers that run, as where a database is promoted that was behind. They notice
or not; when one does, its operator says after a while what the store is.

Then no script that runs is ended, no token is given twice, nothing begins twice (the oracle's
rules), and in the end all ends. What nobody can know is not asked for: who is told that a job was
accepted, and nothing of it was in a cluster yet, is told the same number as somebody later.
"""

from __future__ import annotations

import random
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from metabroker.broker import tokens
from metabroker.broker.outbox import Mishap
from metabroker.broker.store_behind import StoreBehind
from metabroker.broker.tokens import Ref
from metabroker.maintenance.restore import RestoreOptions, _settle
from metabroker.runtime.requests import RequestBuilder

from .oracle import Violation
from .scenario import PROMOTED, Fault
from .stores import WorldStore
from .written import rows_with_all_attempts

if TYPE_CHECKING:
    from .cluster import WorldCluster
    from .world import World

_EVERY = 5.0  # seconds between two looks of the operator's at the broker
_OPERATOR = (10.0, 120.0)  # seconds that the operator needs


class RolledBack:
    """What was kept, what was lost, and the operator."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.last_job = 0  # that is remembered
        self.happened = False
        self._said = False  # by the operator, since the store went back last
        self._kept: bytes | None = None
        self._time = 0.0
        self._lost: WorldStore | None = None
        self._rng = random.Random(f"{world.scenario.seed} operator")

    def fault(self, fault: Fault) -> None:
        """See `scenario.ROLLBACK`."""
        if fault.how == "copied":
            self._copy()
        elif self._kept is not None:
            self._go_back(fault)

    def _copy(self) -> None:
        self._kept = bytes(_connection(self.world.store).serialize())
        self._time = self.world.now
        self.last_job = max((row["id"] for row in self.world.store.jobs.rows()), default=0)

    def _go_back(self, fault: Fault) -> None:
        """The copy is put in the store's place; the broker is started again, or all run on."""
        world, host = self.world, self.world.hosts[0]
        world.tell("the store goes back")
        world.tally.add(f"fault rollback {fault.how}")
        self.happened, self._said = True, False
        stops = fault.how != PROMOTED
        if stops:
            host.end()
        self._lost = WorldStore()
        _connection(self._lost).deserialize(bytes(_connection(world.store).serialize()))
        self._put_back()
        for cluster in world.clusters:
            cluster.guard = self._guard
        world.oracle.overtaken.clear()
        if stops:
            world.at(world.now + fault.lasts, host.begin)
        world.at(world.now + fault.lasts + _EVERY, self._look)

    def _put_back(self) -> None:
        for store in (self.world.store, *(host.store for host in self.world.hosts)):
            if store._writer is not None:
                store._writer.close()
                store._writer = None
        _connection(self.world.store).deserialize(self._kept)

    def mishap(self, mishap: Mishap) -> None:
        """The broker could not handle something: here that must not be, but for this."""
        if not (self.happened and isinstance(mishap.error, StoreBehind)):
            raise mishap.error

    def store_of(self, ref: Ref) -> WorldStore:
        """The store that knows the component: the lost one, if it was begun in the lost time."""
        if self._lost is None:
            return self.world.store
        rows = self.world.store.jobs.attempt(ref.job, ref.attempt)
        known = any((r["component"], r["term"]) == (ref.component, ref.term) for r in rows)
        return self.world.store if known else self._lost

    def knows(self, name: str, cluster: str) -> bool:
        """Whether the broker can know of what is in a cluster: of jobs, reservations and folders
        by their tokens. (One number may have been given twice, and gone elsewhere since; or to the
        same cluster again, with a gate of another name.)"""
        if self._lost is None:
            return True
        gates = self._gates(self._lost, cluster) - self._gates(self.world.store, cluster)
        if PurePosixPath(name).name in gates:
            return False
        mine = self._tokens(self.world.store, cluster)
        lost = self._tokens(self._lost, cluster) - mine
        return not any(token in name for token in lost)

    def _gates(self, store: WorldStore, cluster: str) -> set[str]:
        """The names of their gates."""
        builder = RequestBuilder(store, self.world.settings, cluster)
        refs = [_ref(row, part) for row, part in _parts(store) if part["cluster"] == cluster]
        return {PurePosixPath(builder.gate(ref) or "").name for ref in refs}

    def _tokens(self, store: WorldStore, cluster: str) -> set[str]:
        """Those of the store's components in a cluster."""
        instance = self.world.store.instance
        here = [(row, part) for row, part in _parts(store) if part["cluster"] == cluster]
        return {_token(instance, row, part) for row, part in here}

    @property
    def behind(self) -> bool:
        """Whether a broker has noticed, and decides nothing."""
        lives = (host.life for host in self.world.hosts)
        return any(life is not None and life.engine.broker.view.behind for life in lives)

    def given(self, index: int, number: int) -> None:
        """Who has submitted this plan is told that the job has this number."""
        if not self.happened or index in self.world.users.acknowledged:
            return
        if number not in self.world.users.acknowledged.values():
            return
        names = [job.name for c in self.world.clusters for job in c.model.jobs.values()]
        refs = [tokens.parse(self.world.store.instance, name) for name in names]
        if any(ref is not None and ref.job == number for ref in refs):
            raise Violation(f"a store of old: the number {number} is given again")

    def _look(self) -> None:
        if self.behind and self._said:
            raise Violation("a store of old: its operator has said so, and it is behind again")
        if self.behind:
            self.world.tally.add("store found behind")
            self.world.at(self.world.now + self._rng.uniform(*_OPERATOR), self._settle)
        else:
            self.world.at(self.world.now + _EVERY, self._look)

    def _settle(self) -> None:
        """All brokers are ended; `metabroker restore --in-place`, and a new start."""
        world = self.world
        world.tell("the operator says that the store is an older one")
        self._said = True
        for host in world.hosts:
            host.end()
        _settle(world.store, self._time, RestoreOptions(gap=1000), world.now)
        for host in world.hosts:
            world.at(world.now + 1.0, host.begin)
        world.at(world.now + _EVERY, self._look)

    def _guard(self, cluster: WorldCluster, ended: set[int]) -> None:
        """A command was carried out by which these native jobs are ended."""
        for number in ended:
            ref = tokens.parse(self.world.store.instance, cluster.model.jobs[number].name)
            if ref in self.world.oracle.running:
                raise Violation(f"a store of old: the running {ref} is cancelled")


def _connection(store: WorldStore) -> Any:
    return store._engine.raw_connection().driver_connection


def _parts(store: WorldStore) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    rows = rows_with_all_attempts(store)
    return [(row, part) for row in rows for part in row["components"]]


def _ref(row: dict[str, Any], part: dict[str, Any]) -> Ref:
    return Ref(row["id"], part["attempt"], part["component"], part["term"])


def _token(instance: str, row: dict[str, Any], part: dict[str, Any]) -> str:
    return tokens.make(instance, _ref(row, part))
