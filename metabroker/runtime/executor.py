"""One cluster's executor: its bounded workers, and what is asked of it, in order.

Each cluster has its own threads, so one that hangs delays nobody else (P5), and users take turns
at them. For one component effects are carried out one at a time, in the order in which they came;
every pending effect is answered with exactly one event.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from metabroker.about import about
from metabroker.broker import tokens
from metabroker.broker.effects import (
    CleanStray,
    Discard,
    Fetch,
    PendingEffect,
    Reserve,
    Stage,
    Submit,
    Unclaimed,
)
from metabroker.broker.events import ClusterUnreachable, Event, Observed, Refused, Unsure
from metabroker.broker.states import Cause
from metabroker.broker.tokens import Ref
from metabroker.clusters.operation import carry_out
from metabroker.clusters.port import Cluster, ClusterRefusal, UnknownOutcome
from metabroker.clusters.transports.local_files import LocalFiles
from metabroker.fair_pool import FairPool
from metabroker.metrics.of_clusters import OfCluster
from metabroker.store import StoreUnavailable

from .carrier import Carrier
from .execution import carrying, carrying_stray, step_of
from .lines import Lines
from .requests import RequestBuilder
from .watcher import NEAR, Watchers, WatchInterval, as_account

log = logging.getLogger(__name__)

# Components of one cluster whose files are on their way at the same time; of one user one less.
_TRANSFERS = 3
_LETTERS = 3  # threads for what components of one cluster tell, or are told
_LONG = 1.0  # seconds
_NO_ACCOUNT = (
    "the job's user has no account, or another one, in {0} now: see its `users` and `run_as`"
)

Hook = Callable[[str, PendingEffect], None]
"""Told "before" and "after" a pending effect is carried out (the tests kill the daemon there)."""


def no_hook(_when: str, _effect: PendingEffect) -> None:
    """Nobody listens."""


class Stopped(Exception):
    """What was under way was ended between two of its steps."""


class ClusterExecutor:
    """All that is asked of one cluster."""

    def __init__(
        self,
        index: int,
        cluster: Cluster,
        builder: RequestBuilder,
        post: Callable[[Event], None],
        *,
        workers: int,
        clock: Callable[[], float],
        hook: Hook = no_hook,
        meter: OfCluster | None = None,
        pace: WatchInterval = NEAR,
        carrier: Carrier | None = None,
    ) -> None:
        self.index = index
        self.name = builder.cluster
        self.cluster = cluster
        self._builder = builder
        self._post = post
        self._clock = clock
        self._hook = hook
        self._meter = meter
        self._transport = meter.transport(cluster.transport) if meter else cluster.transport
        self._pool = FairPool(workers, builder.cluster)
        # What may take hours must not keep the cluster's workers from anything.
        self._movers = FairPool(_TRANSFERS, f"{builder.cluster}-files")
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._lines = Lines()
        self._reachable: bool | None = None
        # What components tell each other waits for nothing else, and nothing for it.
        self._letters = FairPool(_LETTERS, f"{builder.cluster}-exchange")
        self._carrier = carrier or Carrier()
        self._carrier.join(self)
        self.watcher = Watchers(cluster, builder, post, builder.cluster, pace, self._carrier)

    @property
    def files_are_here(self) -> bool:
        """Whether paths in its jobs are paths of this host."""
        return isinstance(self.cluster.transport.files, LocalFiles)

    @property
    def meets_in_jobs_folders(self) -> bool:
        """Whether components meet the broker in their jobs' own folders."""
        return self._builder.shared_dir is None

    # --- effects ------------------------------------------------------------------------------

    def ask(self, effect: PendingEffect | CleanStray) -> None:
        """Carry out an effect as soon as a worker is free."""
        if isinstance(effect, CleanStray):
            with self._lock:
                if not self._lines.claim(effect):
                    return
            ref = tokens.parse(self._builder.settings.instance, effect.token)
            self._start(self._pool, ref, lambda: self._clean_stray(effect))
            return
        with self._lock:
            first = self._lines.add(effect)
        if first:
            self._next(effect)

    def _next(self, effect: PendingEffect) -> None:
        pool = self._movers if isinstance(effect, Stage | Fetch) else self._pool
        self._start(pool, effect.ref, lambda: self._work(effect.ref))

    def _start(self, pool: FairPool, ref: Ref | None, work: Callable[[], None]) -> None:
        try:
            pool.submit(self._builder.owner(ref), work)
        except RuntimeError:
            log.debug(
                "%s: closing; pending effects are carried out after the next start", self.name
            )

    def _work(self, ref: Ref) -> None:
        """The component's next effect; then, if there is more, to the end of its user's line."""
        with self._lock:
            effect = self._lines.first(ref)
        self._hook("before", effect)
        event = self._carry_out(effect)
        self._hook("after", effect)
        if isinstance(event, Refused):
            text, why = "%s: no %s of %s: %s", " ".join(event.detail.split())
            extra = about(effect.ref, self.name)
            log.info(text, self.name, event.step.value, effect.ref, why, extra=extra)
        if self._meter is not None:
            self._meter.answered(effect, event)
        with self._lock:
            following = self._lines.finished(ref)
        self._post(event)
        if following is not None:
            self._next(following)

    def _carry_out(self, effect: PendingEffect) -> Event:
        step = step_of(effect)
        extra = about(effect.ref, self.name)
        try:
            begins = isinstance(effect, Stage | Reserve | Submit)
            if begins and not self._builder.still_allowed(effect.ref):
                return Refused(effect.ref, step, Cause.INVALID, _NO_ACCOUNT.format(self.name))
            cluster = as_account(self.cluster, self._builder.account(effect.ref))
            if isinstance(effect, Discard):
                self._carrier.last_words(effect.ref, self.index)
            elif isinstance(effect, Fetch):
                self._carrier.before_transfer(effect.ref, self.index)
            task = carrying(effect, cluster, self._builder)
            return carry_out(task, self._transport, self._rest(effect), self._clock)
        except Stopped as stopped:
            return Unsure(effect.ref, step, str(stopped))
        except ClusterRefusal as refusal:
            return Refused(effect.ref, step, refusal.cause, refusal.detail)
        except UnknownOutcome as doubt:
            return Unsure(effect.ref, step, doubt.detail)
        except OSError as error:
            # Its text would name the gate's folder, which is a secret.
            why = f"its folder cannot be used: {error.strerror or type(error).__name__}"
            log.warning("%s: %s of %s: %s", self.name, step.value, effect.ref, why, extra=extra)
            return Unsure(effect.ref, step, why)
        except StoreUnavailable as error:
            text = "%s: %s of %s: %s"
            log.warning(text, self.name, step.value, effect.ref, error, extra=extra)
            return Unsure(effect.ref, step, "the broker's own store cannot be read")
        except Exception as error:
            # Whatever it is, what was done is not known: the broker looks before it goes on.
            log.exception("%s: %s of %s", self.name, step.value, effect.ref, extra=extra)
            return Unsure(effect.ref, step, f"{type(error).__name__}: {error}")

    def _rest(self, effect: PendingEffect) -> Callable[[float], None]:
        """How a pause is spent. A transfer ends there when anything else is asked of its component,
        or the daemon ends: it may take hours, and is begun again where it is still wanted."""
        if not isinstance(effect, Stage | Fetch):
            return self._wait

        def rest(seconds: float) -> None:
            with self._lock:
                wanted = self._lines.alone(effect.ref) and not self._closing.is_set()
            if not wanted:
                raise Stopped("its files are no longer needed, or the daemon ends")
            time.sleep(seconds)

        return rest

    def _wait(self, seconds: float) -> None:
        """A pause before a command; a long one (for a port of its host's) ends with the daemon."""
        if seconds < _LONG:
            time.sleep(seconds)
        elif self._closing.wait(seconds):
            raise Stopped("the daemon ends")

    def _clean_stray(self, effect: CleanStray) -> None:
        ref = tokens.parse(self._builder.settings.instance, effect.token)
        extra = about(ref, self.name)
        log.warning("%s: removing the orphan %s", self.name, effect.token, extra=extra)
        try:
            account = None if ref is None else self._builder.account(ref)
            cluster = as_account(self.cluster, account)
            task = carrying_stray(effect, cluster, self._builder)
            carry_out(task, self._transport, self._wait, self._clock)
        except (ClusterRefusal, UnknownOutcome, Stopped, StoreUnavailable) as error:
            log.warning("%s: %s: %s", self.name, effect.token, error, extra=extra)
        except Exception:
            log.exception("%s: %s", self.name, effect.token, extra=extra)
        finally:
            with self._lock:
                self._lines.removed(effect)

    def tell_unclaimed(self, effect: Unclaimed) -> None:
        """In the log; `metabroker leftovers` tells more."""
        ref = tokens.parse(self._builder.settings.instance, effect.token)
        log.warning(
            "%s: %s was started after the backup that was restored, so it is left alone (see "
            "`metabroker leftovers`)",
            self.name,
            effect.token,
            extra=about(ref, self.name),
        )

    # --- what components tell each other ------------------------------------------------------

    @property
    def builder(self) -> RequestBuilder:
        """Where gates are."""
        return self._builder

    def acting(self, ref: Ref) -> Cluster:
        """The cluster as the account of the component's job."""
        return as_account(self.cluster, self._builder.account(ref))

    def in_turn(self, ref: Ref, work: Callable[[], None]) -> None:
        """Do it when it is the turn of the job's user. Raises RuntimeError: not any more."""
        self._letters.submit(self._builder.owner(ref), work)

    # --- polls --------------------------------------------------------------------------------

    def observe(self) -> None:
        """Look at the cluster and tell the core; blocks as long as that takes."""
        try:
            looking = self.cluster.observe(self._clock())
            snapshot = carry_out(looking, self._transport, self._wait, self._clock)
        except Stopped:
            return
        except (ClusterRefusal, UnknownOutcome) as error:
            self._seen(False, str(error))
            self._post(ClusterUnreachable(self.index, str(error)))
        except StoreUnavailable as error:  # it knows whose jobs these are
            log.warning("%s: not polled: %s", self.name, error, extra=about(cluster=self.name))
            self._post(ClusterUnreachable(self.index, "the broker's own store cannot be read"))
        except Exception as error:
            log.exception("%s: cannot be polled", self.name, extra=about(cluster=self.name))
            self._post(ClusterUnreachable(self.index, f"{type(error).__name__}: {error}"))
        else:
            self._seen(True, "")
            self._post(Observed(self.index, snapshot))
        self.watcher.try_again()

    def _seen(self, reachable: bool, why: str) -> None:
        if reachable is not self._reachable:
            self._reachable = reachable
            extra = about(cluster=self.name)
            if reachable:
                log.info("%s: answers", self.name, extra=extra)
            else:
                log.warning("%s: does not answer: %s", self.name, why, extra=extra)

    # --- end ----------------------------------------------------------------------------------

    def close(self) -> None:
        """Begin nothing new. What is under way is finished, or done again after a start."""
        self._closing.set()
        self.watcher.close()
        self._movers.shutdown()
        self._letters.shutdown()
        self._pool.shutdown()
        self.cluster.close()
