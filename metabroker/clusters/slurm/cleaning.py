"""Cleaning a Slurm cluster of one token, as an operation without I/O.

Its jobs are cancelled by their name, since a controller may issue an id again; one that has another
name now, by its id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from metabroker.broker.observation import NativeJob, NativeState
from metabroker.broker.states import Cause
from metabroker.broker.tokens import NativeId
from metabroker.clusters import cleanup
from metabroker.clusters.duplicates import liveliest_first
from metabroker.clusters.operation import Operation, command
from metabroker.clusters.port import UnknownOutcome, Writer
from metabroker.clusters.renamed import is_of
from metabroker.clusters.transports.base import Command

from . import commands, operations
from .answers import failure
from .commands import SlurmIdentity

_SPARED = 5
"""Looks at a job whose script has ended, before it is cancelled: 1.1 s in all. Its controller hears
of the end a moment after the record of it was written."""


@dataclass(slots=True)
class Ending:
    """What was seen of a token while it was cleaned away. `recorded`: its script had ended before,
    by its record; `cancelled`: its jobs were told to end for that; `late`: the ids of those that
    its cluster has called running just before, although their script had ended."""

    recorded: bool = False
    cancelled: bool = False
    last: NativeJob | None = None
    late: frozenset[str] = frozenset()

    def cause(self, last: NativeJob) -> Cause | None:
        """Why the job ended, by its cluster's word, unless that is our own doing: its script had
        ended by itself, and nobody else had cancelled the job."""
        ours = last.word == "CANCELLED" and last.native_id in self.late
        return None if ours else last.cause

    def words(self, cause: Cause | None) -> str:
        """Why it ended, where neither the broker has ended it nor its script."""
        last = self.last
        if cause is None or last is None or last.cause in (None, Cause.EXIT):
            return ""
        if self.cancelled and last.word == "CANCELLED":
            return ""
        return f"{last.word}: {last.reason}" if last.reason else last.word


def clean(
    who: SlurmIdentity,
    token: str,
    *,
    reservation: bool,
    native: NativeId | None = None,
    writer: Writer | None = None,
    seen: Ending | None = None,
) -> Operation[NativeJob | None]:
    """Leave nothing of the token, also if its job `native`, or the `writer` of its record, was
    renamed; answers its job as it was seen last. `seen` is filled in.

    Raises:
        UnknownOutcome: not yet.
    """
    ending = seen or Ending()
    renamed: list[NativeJob] = []
    told: set[str] = set()  # ids that were cancelled as such

    def looking(seen: Sequence[NativeJob]) -> Operation[list[NativeJob]]:
        jobs = yield from operations.find(who, token)
        before = [NativeId(job.native_id, job.submit_time, listed=True) for job in seen]
        ids = {known.id for known in before} | ({native.id} if native is not None else set())
        ids |= {writer.native_id} if writer is not None else set()
        renamed.clear()
        for native_id in sorted(ids - {job.native_id for job in jobs}):
            for name, job in (yield from operations.find_by_id(who, native_id)):
                if is_of(token, name, job, (native, *before), writer):
                    renamed.append(job)
        if seen:  # all were cancelled by name: one of these may not have borne it any more
            yield from cancel_renamed()
        return liveliest_first([*jobs, *renamed])

    def cancel(jobs: Sequence[NativeJob]) -> Operation[None]:
        ending.cancelled = True
        if ending.recorded:
            ending.late |= {job.native_id for job in jobs if job.word == "RUNNING"}
        yield from _cancel(commands.cancel(who, token))
        yield from cancel_renamed()

    def cancel_renamed() -> Operation[None]:
        for job in renamed:
            if job.state is not NativeState.ENDED and job.native_id not in told:
                told.add(job.native_id)
                yield from _cancel(commands.cancel_job(who, job.native_id))

    delete = partial(operations.delete_reservation, token) if reservation else None
    spare = _SPARED if ending.recorded else 0
    return (yield from cleanup.clean(token, looking, cancel, delete, spare))


def _cancel(asked: Command) -> Operation[None]:
    done = yield from command(asked)
    # An unknown job is no error, and one that has just ended none that matters.
    if done.exit_status != 0 and "already" not in done.stderr and "Invalid job" not in done.stderr:
        raise UnknownOutcome(failure(done, "scancel").detail)
