"""What jobs wait for, as Slurm's commands show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from metabroker.api.client import Client
from metabroker.frontends.records import Record, records
from metabroker.submission.dependency import Dependency, Term, When, parse_dependency

_AT_ONCE = 500  # jobs that the daemon is asked about


def wanted(job: Record) -> Dependency | None:
    """What a job waits for; None: for no other job, any more."""
    waits = job.json.get("dependency") if job.pending else None
    return parse_dependency(waits["on"]) if waits else None


def with_others(client: Client, jobs: Sequence[Record]) -> list[Record]:
    """The same, with those that they wait for. Raises `ClientError`."""
    dependencies = filter(None, map(wanted, jobs))
    named = sorted(frozenset[int]().union(*(each.jobs for each in dependencies)))
    others: dict[int, Record] = {}
    for first in range(0, len(named), _AT_ONCE):
        found = records(client, jobs=named[first : first + _AT_ONCE])
        others |= {job.id: job for job in found}
    return [replace(job, others=others) for job in jobs]


def told(job: Record) -> str:
    """What of it is not so yet: `afterok:12(unfulfilled)`."""
    waits = wanted(job)
    if waits is None:
        return "(null)"
    words = [f"{term}({word})" for term in waits.terms if (word := _still(job, term))]
    return ("?" if waits.either else ",").join(words) or "(null)"


def _still(job: Record, term: Term) -> str:
    """Empty: it is so."""
    other = job.others.get(term.job)
    if term.when is When.SINGLETON:
        return "unfulfilled"
    if other is None or (not other.pending and term.when is When.AFTER):
        return ""
    if not other.ended:
        return "unfulfilled"
    well = other.state == "COMPLETED"
    return "" if term.when is When.ANY or well is not (term.when is When.NOT_OK) else "failed"
