"""`metabroker move-store`: from the file of one broker into the database of several."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from metabroker.config.clusters import SimulatedConfig
from metabroker.config.model import Config
from metabroker.daemon.lock_file import LockFile
from metabroker.store import Store
from metabroker.store.backups import BackupError, Content, examine, prepared, retire
from metabroker.store.moving import NotEmpty, Told

from .restore import refuse_stranger

_AUDIT = "a new one is begun; or name the former one as `audit`"
_ARCHIVE = (
    "what is there stays there, and `metabroker show` of a removed job names it; or name the "
    "folder as `history: {archive: FOLDER}`"
)
_STATE = "move it there before you start the daemon, or this simulated cluster begins without jobs"
_WHILE = 60.0  # seconds of a lead; what is written goes on for as long as it takes


@dataclass(frozen=True, slots=True)
class MoveReport:
    """What was moved. `aside`: where the file is that was the store; `rows`: by table, empty if a
    run before this one had written them; `left`: what was beside the store, and is there yet."""

    content: Content
    aside: Path
    rows: Mapping[str, int]
    left: Sequence[LeftBehind] = ()


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """A file or folder that was not moved, and where the daemon has its like from now on."""

    what: str
    path: Path
    now: Path
    advice: str


def move(config: Config, source: Path, now: float, told: Told) -> MoveReport:
    """Write all that is in the file `source` into the configuration's store, and put it aside.

    Done again after an accident, it goes on where it was.

    Raises:
        BackupError: it cannot be done, and nothing was changed.
        StoreUnavailable: the same; a daemon runs, say.
        LeadershipLost: the same; another broker has taken the lead meanwhile.
    """
    if config.store.startswith("sqlite:"):
        raise BackupError(
            "`store` in the configuration is an SQLite file",
            "name the PostgreSQL database to move it to",
        )
    if not source.is_file():
        raise BackupError(f"there is no file {source}", "name the SQLite file that was the store")
    refuse_stranger(source, "move-store")
    with closing(LockFile(f"sqlite:///{source.absolute()}")):
        content = examine(source)
        if content.version is not None:
            raise BackupError(
                f"{source} is a backup: what has happened since is not in it",
                "name the store itself, or `metabroker restore` the backup before you move it",
            )
        with (
            prepared(source, source) as part,
            closing(Store(f"sqlite:///{part}")) as old,
            closing(Store(config.store)) as new,
        ):
            rows = _write(old, new, told)
        stamp = time.strftime("%Y%m%dT%H%M%S", time.localtime(now))
        return MoveReport(content, retire(source, stamp), rows, left_behind(config, source))


def left_behind(config: Config, source: Path) -> list[LeftBehind]:
    """What the configuration does not name, and was beside the file `source`: beside a database
    nothing can be, so from now on it is looked for in the folder of the default store."""
    before = config.model_copy(update={"store": f"sqlite:///{source.absolute()}"})
    found = [
        LeftBehind("the audit log", before.audit_file, config.audit_file, _AUDIT),
        LeftBehind("the archive", before.archive_folder, config.archive_folder, _ARCHIVE),
    ]
    for name, cluster in config.clusters.items():
        if isinstance(cluster, SimulatedConfig):
            files = before.state_file(name), config.state_file(name)
            found.append(LeftBehind(f"the state of {name}", *files, _STATE))
    return [each for each in found if each.path != each.now and each.path.exists()]


def _write(old: Store, new: Store, told: Told) -> Mapping[str, int]:
    leader = new.leadership.leader()
    term = new.leadership.take("metabroker move-store", _WHILE)
    if term is None:
        who = "another broker" if leader is None else leader.holder
        raise BackupError(
            f"{who} leads in that database, or did some seconds ago",
            "stop every daemon of it, and try again after its `lease`",
        )
    try:
        return new.move_in(old, term, told)
    except NotEmpty as error:
        found = new.extent()
        if found == old.extent():
            return {}
        raise BackupError(
            f"that database is not empty: {found.jobs} jobs of broker {found.instance}",
            "name an empty one in the configuration",
        ) from error
    finally:
        new.leadership.release(term)
