"""Carries what components tell each other from one cluster's gates to those of the others.

What is carried when is decided in `broker.exchange`; the watchers tell what they have seen, and a
few threads of each cluster read and write. A cluster that hangs delays nobody but those who wait
for what is in it, and users take turns.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from metabroker.about import about
from metabroker.broker.exchange import Deliver, Exchange, Read
from metabroker.broker.tokens import Ref
from metabroker.clusters.gate.outbox import Malformed, checked
from metabroker.clusters.gated import letters_of
from metabroker.clusters.port import Cluster, ClusterRefusal, ComponentRecord, UnknownOutcome
from metabroker.store import StoreUnavailable

from .joined import Joined
from .requests import RequestBuilder

log = logging.getLogger(__name__)

_DOUBTS = (UnknownOutcome, ClusterRefusal, StoreUnavailable)


class Carries(Protocol):
    """What a carrier needs of a cluster's executor."""

    name: str

    @property
    def builder(self) -> RequestBuilder:
        """Where gates are."""

    def acting(self, ref: Ref) -> Cluster:
        """The cluster as the account of the component's job."""

    def in_turn(self, ref: Ref, work: Callable[[], None]) -> None:
        """Do it when it is the turn of the job's user. Raises RuntimeError: not any more."""


class Carrier:
    """Between all clusters of one broker's lead."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._exchange = Exchange(time.monotonic())
        self._clusters: dict[str, int] = {}
        self._executors: list[Carries] = []
        self._watched: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
        self._joined = Joined()
        self._alone: set[Ref] = set()  # that have nobody to tell what they put
        self._arrivals: dict[Ref, bytes] = {}
        self._complained: set[Ref] = set()

    def join(self, executor: Carries) -> None:
        """This cluster takes part; they join in their order."""
        self._clusters[executor.name] = len(self._executors)
        self._executors.append(executor)

    # --- what the watchers tell ---------------------------------------------------------------

    def watch(self, ref: Ref, joins: int = 0) -> None:
        """A component's records are looked at from now on. `joins`: the job that its own joins (0:
        none)."""
        with self._lock:
            self._watched[ref.job, ref.attempt].add(ref.component)
            self._joined.watch(ref, joins)

    def unwatch(self, ref: Ref) -> None:
        """They are not any more. With the last of its attempt it is over."""
        key = ref.job, ref.attempt
        with self._lock:
            self._arrivals.pop(ref, None)
            self._alone.discard(ref)
            left = self._watched.get(key)
            if left is None:
                return
            left.discard(ref.component)
            if not left:
                del self._watched[key]
                self._exchange.leave(ref)
                self._joined.unwatch(ref)
                self._complained = {each for each in self._complained if each[:2] != key}

    def arrival(self, ref: Ref) -> bytes:
        """What a component at the barrier has written down of its arrival, if that was seen."""
        return self._arrivals.get(ref, b"")

    def looked(self, records: Mapping[Ref, ComponentRecord]) -> bool:
        """What components' records say now. Whether there is something to be carried."""
        todo: list[Read] = []
        now = time.monotonic()
        for ref, record in records.items():
            if record.arrived and not record.begun and ref not in self._arrivals:
                with self._lock:
                    if ref.component in self._watched.get(ref[:2], ()):
                        self._arrivals[ref] = record.arrival
            if record.begun and self._joined and self._joined.concerns(ref):
                self._meet(ref, now)
            if record.outbox:
                todo += self._seen(ref, record.outbox, now)
            elif self._exchange.active and self._exchange.knows(ref):
                with self._lock:
                    todo += self._exchange.seen(ref, 0, now)
        for read in todo:
            self._begin(read.cluster, read.ref, lambda read=read: self._read(read), read)  # type: ignore[misc]
        return bool(todo)

    def _seen(self, ref: Ref, version: int, now: float) -> Sequence[Read]:
        try:
            if not self._enters(ref, now):
                return []
        except StoreUnavailable:
            return []  # the next look sees it again
        with self._lock:
            return self._exchange.seen(ref, version, now)

    def _meet(self, ref: Ref, now: float) -> None:
        """A component runs, whose job has joined another one, or has been joined: what is put there
        is carried between all of these that run."""
        try:
            if not self._enters(ref, now):
                return
        except StoreUnavailable:
            return  # the next look sees it again
        with self._lock:
            if ref[:2] in self._watched and self._exchange.knows(ref):
                for other in self._joined.runs(ref):
                    self._exchange.link(ref, other)

    def _enters(self, ref: Ref, now: float) -> bool:
        """Whether its job takes part: from now on, if others of it are watched, or have joined it.

        Raises:
            StoreUnavailable: where they run cannot be read.
        """
        if self._exchange.knows(ref):
            return True
        if ref in self._alone and not self._joined.concerns(ref):
            return False
        peers = self._executors[0].builder.peers(ref)
        several = len(peers) > 1
        numbers = range(len(peers)) if several else [ref.component]
        clusters = {
            n: self._clusters.get(p.cluster, -1) for n, p in zip(numbers, peers, strict=False)
        }
        with self._lock:
            if clusters and not several and not self._joined.concerns(ref):
                self._alone.update({ref} if ref[:2] in self._watched else ())
                return False
            if not clusters or -1 in clusters.values():
                return False
            if (ref.job, ref.attempt) not in self._watched and not self._joined.joined_by(ref):
                return False
            if not self._exchange.knows(ref):
                self._exchange.enter(ref, clusters, now)
            return True

    def before_transfer(self, ref: Ref, cluster: int) -> None:
        """It has ended, and its results are about to be brought back, for which its gate may stay
        for hours: what it has put last is carried meanwhile."""
        if not self._others(ref):
            return
        try:
            record = self._record(ref, cluster)
        except _DOUBTS:
            return  # it is carried when its gate is removed, at the latest
        if record is not None:
            self.looked({ref: record})

    def last_words(self, ref: Ref, cluster: int) -> None:
        """Its gate is about to be removed: what it has put last is passed on before to those of its
        job, and of the job that it has joined, that are watched still.

        Raises:
            UnknownOutcome: that is not known yet.
            ClusterRefusal, StoreUnavailable: it cannot be read now.
        """
        if self._others(ref):
            self._pass_on(ref, cluster)
        with self._lock:
            self._joined.is_over(ref)
            self._exchange.is_over(ref)
            if ref[:2] not in self._watched:
                self._exchange.leave(ref)

    def _pass_on(self, ref: Ref, cluster: int) -> None:
        record = self._record(ref, cluster)
        if record is None or not record.outbox or not self._enters(ref, time.monotonic()):
            return
        with self._lock:
            for other in self._joined.joined_by(ref):
                self._exchange.link(ref, other, back=False)
            read = self._exchange.last_words(ref, record.outbox)
        if read is not None:
            self._read(read)
        others = self._others(ref)
        with self._lock:
            passed_on = self._exchange.is_passed_on(ref, others)
        if not passed_on:
            raise UnknownOutcome("what it has put last has not come to the other components yet")

    def _record(self, ref: Ref, cluster: int) -> ComponentRecord | None:
        executor = self._executors[cluster]
        gate = executor.builder.gate(ref)
        return None if gate is None else executor.acting(ref).look([gate]).get(gate)

    def _others(self, ref: Ref) -> set[Ref]:
        """Which other components of its attempt are watched, and of that which it has joined. Not
        of those that have joined it: for these nobody waits."""
        with self._lock:
            attempts = [ref, *self._joined.joined_by(ref)]
            found = {
                each._replace(component=n)
                for each in attempts
                for n in self._watched.get(each[:2], ())
            }
            return found - {ref}

    # --- in the threads of the clusters -------------------------------------------------------

    def _begin(self, cluster: int, ref: Ref, work: Callable[[], None], of: Read | Deliver) -> None:
        try:
            self._executors[cluster].in_turn(ref, work)
        except RuntimeError:  # the daemon ends, or has no thread now
            self._doubted(of)

    def _doubted(self, of: Read | Deliver) -> None:
        now = time.monotonic()
        with self._lock:
            if isinstance(of, Read):
                self._exchange.was_not_read(of, now)
            else:
                self._exchange.delivered(of, now, sure=False)

    def _read(self, read: Read) -> None:
        executor = self._executors[read.cluster]
        try:
            gate = executor.builder.gate(read.ref)
            content = None
            if gate is not None:
                content = letters_of(executor.acting(read.ref)).outbox(gate, read.version)
            carried = None if content is None else checked(content)
        except Malformed as wrong:
            self._refused(read, str(wrong))
            return
        except _DOUBTS:
            self._doubted(read)
            return
        except Exception:
            log.exception("%s: cannot read what %s has put", executor.name, read.ref)
            self._doubted(read)
            return
        with self._lock:
            todo = self._exchange.was_read(read, carried, time.monotonic())
        for one in todo:
            self._begin(one.cluster, one.to, lambda one=one: self._deliver(one), one)  # type: ignore[misc]

    def _refused(self, read: Read, why: str) -> None:
        with self._lock:
            self._exchange.is_refused(read, time.monotonic())
            new = read.ref not in self._complained
            self._complained.add(read.ref)
        if new:
            name = self._executors[read.cluster].name
            text = "%s: what %s has put for the other components is not carried: %s"
            log.info(text, name, read.ref, why, extra=about(read.ref, name))

    def _deliver(self, one: Deliver) -> None:
        executor = self._executors[one.cluster]
        try:
            gate = executor.builder.gate(one.to)
            there = gate is not None and letters_of(executor.acting(one.to)).deliver(
                gate, one.name, one.content
            )
        except _DOUBTS:
            self._doubted(one)
            return
        except Exception:
            log.exception("%s: cannot pass on what is for %s", executor.name, one.to)
            self._doubted(one)
            return
        with self._lock:
            if there:
                self._exchange.delivered(one, time.monotonic(), sure=True)
            else:
                self._exchange.is_gone(one)
