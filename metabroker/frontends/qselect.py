"""`qselect`: the ids of jobs, chosen by what they are, one on each line."""

from __future__ import annotations

import time

from metabroker.frontends import pbs
from metabroker.frontends.link import client
from metabroker.frontends.main import FrontEndError, refuse
from metabroker.frontends.records import Record, in_a_partition, records, whose
from metabroker.submission.directives.getopt import Given, scan
from metabroker.submission.directives.rows import Command, row
from metabroker.submission.directives.words import Word

_ROWS = tuple(
    row(called, Command())
    for called in ("a =", "A =", "c =", "h =", "H", "J", "l =", "N =", "p =", "P =", "q =", "r =",
                   "s =", "t =", "T", "u =", "x")
)  # fmt: skip
_REFUSED = {
    **dict.fromkeys("acpr", "jobs are not chosen by it"),
    "h": "jobs are not chosen by their holds: write -s H",
    "l": "jobs are not chosen by their resources",
    "t": "jobs are not chosen by times",
}
_STATES = frozenset("BEFHMQRSTUWX")


def run(words: list[str]) -> int:
    """The command. Raises `FrontEndError`, `SubmissionError`, `ClientError`."""
    given, rest = scan([Word(word) for word in words], _ROWS, "qselect", permute=True)
    options = {each.name: each for each in given}
    refuse(options, _REFUSED)
    if rest:
        raise FrontEndError("usage: qselect [-A account] [-J] [-N name] [-P project] [-q queue] "
                            "[-s states] [-T] [-u users] [-x] [-H]", code=2)  # fmt: skip
    wanted = _value(options, "s")
    if wanted is not None and not (wanted and _STATES.issuperset(wanted)):
        raise FrontEndError(f"illegal -s value: {ascii(wanted)[1:-1]:.20}", code=2)
    users = pbs.users_of(_value(options, "u") or "") if "u" in options else None
    over = "x" in options or "H" in options
    since = time.time() - (pbs.KEPT if over or "T" in options else 0)
    found = pbs.begun(records(client(), user=whose(users), since=since))
    for job in pbs.with_tasks(found) if "T" in options else found:
        if (users is None or job.user in users) and _chosen(job, options, over=over):
            print(pbs.shown_id(job))
    return 0


def _value(options: dict[str, Given], name: str) -> str | None:
    return (options[name].value or "") if name in options else None


def _chosen(job: Record, options: dict[str, Given], *, over: bool) -> bool:
    if (job.ended and not over) or ("H" in options and not job.ended):
        return False
    array, task = bool(job.json.get("array")), job.json.get("array_job") is not None
    if "J" in options and not array and not task:
        return False
    if array if "T" in options else task:  # an array, or its tasks in its place
        return False
    states = _value(options, "s")
    if states is not None and pbs.state(job) not in states:
        return False
    if "q" in options and not in_a_partition(job, _value(options, "q")):
        return False
    own = {
        "N": job.name,
        "A": job.asked("account"),
        "P": job.asked("project") or pbs.NO_PROJECT,
    }
    return all(own[name] == _value(options, name) for name in own if name in options)
