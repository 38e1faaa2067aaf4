"""`metabroker backup` and `restore`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metabroker.cli import common
from metabroker.cli.errors import USAGE, CliError

if TYPE_CHECKING:
    from metabroker.maintenance.restore import RestoreReport
    from metabroker.store.backups import Content


@click.command()
@click.option("--config", "file", required=True, metavar="FILE", help="the daemon's configuration")
@click.option("--to", "target", required=True, metavar="PATH", help="the file to write")
@click.option("--force", is_flag=True, help="replace an existing file")
@common.json_option
def backup(file: str, target: str, force: bool, as_json: bool) -> int:
    """Copy the store while the daemon and its jobs go on.

    Run it as the daemon's account. The copy holds users' scripts and is readable by that account
    alone.
    """
    from metabroker import __version__
    from metabroker.store.backups import file_of, make

    config = common.configuration(file)
    with stored():
        store = file_of(config.store)
        made = make(store, Path(target), force=force, now=time.time(), version=__version__)
    if as_json:
        common.print_json(_as_json(made))
    else:
        print(f"{made.path}: {jobs_of(made)}")
    return 0


@click.command()
@click.argument("source", metavar="[BACKUP]", required=False)
@click.option("--config", "file", required=True, metavar="FILE", help="the daemon's configuration")
@click.option(
    "--in-place",
    is_flag=True,
    help="the database was restored by its own tools (pg_restore); only tell metabroker",
)
@click.option(
    "--force",
    is_flag=True,
    help="restore even if the present store is newer; it is kept under another name",
)
@click.option(
    "--release-waiting",
    is_flag=True,
    help="do not hold waiting jobs, although they may have run since the backup",
)
@click.option(
    "--keep-tokens",
    is_flag=True,
    help="keep access tokens valid, also those revoked since the backup",
)
@click.option(
    "--gap",
    type=click.IntRange(min=0),
    default=10_000,
    show_default=True,
    help="job numbers to skip: at least as many as were submitted since the backup",
)
@click.option(
    "--new-instance",
    is_flag=True,
    help="this is a copy: another broker goes on with the jobs, whatever is in the clusters is its",
)
@common.json_option
def restore(
    source: str | None,
    file: str,
    in_place: bool,
    force: bool,
    release_waiting: bool,
    keep_tokens: bool,
    gap: int,
    new_instance: bool,
    as_json: bool,
) -> int:
    """Replace the store by BACKUP. The daemon must not run.

    The present store is kept under another name. When the daemon starts, it finds in the clusters
    what has happened since the backup; `metabroker leftovers` lists what no job explains.
    """
    from metabroker.maintenance.restore import RestoreOptions, restore_in_place
    from metabroker.maintenance.restore import restore as run

    if (source is None) != in_place:
        raise CliError("name either a BACKUP or --in-place", "see: restore --help", USAGE)
    config = common.configuration(file)
    wanted = RestoreOptions(force, release_waiting, keep_tokens, gap, new_instance)
    with stored():
        now = time.time()
        if source is None:
            done = restore_in_place(config, wanted, now)
        else:
            done = run(config, Path(source), wanted, now)
    if as_json:
        common.print_json(_told(done))
    else:
        _print(done)
    return 0


@contextmanager
def stored() -> Iterator[None]:
    """What goes wrong with stores and their copies ends a command with what is wrong, and what to
    do."""
    from metabroker.store import StoreUnavailable
    from metabroker.store.backups import BackupError

    try:
        yield
    except BackupError as error:
        raise CliError(error.message, error.advice) from error
    except StoreUnavailable as error:
        what, _, advice = str(error).partition("; ")
        raise CliError(what, advice or "check `store` in the configuration") from error


def jobs_of(content: Content) -> str:
    """How many are in it, by state, and of when."""
    from metabroker.cli.table import clock

    counts = ", ".join(f"{number} {state}" for state, number in content.jobs.items())
    total = sum(content.jobs.values())
    return f"{total} jobs ({counts or 'none'}) at {clock(content.time)}"


def _as_json(content: Content) -> dict[str, Any]:
    return {
        "file": str(content.path),
        "time": content.time,
        "instance": content.instance,
        "schema": content.schema,
        "version": content.version,
        "jobs": dict(content.jobs),
        "last_job": content.last_job,
    }


def _told(done: RestoreReport) -> dict[str, Any]:
    return {
        "backup": None if done.content is None else _as_json(done.content),
        "time": done.restored.backup_time,
        "aside": None if done.aside is None else str(done.aside),
        "held": done.held,
        "under_way": done.under_way,
        "next_job": done.restored.next_job,
        "term": done.restored.term,
        "tokens_revoked": done.tokens_revoked,
    }


def _print(done: RestoreReport) -> None:
    if done.content is None:
        print(f"the store is as it was at {done.restored.when}")
    else:
        print(f"restored from {done.content.path}: {jobs_of(done.content)}")
    if done.aside is not None:
        print(f"the former store is {done.aside}")
    print(f"{done.held} jobs that waited are held: they may have run since the backup")
    print(f"{done.under_way} jobs were under way: the daemon looks for them when it starts")
    print(f"the next new job gets number {done.restored.next_job}")
    if done.tokens_revoked:
        print(f"{done.tokens_revoked} access tokens are revoked: make new ones where needed")
    print(
        "start the daemon; `metabroker leftovers` then lists what runs in clusters and the "
        "store does not know"
    )
