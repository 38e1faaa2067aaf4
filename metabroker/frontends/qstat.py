"""`qstat`: jobs, in the forms of PBS. A job that is not known is an error, never silence."""

from __future__ import annotations

import sys
import time

from metabroker import __version__
from metabroker.frontends import pbs
from metabroker.frontends.arrays import JobId
from metabroker.frontends.link import client
from metabroker.frontends.main import FrontEndError, refuse
from metabroker.frontends.pbs_tables import as_table, as_wide_table
from metabroker.frontends.records import Record, records, user_names, whose
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
    "B": "servers are not shown: clusters have their own",
    "J": "jobs are not chosen by what they are",
    "W": "sites are not known",
    **dict.fromkeys("inrspTGMw1", "that form is not printed here: ask with -f"),
}


def run(words: list[str]) -> int:
    """The command. Raises `FrontEndError`, `SubmissionError`, `ClientError`."""
    given, rest = scan([Word(word) for word in words], _ROWS, "qstat", permute=True)
    options = {each.name: each for each in given}
    if "version" in options:
        print(f"pbs_version = metabroker-{__version__}")
        return 0
    refuse(options, _REFUSED)
    history = "x" in options or "H" in options
    wanted = [pbs.asked(word.text) for word in rest]
    users = user_names(options["u"].value or "") if "u" in options else None
    tasks = [each for each in wanted if each.tasks is not None]
    expanded = "t" in options or bool(tasks)
    # Of an array that has not ended its ended tasks are told, too.
    since = time.time() - (pbs.KEPT if history or expanded else 0)
    numbers = [each.number for each in wanted]
    found = pbs.begun(records(client(), jobs=numbers or None, user=whose(users), since=since))
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
    code = _missing(wanted, listed, history)
    _print(shown, options)
    return code


def _tasks_alone(array: Record, wanted: list[JobId]) -> bool:
    """Whether tasks of it are asked for, and not the array."""
    return any(each.tasks is not None and each.number == array.id for each in wanted) and not any(
        each.tasks is None and each.number == array.id for each in wanted
    )


def _missing(wanted: list[JobId], found: list[Record], history: bool) -> int:
    """Told on stderr; the exit code is that of the last one."""
    arrays = [job.id for job in found if job.json.get("array")]
    code = 0
    for each in wanted:
        meant = [job for job in found if each.means(job)]
        if not meant:
            print(f"qstat: Unknown Job Id {pbs.id_of(each, arrays)}", file=sys.stderr)
            code = pbs.UNKNOWN
        elif all(job.ended for job in meant) and not history:
            told = "Job has finished, use -x or -H to obtain historical job information"
            print(f"qstat: {pbs.id_of(each, arrays)} {told}", file=sys.stderr)
            code = pbs.FINISHED
    return code


def _print(jobs: list[Record], options: dict[str, Given]) -> None:
    form = options["F"].value if "F" in options else "text"
    if form not in ("text", "json", "dsv") or (form != "text" and "f" not in options):
        raise FrontEndError("conflicting options.", "write -f -F json, or -f -F dsv")
    if form == "json":
        print(pbs.as_json(jobs))
    elif form == "dsv":
        delimiter = (options["D"].value if "D" in options else None) or "|"
        for job in jobs:
            print(pbs.as_separated(job, delimiter))
    elif "f" in options:
        for job in jobs:
            print(pbs.as_text(job))
    else:
        wide = options.keys() & {"a", "H", "u"}
        for line in (as_wide_table if wide else as_table)(jobs):
            print(line)
