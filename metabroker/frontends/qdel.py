"""`qdel`: ends jobs."""

from __future__ import annotations

import sys

from metabroker.api.client import ClientError
from metabroker.frontends import pbs
from metabroker.frontends.link import client
from metabroker.frontends.main import FrontEndError
from metabroker.frontends.records import records
from metabroker.submission.directives.getopt import scan
from metabroker.submission.directives.rows import Command, row
from metabroker.submission.directives.words import Word

_ROWS = (row("W =", Command()), row("x", Command()))


def run(words: list[str]) -> int:
    """The command. Raises `FrontEndError`, `SubmissionError`, `ClientError`."""
    given, rest = scan([Word(word) for word in words], _ROWS, "qdel", permute=True)
    for option in given:
        if option.name == "x":
            raise FrontEndError("-x: what has ended stays in the history", "leave it out", 2)
    if not rest:
        raise FrontEndError("usage: qdel [-W force] job_identifier...", code=2)
    asked = [pbs.asked(word.text) for word in rest]
    way = client()
    known = records(way, jobs=[each.number for each in asked])
    code = 0
    for each in asked:
        number = pbs.id_of(each, [job.id for job in known if job.json.get("array")])
        jobs = [job for job in known if each.means(job)]
        if not jobs:
            code = _told(number, "Unknown Job Id", pbs.UNKNOWN)
        elif all(job.ended for job in jobs):
            code = _told(number, "Job has finished", pbs.FINISHED)
        else:
            try:
                way.change(each.asked, "cancel")
            except ClientError as error:
                if error.status == 403:
                    code = _told(number, "Unauthorized Request ", pbs.DENIED)
                elif error.status == 409:
                    code = _told(number, "Job has finished", pbs.FINISHED)
                else:
                    raise
    return code


def _told(number: str, what: str, code: int) -> int:
    print(f"qdel: {what} {number}", file=sys.stderr)
    return code
