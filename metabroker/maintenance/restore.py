"""`metabroker restore`: a backup in the place of the store of a daemon that does not run."""

from __future__ import annotations

import os
import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from metabroker import accounts
from metabroker.broker.after_restore import Restored, in_line, remembered, settle
from metabroker.broker.outbox import Ready
from metabroker.broker.states import JobState
from metabroker.config.model import Config
from metabroker.daemon.lock_file import LockFile
from metabroker.store import Store, Transaction
from metabroker.store.backups import (
    BackupError,
    Content,
    content_of,
    examine,
    file_of,
    prepared,
    put_in_place,
)
from metabroker.store.rows import ClusterNames

_WHILE = 60.0  # seconds that settling may take
GAP = 10_000
"""Job numbers that are left out after a restore, since users may have been told them."""


@dataclass(frozen=True, slots=True)
class RestoreOptions:
    """How a backup comes back. `force`: though the store has news of after it; `release`: waiting
    jobs go on waiting, though they may have run since; `keep_tokens`: access tokens stay good,
    those too that were revoked since; `gap`: of job numbers; `new_instance`: another broker goes
    on with the jobs, so what it has in clusters is not ours."""

    force: bool = False
    release: bool = False
    keep_tokens: bool = False
    gap: int = GAP
    new_instance: bool = False


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """What has come back. `content`: of the backup, where it was a file; `aside`: where the store
    is that was there before."""

    restored: Restored
    held: int
    under_way: int
    tokens_revoked: int
    content: Content | None = None
    aside: Path | None = None


def restore(config: Config, backup: Path, wanted: RestoreOptions, now: float) -> RestoreReport:
    """Put the backup in the place of the store.

    Raises:
        BackupError: it cannot be done, and nothing was changed.
        StoreUnavailable: the same; a daemon runs, say.
    """
    path = file_of(config.store)
    refuse_stranger(path, "restore")
    with closing(LockFile(config.store)):
        content = examine(backup)
        if not wanted.force:
            _refuse_news(path, content)
        with prepared(backup, path) as part:
            with closing(Store(f"sqlite:///{part}")) as store:
                outcome = _settle(store, content.time, wanted, now)
            stamp = time.strftime("%Y%m%dT%H%M%S", time.localtime(now))
            aside = put_in_place(part, path, stamp)
    return replace(outcome, content=content, aside=aside)


def restore_in_place(config: Config, wanted: RestoreOptions, now: float) -> RestoreReport:
    """The store has come back by its database's own means: write down what that means.

    Raises:
        BackupError: a daemon runs; nothing was changed.
        StoreUnavailable: it cannot be opened, or a daemon uses it.
    """
    with closing(LockFile(config.store)), closing(Store(config.store)) as store:
        last = store.restorations.last_event()
        if last is None:
            raise BackupError("the store is empty", "restore its database first")
        if store.shared:
            _keep_others_out(store, wanted)
        return _settle(store, last, wanted, now)


def _keep_others_out(store: Store, wanted: RestoreOptions) -> None:
    """Lead, so that no broker that is started meanwhile does. `_settle` lets the lead go."""
    leader = store.leadership.leader()
    if store.leadership.take("metabroker restore", _WHILE) is None and not wanted.force:
        who = "another broker" if leader is None else leader.holder
        raise BackupError(
            f"{who} leads, or did some seconds ago",
            "stop every daemon of this store, and try again after its `lease`",
        )


def refuse_stranger(path: Path, command: str) -> None:
    """What root makes, a daemon that is not root could not open. Raises BackupError."""
    if os.geteuid() != 0:
        return
    there = path if path.exists() else path.parent
    owner = there.stat().st_uid if there.exists() else 0
    if owner != 0:
        name = accounts.name_of(owner)
        raise BackupError(
            f"{there} belongs to {name}, who could not open files that root makes there",
            f"run it as that account: sudo -u {name} metabroker {command} ...",
        )


def _refuse_news(path: Path, backup: Content) -> None:
    """What is in the store, and not in the backup, is lost to the daemon: only by order."""
    if not path.exists() or not path.stat().st_size:
        return
    try:
        present = content_of(path)
    except BackupError:
        return  # it cannot be read: that is what backups are for, and it is put aside
    advice = "give --force to put the present store aside, and the backup in its place"
    if present.instance != backup.instance:
        raise BackupError(f"{path} is the store of another broker ({present.instance})", advice)
    if present.last_event > backup.last_event:
        when = clock(present.time)
        raise BackupError(
            f"{path} is newer than the backup of {clock(backup.time)}: it goes up to {when}", advice
        )


def _settle(store: Store, backup_time: float, wanted: RestoreOptions, now: float) -> RestoreReport:
    """Write down in the store what the lost time means for its jobs."""
    names = ClusterNames(sorted(store.referred_clusters() | store.known_clusters().keys()))
    found = store.recover(names)
    last_term = max(store.leadership.term(), store.restorations.last_term())
    first_free = max(found.next_job, store.restorations.history().next_job)
    restored = Restored(
        backup_time=backup_time,
        time=now,
        when=clock(backup_time),
        term=max(last_term + 1, int(now)),
        last_job=found.next_job - 1,
        next_job=first_free + wanted.gap,
        attempts=remembered(found.jobs),
        siblings=in_line(found.jobs),
    )
    changed = settle(found.jobs, found.components, restored, release=wanted.release)
    store.commit(Transaction(Ready(*changed, [])), names)
    store.leadership.raise_to(restored.term)
    store.restorations.add(restored)
    if wanted.new_instance:
        store.new_instance()
    revoked = 0 if wanted.keep_tokens else _revoke(store, now)
    held = sum(1 for job in changed[0] if job.state is JobState.HELD)
    return RestoreReport(restored, held, len(changed[0]) - held, revoked)


def _revoke(store: Store, now: float) -> int:
    """One that was revoked since the backup would be good again, and nobody would know."""
    good = [row for row in store.access_tokens.all() if row.live(now)]
    for row in good:
        store.access_tokens.revoke(row.id, now)
    return len(good)


def clock(moment: float) -> str:
    """A time in words."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))
