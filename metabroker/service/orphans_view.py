"""After a restore: what clusters show that nobody remembers, and what is to become of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from metabroker.api.service import Failure, ServiceError
from metabroker.broker.core import Broker
from metabroker.broker.orphans import Orphan
from metabroker.broker.restored import Restored

Json = dict[str, Any]


def view(broker: Broker) -> Json:
    """All that the last looks showed. To be asked in the core's thread."""
    return {
        "restored": restored_view(broker.saga.leftovers.history.latest),
        "leftovers": [_view(broker, left) for left in broker.saga.leftovers],
    }


def restored_view(restored: Restored | None) -> Json | None:
    """The last return from a backup."""
    if restored is None:
        return None
    return {
        "backup_time": restored.backup_time,
        "time": restored.time,
        "last_job": restored.last_job,
        "next_job": restored.next_job,
    }


def remove(broker: Broker, names: Sequence[str] | None) -> Json:
    """Let the next looks remove these; None: all. To be asked in the core's thread.

    Raises:
        ServiceError: one is not there; none is removed.
    """
    found = {left.token: left for left in broker.saga.leftovers}
    for name in names or ():
        if name not in found:
            raise ServiceError(
                Failure.NOT_FOUND,
                f"no cluster shows a leftover {name[:80]!r} now",
                "see: metabroker leftovers",
            )
    chosen = [left for left in broker.saga.leftovers if names is None or left.token in names]
    for left in chosen:
        left.unwanted = True
    return {"leftovers": [_view(broker, left) for left in chosen]}


def lost_job(restored: Restored, number: int) -> ServiceError:
    """There is no job of a number that somebody may have been told."""
    return ServiceError(
        Failure.NOT_FOUND,
        f"there is no job {number}: it may have been submitted after the backup of "
        f"{restored.when}, from which the store was restored",
        "see whether its components are still there: metabroker leftovers",
    )


def _view(broker: Broker, left: Orphan) -> Json:
    native = left.native
    return {
        "name": left.token,
        "cluster": broker.settings.clusters[left.cluster].name,
        "job": left.ref.job,
        "attempt": left.ref.attempt,
        "component": left.ref.component,
        "known": left.ref.job in broker.jobs,
        "state": "RESERVED" if native is None else native.word,
        "processors": left.processors,
        "native_id": None if native is None else native.native_id,
        "hosts": "" if native is None else native.hosts or "",
        "start_time": None if native is None else native.start_time,
        "since": left.since,
        "removing": left.unwanted,
    }
