"""What jobs wait for, as Slurm's commands show it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from metabroker.api.client import Client
from metabroker.frontends.records import Record, records
from metabroker.submission.dependency import Dependency, Term, When, parse_dependency


def wanted(job: Record) -> Dependency | None:
    """What a job waits for, or waited for in vain; None: for no other job, any more."""
    waits = job.json.get("dependency")
    told = waits and (job.pending or waits["never"])
    return parse_dependency(waits["on"]) if waits and told else None


def with_others(client: Client, jobs: Sequence[Record]) -> list[Record]:
    """The same, with those that they wait for. Raises `ClientError`."""
    named_by = [(job, each) for job in jobs if (each := wanted(job)) is not None]
    named = sorted(frozenset[int]().union(*(each.jobs for _, each in named_by)))
    others: dict[int, Record] = {}
    for user in {job.user for job, each in named_by if Term(When.SINGLETON) in each.terms}:
        others |= {job.id: job for job in records(client, user=user, since=time.time())}
    if named:
        others |= {job.id: job for job in records(client, jobs=named)}
    return [replace(job, others=others) for job in jobs]


def told(job: Record) -> str:
    """What of it is not so yet: `afterok:12(unfulfilled)`."""
    waits = wanted(job)
    if waits is None:
        return "(null)"
    words = [f"{_shown(job, term)}({word})" for term in waits.terms if (word := _still(job, term))]
    return ("?" if waits.either else ",").join(words) or "(null)"


def _shown(job: Record, term: Term) -> str:
    """Of an array `12_*`."""
    other = job.others.get(term.job)
    if term.when is When.CORRESPONDING and other is not None and other.json.get("array"):
        return f"{term.when.value}:{term.job}_*"
    if term.task >= 0 or other is None or not other.json.get("array"):
        return str(term)
    return str(term).replace(f":{term.job}", f":{term.job}_*", 1)


def _still(job: Record, term: Term) -> str:
    """Empty: it is so."""
    other = _other(job, term)
    if term.when is When.SINGLETON:
        return "unfulfilled" if any(_before(job, each) for each in job.others.values()) else ""
    if other is None:
        return ""
    if term.when is When.AFTER and not other.pending:
        since = other.started or other.now
        return "unfulfilled" if since + 60 * term.minutes > other.now else ""
    if not other.ended:
        return "unfulfilled"
    well = other.state == "COMPLETED"
    return "" if term.when is When.ANY or well is not (term.when is When.NOT_OK) else "failed"


def _other(job: Record, term: Term) -> Record | None:
    """Whom it waits for; of a task that is no job yet, or never was: its array."""
    array = job.others.get(term.job)
    if term.task < 0:
        return array
    tasks = (each for each in job.others.values() if each.json.get("array_job") == term.job)
    return next((each for each in tasks if each.json["array_task"] == term.task), array)


def _before(job: Record, other: Record) -> bool:
    """Whether it is an earlier job of the same name, or one that runs."""
    same = (other.user, other.name) == (job.user, job.name) and other.id != job.id
    return same and not other.ended and (other.id < job.id or other.state == "RUNNING")
