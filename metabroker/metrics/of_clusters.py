"""Commands and submissions of one cluster, measured where they are carried out."""

from __future__ import annotations

import os
import time

from metabroker.broker.effects import PendingEffect, Submit
from metabroker.broker.events import Event, Refused, Submitted, Unsure
from metabroker.clusters.transports.base import (
    Command,
    CommandLost,
    CommandMissing,
    Completed,
    Files,
    Transport,
)

from .meters import Meters

OUTCOMES = ("accepted", "refused", "unknown", "adopted")


class OfCluster:
    """One cluster's."""

    def __init__(self, meters: Meters, cluster: str) -> None:
        self._meters = meters
        self._cluster = cluster
        # Series that begin at 0 have a rate from the first event on.
        for outcome in OUTCOMES:
            meters.submissions.labels(cluster, outcome)
        meters.reserved_idle.labels(cluster)
        meters.barrier.labels(cluster)

    def transport(self, transport: Transport) -> Transport:
        """The same transport, every command of it measured."""
        return _Measured(transport, self)

    def answered(self, effect: PendingEffect, event: Event) -> None:
        """An effect was carried out; submissions are counted."""
        if not isinstance(effect, Submit):
            return
        outcome = {Refused: "refused", Unsure: "unknown"}.get(type(event))
        if isinstance(event, Submitted):
            outcome = "adopted" if effect.again else "accepted"
        if outcome is not None:
            self._meters.submissions.labels(self._cluster, outcome).inc()

    def ran(self, command: str, seconds: float, error: str | None) -> None:
        """A command has ended, or has given no answer."""
        self._meters.command.labels(self._cluster, command).observe(seconds)
        if error is not None:
            self._meters.command_errors.labels(self._cluster, command, error).inc()


class _Measured:
    """A transport that tells how its commands went."""

    def __init__(self, inner: Transport, meter: OfCluster) -> None:
        self._inner = inner
        self._meter = meter

    @property
    def files(self) -> Files:
        return self._inner.files

    def run(self, command: Command) -> Completed:
        began = time.perf_counter()
        error: str | None = None
        try:
            done = self._inner.run(command)
            error = "failed" if done.exit_status else None
            return done
        except CommandLost:
            error = "lost"
            raise
        except CommandMissing:
            error = "missing"
            raise
        finally:
            seconds = time.perf_counter() - began
            self._meter.ran(os.path.basename(command.argv[0]), seconds, error)

    def close(self) -> None:
        self._inner.close()
