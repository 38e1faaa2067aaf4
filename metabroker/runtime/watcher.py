"""Looks at what components write down: arrival, start and end, seen within a moment.

Only components that are under way are looked at, and the cluster's own commands are not needed
for it. Quick while somebody is on the way to a barrier, slower otherwise.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from metabroker.about import about
from metabroker.broker.events import Event
from metabroker.broker.tokens import Ref
from metabroker.clusters.port import Cluster, ClusterRefusal, UnknownOutcome
from metabroker.store import StoreUnavailable

from .carrier import Carrier
from .records import Records
from .requests import RequestBuilder

log = logging.getLogger(__name__)

_AFTER_ERROR = 2.0
_GLANCED_AT = 8  # components at a time
_SHORT = 0.5  # seconds of a pause, soon after something was new


@dataclass(frozen=True, slots=True)
class WatchInterval:
    """Seconds between two looks: `quick` while a component is on its way to its start, else
    `slow`. With `growth` above 1 the pause grows from `quick` to `slow` while nothing changes, and
    is twice as long as a look takes, up to `longer`; then a look may come before its end, where a
    glance shows that there is something new."""

    quick: float
    slow: float
    growth: float = 1.0
    longer: float = 0.0

    def after(self, pause: float, took: float, *, news: bool, on_its_way: bool) -> float:
        """The next pause, after one of `pause` and a look that `took` so long (all in seconds)."""
        if self.growth == 1.0:
            return self.quick if on_its_way else self.slow
        least = max(self.quick, min(self.longer, 2 * took))
        return least if news else min(self.slow, max(least, pause) * self.growth)

    def glance(self, pause: float) -> float:
        """Seconds between two glances in a pause; 0: there are none. Jobs may wait for hours: then
        they cost next to nothing."""
        if self.growth == 1.0:
            return 0.0
        return max(self.quick, pause / (8 if pause <= _SHORT else 2))


NEAR = WatchInterval(0.03, 0.1)
FAR = WatchInterval(0.03, 2.0, growth=1.05, longer=0.08)
"""Each look is a command on a login host that others use too: a third of the time at most where
looks are short, and ever less often while nothing changes."""


def as_account(cluster: Cluster, account: str | None) -> Cluster:
    """The cluster for jobs of that account; None: of the broker's own."""
    return cluster if account is None else cluster.acting_for(account)


class Watchers:
    """One cluster's watchers, one for each account whose components are looked at: what one user
    does to the own files delays nobody else."""

    def __init__(
        self,
        cluster: Cluster,
        builder: RequestBuilder,
        post: Callable[[Event], None],
        name: str,
        pace: WatchInterval = NEAR,
        carrier: Carrier | None = None,
    ) -> None:
        self._cluster = cluster
        self._builder = builder
        self._post = post
        self._name = name
        self._pace = pace
        self._carrier = carrier or Carrier()
        self._lock = threading.Lock()
        self._wanted: set[Ref] = set()
        self._all: dict[str | None, Watcher] = {}
        self._of: dict[Ref, Watcher] = {}
        self._put_off: set[Ref] = set()  # until the next poll

    def watch(self, ref: Ref, joins: int = 0) -> None:
        """Look at this component from now on. `joins`: the job that its own joins (0: none)."""
        with self._lock:
            self._wanted.add(ref)
        self._carrier.watch(ref, joins)
        self._watch(ref)

    def unwatch(self, ref: Ref) -> None:
        """No need any more."""
        with self._lock:
            self._wanted.discard(ref)
            self._put_off.discard(ref)
            watcher = self._of.pop(ref, None)
        self._carrier.unwatch(ref)
        if watcher is not None:
            watcher.unwatch(ref)

    def close(self) -> None:
        """End the threads."""
        with self._lock:
            self._wanted.clear()
            self._put_off.clear()
            watchers = list(self._all.values())
        for watcher in watchers:
            watcher.close()

    def try_again(self) -> None:
        """Begin with those that could not be looked at: the store did not tell whose they are, say.
        For whoever polls the cluster."""
        with self._lock:
            refs = list(self._put_off)
        for ref in refs:
            if not self._watch(ref):
                return  # nor would the others be

    def _watch(self, ref: Ref) -> bool:
        """Begin, or put it off; whether others may be begun with now."""
        try:
            account = self._builder.account(ref)
            self._begin(ref, account, as_account(self._cluster, account))
        except (UnknownOutcome, StoreUnavailable, RuntimeError) as error:
            extra = about(ref, self._name)
            log.warning(
                "%s: component %s is not watched yet: %s", self._name, ref, error, extra=extra
            )
            with self._lock:
                if ref in self._wanted:
                    self._put_off.add(ref)
            return isinstance(error, UnknownOutcome)  # which is of its account alone
        return True

    def _begin(self, ref: Ref, account: str | None, cluster: Cluster) -> None:
        """Raises RuntimeError: no thread can be started."""
        with self._lock:
            if ref not in self._wanted:
                return
            watcher = self._all.get(account)
            if watcher is None:
                watcher = Watcher(
                    cluster, self._builder, self._post, self._name, self._pace, self._carrier
                )
                self._all[account] = watcher
            watcher.watch(ref)
            self._of[ref] = watcher
            self._put_off.discard(ref)


