"""After a restore: what clusters show that nobody remembers, and what is to become of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from metabroker.api.service import Failure, ServiceError
from metabroker.broker.after_restore import Restored
from metabroker.broker.core import Broker
from metabroker.broker.orphans import UnclaimedOrphan

Json = dict[str, Any]


def view(broker: Broker) -> Json:
    """All that the last polls showed. To be asked in the core's thread."""
    return {
        "restored": restored_view(broker.view.history.latest),
        "leftovers": [_view(broker, orphan) for orphan in broker.view.unclaimed],
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
    """Let the next polls remove these; None: all. To be asked in the core's thread.

    Raises:
        ServiceError: one is not there; none is removed.
    """
    found = {orphan.token: orphan for orphan in broker.view.unclaimed}
    for name in names or ():
        if name not in found:
            raise ServiceError(
                Failure.NOT_FOUND,
                f"no cluster shows a leftover {name[:80]!r} now",
                "see: metabroker leftovers",
            )
    chosen = [token for token in found if names is None or token in names]
    broker.remove_unclaimed(chosen)
    return {"leftovers": [_view(broker, found[token]) for token in chosen]}


def lost_job(restored: Restored, number: int) -> ServiceError:
    """There is no job of a number that somebody may have been told."""
    return ServiceError(
        Failure.NOT_FOUND,
        f"there is no job {number}: it may have been submitted after the backup of "
        f"{restored.when}, from which the store was restored",
        "look for its components with: metabroker leftovers",
    )


def _view(broker: Broker, orphan: UnclaimedOrphan) -> Json:
    native = orphan.native
    return {
        "name": orphan.token,
        "cluster": broker.view.settings.clusters[orphan.cluster].name,
        "job": orphan.ref.job,
        "attempt": orphan.ref.attempt,
        "component": orphan.ref.component,
        "known": orphan.ref.job in broker.view.jobs,
        "state": "RESERVED" if native is None else native.word,
        "processors": orphan.processors,
        "native_id": None if native is None else native.native_id,
        "hosts": "" if native is None else native.hosts or "",
        "start_time": None if native is None else native.start_time,
        "since": orphan.since,
        "removing": orphan.unwanted,
    }
