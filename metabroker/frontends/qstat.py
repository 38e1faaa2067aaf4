"""`qstat`: jobs, by their ids or of a queue, in the forms of PBS; and the server (`-B`). A job or a
queue that is not known is an error, never silence."""

from __future__ import annotations

import sys
import time

from metabroker import __version__
from metabroker.api.client import Client
from metabroker.frontends import pbs
from metabroker.frontends.arrays import JobId
from metabroker.frontends.destinations import Destination, servers
from metabroker.frontends.link import client
from metabroker.frontends.main import FrontEndError, refuse
from metabroker.frontends.pbs_tables import as_table, as_wide_table
from metabroker.frontends.records import Record, records, whose
from metabroker.submission.directives.getopt import Given, scan
from metabroker.submission.directives.rows import Command, row
from metabroker.submission.directives.words import Word

_ROWS = tuple(
    row(called, Command())
    for called in ("version", "a", "B", "D =", "E", "f", "F =", "H", "i", "J", "n", "p", "Q", "r",
                   "s", "t", "u =", "w", "W =", "x", "1", "T", "G", "M")
)  # fmt: skip
_REFUSED = {
    "Q": "queues are not shown: clusters have their own",
    "J": "jobs are not chosen by what they are",
    "W": "sites are not known",
    **dict.fromkeys("inrspTGM", "that form is not printed here: ask with -f"),
}
_FULL_ALONE = dict.fromkeys("w1", "that form is not printed here without -f")


def run(words: list[str]) -> int:
    """The command. Raises `FrontEndError`, `SubmissionError`, `ClientError`."""
    given, rest = scan([Word(word) for word in words], _ROWS, "qstat", permute=True)
    options = {each.name: each for each in given}
    if "version" in options:
        print(f"pbs_version = metabroker-{__version__}")
        return 0
    refuse(options, _REFUSED)
    if "f" not in options:
        refuse(options, _FULL_ALONE)
    form, way, operands = _form(options), client(), [word.text for word in rest]
    if "B" in options:
        if form == "dsv":
            raise FrontEndError("conflicting options.", "write -B -f, or -B -f -F json")
        return servers(way, operands, form if "f" in options else None)
    history = "x" in options or "H" in options
    wanted = [Destination.of(word) or pbs.asked(word) for word in operands]
    jobs = [each for each in wanted if isinstance(each, JobId)]
    users = pbs.users_of(options["u"].value or "") if "u" in options else None
    tasks = [each for each in jobs if each.tasks is not None]
    expanded = "t" in options or bool(tasks)
    # Of an array that has not ended its ended tasks are told, too.
    since = time.time() - (pbs.KEPT if history or expanded else 0)
    found = pbs.begun(_asked(way, jobs, whose(users), since, every=len(jobs) < len(wanted)))
    listed = pbs.with_tasks(found) if expanded else found
    shown = [
        job
        for job in listed
        if (history or pbs.state(job) != "F")
        and ("H" not in options or job.ended)
        and (users is None or job.user in users)
        and (not wanted or any(each.means(job) for each in wanted))
        and (
            "t" in options or job.json.get("array_job") is None or any(t.means(job) for t in tasks)
        )
        and ("t" in options or not job.json.get("array") or not _tasks_alone(job, wanted))
    ]
    if wanted:
        shown.sort(key=lambda job: next(n for n, each in enumerate(wanted) if each.means(job)))
    code = _missing(way, wanted, listed, history)
    _print(shown, options, form)
    return code


def _asked(
    way: Client, jobs: list[JobId], user: str | None, since: float, *, every: bool
) -> list[Record]:
    """These jobs; and `every` one, as where none is named."""
    numbers = [each.number for each in jobs]
    found = records(way, jobs=numbers, user=user, since=since) if numbers else []
    if every or not numbers:
        found += records(way, user=user, since=since)
    return sorted({job.id: job for job in found}.values(), key=lambda job: job.id)


def _tasks_alone(array: Record, wanted: list[JobId | Destination]) -> bool:
    """Whether tasks of it are asked for, and not the array."""
    naming = [each for each in wanted if each.means(array)]
    return bool(naming) and all(isinstance(each, JobId) and each.tasks for each in naming)


def _missing(
    way: Client, wanted: list[JobId | Destination], found: list[Record], history: bool
) -> int:
    """Told on stderr; the exit code is that of the last one."""
    arrays = [job.id for job in found if job.json.get("array")]
    code = 0
    for each in wanted:
        if isinstance(each, Destination):
            code = each.missing(way, found) or code
            continue
        meant = [job for job in found if each.means(job)]
        if not meant:
            print(f"qstat: Unknown Job Id {pbs.id_of(each, arrays)}", file=sys.stderr)
            code = pbs.UNKNOWN
        elif all(job.ended for job in meant) and not history:
            told = "Job has finished, use -x or -H to obtain historical job information"
            print(f"qstat: {pbs.id_of(each, arrays)} {told}", file=sys.stderr)
            code = pbs.FINISHED
    return code


def _form(options: dict[str, Given]) -> str:
    form = (options["F"].value or "") if "F" in options else "text"
    if form not in ("text", "json", "dsv") or (form != "text" and "f" not in options):
        raise FrontEndError("conflicting options.", "write -f -F json, or -f -F dsv")
    return form


def _print(jobs: list[Record], options: dict[str, Given], form: str) -> None:
    if form == "json":
        print(pbs.as_json(jobs))
    elif form == "dsv":
        delimiter = (options["D"].value if "D" in options else None) or "|"
        for job in jobs:
            print(pbs.as_separated(job, delimiter))
    elif "f" in options:
        for job in jobs:
            print(pbs.as_text(job, wide=bool({"w", "1"} & options.keys())))
    else:
        wide = options.keys() & {"a", "H", "u"}
        for line in (as_wide_table if wide else as_table)(jobs):
            print(line)
