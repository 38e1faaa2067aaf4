"""`metabroker submit`."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click

from metabroker.api.client import Client
from metabroker.cli import common
from metabroker.cli.errors import USAGE, CliError, complain
from metabroker.cli.options import build, given, job_options, read_script, script_options
from metabroker.submission.build import merged
from metabroker.submission.checks import LARGEST_SCRIPT
from metabroker.submission.model import Submission
from metabroker.submission.patterns import names_component
from metabroker.submission.wire import to_wire


@click.command(params=job_options(), context_settings={"allow_interspersed_args": False})
@click.option(
    "--dry-run", is_flag=True, help="tell where and when the job would run now; queue nothing"
)
@click.option("--strict", is_flag=True, help="treat warnings as errors")
@click.option("--request-id", metavar="ID", help="make repeated submits safe: one job per ID")
@common.socket_option
@common.json_option
@click.argument("script")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def submit(
    context: click.Context,
    /,
    script: str,
    args: tuple[str, ...],
    dry_run: bool,
    strict: bool,
    request_id: str | None,
    socket_path: str | None,
    as_json: bool,
    **_: Any,
) -> int:
    """Queue a job; print its id. SCRIPT - reads the script from stdin.

    Exactly one of -n, --components, --on and --total says how many processors. Options may also
    stand in the script, in `#METABROKER`, `#SBATCH` or `#PBS` lines below its first line; the
    command line wins. What follows SCRIPT is the script's own.
    """
    content, name = _read_script(script)
    options = merged(given(context), script_options(content, script))
    waits = bool(options.get("wait"))
    if dry_run and waits and "wait" in given(context):
        raise CliError("--dry-run and --wait cannot go together", "leave one of them out", USAGE)
    submission = build(options, content, name, args, request_id=request_id)
    warnings = _warned(submission, strict)
    client = common.connect(socket_path)
    if dry_run:
        return _dry_run(client, submission, as_json, warnings)
    job = client.submit(to_wire(submission))
    if not waits:
        shown = {**job, "warnings": warnings}
        _tell(job, lambda: common.print_json(shown) if as_json else print(job["job"]))
        return 0
    if not as_json:
        _tell(job, lambda: print(job["job"]))
    from metabroker.cli.wait import exit_code, tell_end, wait_for

    ended = wait_for(client, int(job["job"]), began=True)
    tell_end(ended)
    if as_json:
        common.print_json({**ended, "warnings": warnings})
    return exit_code(ended)


def _read_script(named: str) -> tuple[bytes, str]:
    """The script's bytes (one more than allowed at most) and its name; `-` reads stdin."""
    if named == "-":
        return sys.stdin.buffer.read(LARGEST_SCRIPT + 1), "stdin"
    return read_script(named)


def _tell(job: Mapping[str, Any], write: Callable[[], None]) -> None:
    """Print it. A job that is queued, and of which nobody hears, is told of where that can be."""
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, "standard output is closed")
        write()
        sys.stdout.flush()
    except OSError as error:
        number = job["job"]
        what = (
            f"job {number} is queued, but its number cannot be written: {error.strerror or error}"
        )
        raise CliError(what, f"see: metabroker show {number}") from error


def _dry_run(client: Client, submission: Submission, as_json: bool, warnings: list[str]) -> int:
    plan = client.dry_run(to_wire(submission))
    if as_json:
        common.print_json({**plan, "warnings": warnings})
        return 0
    from metabroker.cli.views import print_plan

    print_plan(plan)
    return 0


def _warned(submission: Submission, strict: bool) -> list[str]:
    """What is not wrong and most likely not meant, told on stderr; refused if `strict`."""
    found = list(_overwritten(submission))
    if found and strict:
        message, advice = found[0]
        raise CliError(message, f"{advice}, or leave --strict out", USAGE)
    for message, advice in found:
        complain(f"warning: {message}", advice)
    return [f"{message}; {advice}" for message, advice in found]


def _overwritten(submission: Submission) -> Iterator[tuple[str, str]]:
    """Components that would overwrite each other's output."""
    if submission.processors.single is not None:
        return
    for option, pattern in (("-o", submission.output), ("-e", submission.error)):
        if pattern is not None and not names_component(pattern):
            yield (
                f"every component writes {option} {pattern}",
                "put %c into it, unless the clusters share no files",
            )