class Watcher:
    """One account's watcher: a thread that sleeps while there is nothing to watch."""

    def __init__(
        self,
        cluster: Cluster,
        builder: RequestBuilder,
        post: Callable[[Event], None],
        name: str,
        pace: WatchInterval = NEAR,
        carrier: Carrier | None = None,
    ) -> None:
        self._pace = pace
        self._carrier = carrier or Carrier()
        self._cluster = cluster
        self._builder = builder
        self._post = post
        self._name = name
        self._wake = threading.Condition()
        self._records = Records()
        self._gates: dict[Ref, str] = {}
        self._fresh = False  # a component came after the last look
        self._misled = False  # a glance has shown what no look has told
        self._closed = False
        self._thread: threading.Thread | None = None

    def watch(self, ref: Ref) -> None:
        """Look at this component from now on.

        Raises:
            RuntimeError: no thread can be started; the component is not watched.
        """
        with self._wake:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name=f"{self._name}-watch", daemon=True)
                thread.start()
                self._thread = thread  # not before: or nobody would ever start another one
            self._records.watch(ref)
            self._fresh = True
            self._wake.notify()

    def unwatch(self, ref: Ref) -> None:
        """No need any more."""
        with self._wake:
            self._records.unwatch(ref)
            self._gates.pop(ref, None)

    def close(self) -> None:
        """End the thread."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def _run(self) -> None:
        pause = took = 0.0
        while True:
            glanced = self._rest(pause, took)
            with self._wake:
                if not self._records:
                    self._wake.wait_for(lambda: self._closed or bool(self._records))
                    # What has just come is given to its cluster now: there is nothing to see yet.
                    self._wake.wait_for(lambda: self._closed, timeout=self._pace.longer)
                if self._closed:
                    return
                refs, fresh, self._fresh = self._records.watched(), self._fresh, False
            began = time.monotonic()
            try:
                told = self._look(refs)
                news = told or fresh
                self._misled = not told and (glanced or self._misled)
            except (UnknownOutcome, ClusterRefusal) as error:
                extra = about(cluster=self._name)
                log.warning(
                    "%s: cannot read components' records: %s", self._name, error, extra=extra
                )
                pause = _AFTER_ERROR
            except Exception:
                extra = about(cluster=self._name)
                log.exception("%s: cannot read components' records", self._name, extra=extra)
                pause = _AFTER_ERROR
            else:
                with self._wake:
                    on_its_way = self._records.on_its_way
                took = time.monotonic() - began
                pause = self._pace.after(pause, took, news=news, on_its_way=on_its_way)

    def _rest(self, pause: float, took: float) -> bool:
        """Until the next look is due, or a component has come; whether a glance has shown something
        new. `took`: the last look, in seconds."""
        until = time.monotonic() + pause
        least = max(self._pace.quick, took)
        with self._wake:
            self._wake.wait_for(lambda: self._closed, timeout=min(pause, least))
        step = 0.0 if self._misled else self._pace.glance(pause)
        while (left := until - time.monotonic()) > 0.0:
            if step and self._has_more(pause):
                return True
            with self._wake:
                timeout = min(left, step or left)
                if self._wake.wait_for(lambda: self._closed or self._fresh, timeout=timeout):
                    break
        return False

    def _has_more(self, pause: float) -> bool:
        """One glance. Whatever is wrong with it, the next look tells."""
        with self._wake:
            latest = self._records.latest(_GLANCED_AT, running=pause <= _SHORT)
            seen = {self._gates[ref]: latest[ref] for ref in latest if ref in self._gates}
        try:
            return bool(seen) and self._cluster.has_more(seen)
        except Exception:  # an answer that is garbled, say, ends no watcher
            return False

    def _look(self, refs: Sequence[Ref]) -> bool:
        """One look; whether it told anything new."""
        gates = {self._gate(ref): ref for ref in refs}
        found = self._cluster.look([gate for gate in gates if gate is not None])
        records = {gates[gate]: record for gate, record in found.items()}
        with self._wake:
            events = self._records.told(records, time.time(), time.monotonic())
        moves = self._carrier.looked(records)  # before the core can have a component introduced
        for event in events:
            self._post(event)
        return moves or bool(events)

    def _gate(self, ref: Ref) -> str | None:
        gate = self._gates.get(ref)
        if gate is None:
            gate = self._builder.gate(ref)
            if gate is not None:
                with self._wake:
                    if ref in self._records:
                        self._gates[ref] = gate
        return gate
