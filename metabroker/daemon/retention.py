"""The retention of the broker that leads: over its store and its core, in a thread of its own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from pathlib import Path

from metabroker.clusters.transports.fenced import Permit
from metabroker.config.model import Config
from metabroker.runtime import retention
from metabroker.runtime.loop import Loop
from metabroker.runtime.retention import Behind, Periods, Retention
from metabroker.store import Store, StoreUnavailable
from metabroker.store.archive import Archive, ArchiveError

from .sharing.background import Background

log = logging.getLogger(__name__)


def make(
    config: Config, store: Store, loop: Loop, clock: Callable[[], float], permit: Permit | None
) -> Retention:
    """As the configuration says."""
    kept = config.history
    return Retention(
        store,
        archive_of(config.archive_folder, store),
        Periods(kept.keep, kept.events, kept.scripts),
        clock,
        lambda: loop.ask(lambda: _named(loop)),
        permit or (lambda: None),
    )


def archive_of(folder: Path, store: Store) -> Archive:
    """The archive of a store."""
    suffix = "" if store.term is None else f"-t{store.term}"
    ended = store.ended
    return Archive(folder, ended.archive, ended.submitted, store.known_clusters, suffix)


def settle(config: Config, store: Store) -> None:
    """Cut back what this host's broker had archived, and not removed, when its term ended: before
    another leader removes it, whose archive is on another host perhaps."""
    try:
        archive = archive_of(config.archive_folder, store)
        archive.settle(store.ended.archives(), store.leadership.term() - 1)
    except (ArchiveError, StoreUnavailable) as error:
        log.warning("the archive: %s; what a former term has left there is looked at later", error)


def _named(loop: Loop) -> Collection[int]:
    """Jobs of which clusters show what nobody remembers. In the core's thread."""
    view = loop.engine.broker.view
    if view.behind:
        raise Behind(view.behind)
    return frozenset(orphan.ref.job for orphan in view.unclaimed)


class RetentionThread(Background):
    """Runs it now and then."""

    def __init__(self, runs: Retention) -> None:
        super().__init__("retention")
        self._runs = runs

    def _run(self) -> None:
        pause = retention.SOON
        while not self._stopping.wait(pause):
            self._runs.run(self._stopping.wait)
            pause = retention.EVERY
