"""What `qdel`, `qhold` and `qrls` have in common: jobs are changed one by one, and the exit code is
that of the last one that could not be."""

from __future__ import annotations

import sys

from metabroker.api.client import Client, ClientError
from metabroker.frontends import pbs
from metabroker.frontends.arrays import JobId
from metabroker.frontends.main import FrontEndError
from metabroker.frontends.records import records
from metabroker.submission.directives.words import Word

_HOLDS = frozenset("unsop")


def hold_list(text: str | None) -> str:
    """What `-h` says: which holds are meant. Raises `FrontEndError`."""
    letters = text or ""
    if not letters or not _HOLDS.issuperset(letters):
        raise FrontEndError(f"illegal -h value: {ascii(letters)[1:-1]:.20}", "write -h u", 2)
    if letters not in ("u", "n"):
        raise FrontEndError("-h: jobs have holds of their users alone", "write -h u", 2)
    return letters


def change_each(way: Client, command: str, words: list[Word], verb: str) -> int:
    """The exit code. Raises `FrontEndError`, `ClientError`."""
    if not words:
        raise FrontEndError(f"usage: {command} [options] job_identifier...", code=2)
    asked = [pbs.asked(word.text) for word in words]
    known = records(way, jobs=[each.number for each in asked])
    code = 0
    for each in asked:
        name = pbs.id_of(each, [job.id for job in known if job.json.get("array")])
        jobs = [job for job in known if each.means(job)]
        over = f"Job has finished {name}" if verb == "cancel" else "Job has finished"
        if not jobs:
            code = _told(command, f"Unknown Job Id {name}", pbs.UNKNOWN)
        elif all(job.ended for job in jobs):
            code = _told(command, over, pbs.FINISHED)
        else:
            code = _changed(way, command, each, name, verb, over) or code
    return code


def _changed(way: Client, command: str, job: JobId, name: str, verb: str, over: str) -> int:
    """0: it was."""
    try:
        way.change(job.asked, verb)
    except ClientError as error:
        if error.status == 403:
            return _told(command, f"Unauthorized Request  {name}", pbs.DENIED)
        if error.status != 409:
            raise
        if verb == "cancel":  # it has ended meanwhile
            return _told(command, over, pbs.FINISHED)
        return _told(command, f"Request invalid for state of job {name}", pbs.BAD_STATE)
    return 0


def _told(command: str, what: str, code: int) -> int:
    print(f"{command}: {what}", file=sys.stderr)
    return code
