"""`metabroker history`."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from textwrap import indent

import click

from metabroker.api.client import Client, Json
from metabroker.cli import common
from metabroker.cli.errors import USAGE, CliError, tell

_DEFAULT = 1000  # jobs, as `metabroker.api.calls` has it
_PAGE = 1000  # jobs of one answer
_AGO = re.compile(r"([0-9]{1,9})([smhdw])")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


@click.command()
@click.option("-u", "--user", metavar="NAME", help="only this user's jobs")
@click.option(
    "--since",
    metavar="TIME",
    help="ended after this time: 2d (ago), 12h, 2026-03-01, 2026-03-01T08:30",
)
@click.option("--until", metavar="TIME", help="ended before this time")
@click.option("--state", metavar="STATE,...", help="only jobs that ended so: FAILED,TIMEOUT")
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help=f"only the newest N jobs (default: {_DEFAULT}; with --swf all)",
)
@click.option("--all", "every", is_flag=True, help="all jobs that are kept")
@click.option("--swf", is_flag=True, help="write the Standard Workload Format")
@click.option(
    "--from",
    "sources",
    multiple=True,
    metavar="FILE...",
    help="with --swf: read a site's own records instead of the daemon's",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["sacct", "pbs"]),
    help="format of --from FILE: sacct --parsable2, or OpenPBS accounting (default: detected out)",
)
@click.option("--strict", is_flag=True, help="fail on a wrong line in --from FILE")
@click.argument("more", nargs=-1, metavar="")
@common.socket_option
@common.json_option
def history(
    user: str | None,
    since: str | None,
    until: str | None,
    state: str | None,
    limit: int | None,
    every: bool,
    swf: bool,
    sources: tuple[str, ...],
    kind: str | None,
    strict: bool,
    more: tuple[str, ...],
    socket_path: str | None,
    as_json: bool,
) -> None:
    """List ended jobs with their times and usage, the newest last.

    `metabroker history --swf --from FILE...` turns a site's own records, plain or gzip, into a log
    that `metabroker simulate` replays: OpenPBS accounting files, or the output of

    \b
    SLURM_TIME_FORMAT=%s sacct --allusers --allocations --parsable2 --starttime ... \\
      --format JobID,User,Group,Partition,Submit,Start,End,ElapsedRaw,State,ReqCPUS,\\
    AllocCPUS,TimelimitRaw

    stderr tells what is left out, and why, and what may not be true.
    """
    if sources:
        chosen = any(option is not None for option in (user, since, until, state, limit))
        if not swf or as_json or chosen or every:
            message = "--from can be used with --swf, --format and --strict only"
            raise CliError(message, "write `metabroker history --swf --from FILE...`", USAGE)
        _convert([*sources, *more], kind, strict)
        return
    if more or kind or strict:
        what = ascii(more[0])[:60] if more else "--format" if kind else "--strict"
        raise CliError(f"{what} needs --from", "name the files by --from FILE...", USAGE)
    if swf and as_json:
        raise CliError("--swf and --json cannot go together", "leave one of them out", USAGE)
    if every and limit is not None:
        raise CliError("--all and --limit cannot go together", "leave one of them out", USAGE)
    wanted = {
        "user": user,
        "state": state,
        "since": None if since is None else _moment(since),
        "until": None if until is None else _moment(until),
        "limit": "all" if every or (swf and limit is None) else limit,
    }
    _print(common.connect(socket_path), wanted, swf=swf, as_json=as_json)


def _print(client: Client, wanted: Mapping[str, object], *, swf: bool, as_json: bool) -> None:
    pages = _pages(client, wanted)
    if as_json:
        _print_json(job for page in pages for job in page)
    elif swf:
        from metabroker.cli.swf import lines

        jobs = (job for page in pages for job in page)
        for line in lines(jobs, client.get("clusters")["clusters"]):
            print(line)
    else:
        from metabroker.cli.views import print_history

        print_history(pages)


def _pages(client: Client, wanted: Mapping[str, object]) -> Iterator[list[Json]]:
    """The jobs, some at a time."""
    older = False
    for answer in client.history(**wanted, page=_PAGE):
        older = older or bool(answer.get("older"))
        yield answer["jobs"]
    if older and wanted["limit"] is None:
        tell(f"these are the newest {_DEFAULT}; --limit N lists more, and --all lists all")


def _print_json(jobs: Iterable[Json]) -> None:
    """As `common.print_json`, one job at a time."""
    import json

    before, after = '{\n  "jobs": [', "]"
    for job in jobs:
        print(before + "\n" + indent(json.dumps(job, indent=2), "    "), end="")
        before, after = ",", "\n  ]"
    print((before if after == "]" else "") + after + "\n}")


def _moment(text: str) -> float:
    """A Unix time: `2d` is two days ago; else a date, with or without time, in the local zone."""
    ago = _AGO.fullmatch(text)
    if ago is not None:
        return time.time() - int(ago[1]) * _UNITS[ago[2]]
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        advice = "write for example 2d, 12h, 2026-03-01 or 2026-03-01T08:30"
        raise CliError(f"{ascii(text)[:60]} is not a time", advice, USAGE) from error


def _convert(files: list[str], kind: str | None, strict: bool) -> None:
    """A site's own records in the Standard Workload Format; what was left out, on stderr."""
    from metabroker.traces import site
    from metabroker.traces.errors import TraceError
    from metabroker.traces.write import write

    try:
        records = site.read(files, kind, strict=strict)
    except TraceError as error:
        raise CliError(f"{error.where}: {error.message}", error.advice, USAGE) from error
    for doubt in records.doubts:
        tell(doubt)
    for (file, why), skipped in records.skipped.items():
        told = f"{file}: {skipped.count} left out: {why}"
        tell(f"{told}; the first is line {skipped.first_line}")
    if records.again:
        tell(f"{records.again} left out: they are in several files; each is counted once")
    if not records.jobs:
        raise CliError("the files hold no job that has run", "name other files, or --format")
    notes = ("status 0 is failed or over its time limit, 5 cancelled",)
    for line in write(records.jobs, notes=notes):
        print(line)
