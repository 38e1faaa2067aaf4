"""`metabroker submit`."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from metabroker.api.client import Client, ClientError, exit_code_of, new_id
from metabroker.cli import common
from metabroker.cli.errors import USAGE, CliError, complain
from metabroker.cli.options import build, given, job_options, read_script, script_options
from metabroker.submission.build import merged
from metabroker.submission.checks import LARGEST_SCRIPT
from metabroker.submission.model import Submission
from metabroker.submission.optional import id_of, without_optional
from metabroker.submission.patterns import names_component, names_job
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

    Exactly one of -n, --components, --on and --total says how many processors. A component with +
    is optional: it is a job of its own, that joins the job once that runs. Options may also
    stand in the script, in `#METABROKER`, `#SBATCH` or `#PBS` lines below its first line; the
    command line wins. What follows SCRIPT is the script's own.
    """
    content, name = _read_script(script)
    options = merged(given(context), script_options(content, script))
    options, optional = without_optional(options)
    if optional and request_id is None:
        request_id = new_id()
    waits = bool(options.get("wait"))
    if dry_run and waits and "wait" in given(context):
        raise CliError("--dry-run and --wait cannot go together", "leave one of them out", USAGE)
    submission = build(options, content, name, args, request_id=request_id)
    others = [  # checked before anything is made; which job they join is known when that is
        build({**each, "join": 1}, content, name, args, request_id=id_of(request_id or "", number))
        for number, each in enumerate(optional, start=1)
    ]
    warnings = _warned(submission, strict, optional=bool(others))
    client = common.connect(socket_path)
    if dry_run:
        return _dry_run(client, submission, as_json, warnings)
    job = client.submit(to_wire(submission))
    told: dict[str, Any] = {"warnings": warnings}
    if not as_json:
        _tell(job, lambda: print(job["job"]))
    if others:
        joining, refused = _submit_optional(client, int(job["job"]), others)
        told["joining"] = joining
        if refused is not None:
            if as_json:
                _tell(job, lambda: common.print_json({**job, **told}))
            raise refused
        if not as_json:
            numbers = ", ".join(map(str, joining))
            complain(
                f"the optional components of job {job['job']} are the jobs {numbers}",
                "`metabroker cancel` releases one",
            )
    if not waits:
        if as_json:
            _tell(job, lambda: common.print_json({**job, **told}))
        return 0
    from metabroker.cli.wait import tell_end, wait_for

    ended = wait_for(client, int(job["job"]), began=True)
    tell_end(ended)
    if as_json:
        common.print_json({**ended, **told})
    return exit_code_of(ended)


def _submit_optional(
    client: Client, job: int, others: Sequence[Submission]
) -> tuple[list[int], CliError | None]:
    """The numbers of the jobs that join this one, as far as they are made, and what was wrong with
    the next one."""
    made: list[int] = []
    for number, each in enumerate(others, start=1):
        try:
            made.append(int(client.submit(to_wire(replace(each, joins=job)))["job"]))
        except ClientError as error:
            what = f"job {job} is queued, but of its {len(others)} optional components not number "
            size = each.processors.single
            advice = f"for one that is not: metabroker submit --join {job} -n {size} ..."
            return made, CliError(f"{what}{number} and those behind: {error}", advice)
    return made, None


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


def _warned(submission: Submission, strict: bool, *, optional: bool) -> list[str]:
    """What is not wrong and most likely not meant, told on stderr; refused if `strict`."""
    found = list(_overwritten(submission, optional=optional))
    if found and strict:
        message, advice = found[0]
        raise CliError(message, f"{advice}, or leave --strict out", USAGE)
    for message, advice in found:
        complain(f"warning: {message}", advice)
    return [f"{message}; {advice}" for message, advice in found]


def _overwritten(submission: Submission, *, optional: bool) -> Iterator[tuple[str, str]]:
    """Components that would overwrite each other's output; `optional` ones are jobs of their own,
    and component 0 of these."""
    for option, pattern in (("-o", submission.output), ("-e", submission.error)):
        if pattern is not None and optional and not names_job(pattern):
            yield (
                f"every optional component writes {option} {pattern}, too",
                "put %j into it, unless the clusters share no files",
            )
        if submission.processors.single is not None:
            continue
        if pattern is not None and not names_component(pattern):
            yield (
                f"every component writes {option} {pattern}",
                "put %c into it, unless the clusters share no files",
            )
