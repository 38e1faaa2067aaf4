"""`metabroker history`."""

from __future__ import annotations

import re
import time
from datetime import datetime

import click

from metabroker.cli import common
from metabroker.cli.errors import USAGE, CliError, tell

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
@click.option("--limit", type=click.IntRange(1), metavar="N", help="only the newest N jobs")
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
    limit: int | None,
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

    stderr tells what is left out, and why.
    """
    if sources:
        if not swf or as_json or any(option is not None for option in (user, since, until, limit)):
            message = "--from can be used with --swf, --format and --strict only"
            raise CliError(message, "write `metabroker history --swf --from FILE...`", USAGE)
        _convert([*sources, *more], kind, strict)
        return
    if more or kind or strict:
        what = ascii(more[0])[:60] if more else "--format" if kind else "--strict"
        raise CliError(f"{what} needs --from", "name the files by --from FILE...", USAGE)
    if swf and as_json:
        raise CliError("--swf and --json cannot go together", "leave one of them out", USAGE)
    client = common.connect(socket_path)
    after = None if since is None else _moment(since)
    before = None if until is None else _moment(until)
    answer = client.get("history", user=user, limit=limit, since=after, until=before)
    if as_json:
        common.print_json(answer)
    elif swf:
        from metabroker.cli.swf import lines

        for line in lines(answer["jobs"], client.get("clusters")["clusters"]):
            print(line)
    else:
        from metabroker.cli.views import print_history

        print_history(answer["jobs"])


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
