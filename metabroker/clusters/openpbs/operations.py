"""What the broker asks of an OpenPBS cluster, as operations without I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from metabroker.broker.observation import NativeJob, NativeState
from metabroker.broker.states import Cause
from metabroker.broker.tokens import NativeId
from metabroker.clusters import cleanup
from metabroker.clusters.command_errors import Garbled
from metabroker.clusters.duplicates import liveliest_first
from metabroker.clusters.operation import Operation, command
from metabroker.clusters.port import (
    ClusterRefusal,
    ComponentRequest,
    NativeSubmission,
    UnknownOutcome,
    Writer,
)
from metabroker.clusters.renamed import is_of
from metabroker.submission.chunks import Unlayable

from . import answers, commands, parsing, reservations
from .answers import failure
from .asking import told
from .commands import PbsIdentity
from .doubts import Doubts
from .own_reservations import OwnReservations
from .parsing import PbsJob, PbsNode, QueueLine
from .recent_jobs import HISTORY, Known
from .snapshot import PbsPoll, native_job
from .states import is_going

_DEFAULT_PORT = "15001"
_GONE = frozenset({0, answers.UNKNOWN_JOB, answers.FINISHED})


# --- looking ----------------------------------------------------------------------------------


LOOK = 5
"""Commands of a poll, at most, as a rule."""


def look(
    who: PbsIdentity,
    taken_at: float,
    known_version: str,
    accounts: Sequence[str] = (),
    known: Known | None = None,
    doubts: Doubts | None = None,
) -> Operation[PbsPoll]:
    """One look: five commands at most, as a rule, where there are reservations; now and then the
    server is asked for all jobs that have ended, and it is one more, as it is with the other form
    of the nodes, and for each reservation that may be somebody's forgery, of which it asks for some
    (see `doubts`). `accounts`: whose jobs are looked at, if they are not all the account's own;
    `known`: which jobs there were; `doubts`: what is known of reservations.

    Jobs and reservations are asked for before nodes: a job that ends in between, or a reservation
    that begins, is then seen as held, not as idle.
    """
    known = known or Known()
    count = 3
    version = known_version
    if not version:
        count += 1
        version = yield from release()
    users = ",".join(accounts) or who.user
    live = parsing.ids((yield from told(commands.select_live(users))).stdout)
    if known.incomplete(taken_at):
        count += 1
        done = yield from told(commands.select_ended(users, taken_at - HISTORY))
        known.complete(
            taken_at, parsing.ids(done.stdout), history=parsing.NO_HISTORY not in done.stderr
        )
    found = known.look(taken_at, live)
    jobs: list[PbsJob] = []
    if found:
        count += 1
        jobs = yield from _jobs(found, history=known.history)
    seen = yield from reservations.look(doubts or Doubts(who.owner))
    nodes, asked = yield from _nodes()
    count += asked - 1 + seen.asked - 1
    return PbsPoll(taken_at, nodes, jobs, seen.found, version, count, reserved=seen.known)


def waiting_in(queue: str | None) -> Operation[list[str]]:
    """The ids of the jobs that wait for processors in a queue, in the order of their submission."""
    return parsing.ids((yield from told(commands.select_waiting(queue))).stdout)


def queue_lines() -> Operation[list[QueueLine]]:
    """The jobs of anybody that wait or run, in the order of their submission."""
    return parsing.queue_lines((yield from told(commands.show_queue_lines())).stdout)


def jobs_of_anybody(numbers: Sequence[str]) -> Operation[list[PbsJob]]:
    """Of the jobs of these numbers those that are not over."""
    done = yield from told(commands.show_jobs(numbers, history=False), also=_GONE)
    return [job for job in parsing.jobs(done.stdout) if parsing.number(job.id) in numbers]


def release() -> Operation[str]:
    """The release of PBS.

    Raises:
        ClusterRefusal: this is something else.
    """
    done = yield from command(commands.version())
    version = parsing.version(done.stdout)
    if version is None:
        raise answers.not_pbs(done)
    return version


def identify() -> Operation[str]:
    """The server's host and port: `pbs1.example.org:15001`.

    Raises:
        ClusterRefusal, UnknownOutcome: it does not say.
    """
    done = yield from told(commands.show_server())
    try:
        servers = json.loads(done.stdout)["Server"]
        host = next(str(has.get("server_host", name)) for name, has in servers.items())
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration) as error:
        raise UnknownOutcome("qstat -B: it names no server") from error
    file = yield from command(commands.show_clients_file())
    port = re.search(r"^\s*PBS_BATCH_SERVICE_PORT=(\d+)", file.stdout, re.MULTILINE)
    return f"{host}:{port[1] if port else _DEFAULT_PORT}"


def _jobs(ids: Sequence[str], *, history: bool) -> Operation[list[PbsJob]]:
    """The jobs that are still there of those that were a moment ago."""
    done = yield from told(commands.show_jobs(ids, history=history), also=_GONE)
    return [job for job in parsing.jobs(done.stdout) if job.id in ids]


def _nodes() -> Operation[tuple[list[PbsNode], int]]:
    """The vnodes, and how many commands that took: what one comment can make invalid is asked
    for in the other form."""
    done = yield from told(commands.list_nodes("json"))
    try:
        return parsing.nodes(done.stdout), 1
    except Garbled:
        return parsing.nodes((yield from told(commands.list_nodes("dsv"))).stdout), 2


def find(
    who: PbsIdentity,
    token: str,
    native: NativeId | None = None,
    writer: Writer | None = None,
    seen: Sequence[NativeJob] = (),
) -> Operation[list[NativeJob]]:
    """The jobs of one token, the liveliest first, then the latest; ended ones as long as the
    server remembers them. `native`: its own, `writer`: its record's, `seen`: those that had its
    name before, each of which may have been renamed.
    """
    done = yield from told(commands.select_all(who.user, token))
    history = parsing.NO_HISTORY not in done.stderr
    if not history:
        done = yield from told(commands.select_live(who.user, token))
    ids = parsing.ids(done.stdout)
    known = [NativeId(job.native_id, job.submit_time, listed=True) for job in seen]
    known += [native] if native is not None else []
    ids += sorted({each.id for each in known}.difference(ids))
    if writer is not None and writer.native_id not in ids:
        # An id can name another server too, which a record must not lead to.
        live = parsing.ids((yield from told(commands.select_live(who.user))).stdout)
        ids += [writer.native_id] if writer.native_id in live else []
    jobs = (yield from _jobs(ids, history=history)) if ids else []
    mine = [(job.name, native_job(job)) for job in jobs if job.owner == who.user]
    return liveliest_first(
        job for name, job in mine if name == token or is_of(token, name, job, known, writer)
    )


def find_by_id(who: PbsIdentity, native_id: str) -> Operation[list[tuple[str, NativeJob]]]:
    """The account's job that has this id now, and its name."""
    jobs = yield from _jobs([native_id], history=True)
    return [(job.name, native_job(job)) for job in jobs if job.owner == who.user]


# --- submitting -------------------------------------------------------------------------------


def submit(
    who: PbsIdentity, request: ComponentRequest, script: bytes, own: OwnReservations
) -> Operation[NativeSubmission]:
    """Submit; where that may have been done before, look for the token first and adopt. `own`:
    what is known of the reservations."""
    if request.again:
        known = yield from find(who, request.token)
        if known:
            ended = known[0].state is NativeState.ENDED
            return NativeSubmission(known[0].native_id, known[0].submit_time, ended)
    if not request.reservation:
        return (yield from _submit_to(who, request, script, who.queue))
    reserved = own.of(request.token)
    if reserved is not None:
        try:
            return (yield from _submit_to(who, request, script, reserved.queue))
        except ClusterRefusal as refusal:
            if refusal.cause is not Cause.LOST:
                raise
            own.forget(request.token)
    mine = yield from reservations.of_token(request.token, own.doubts)
    if not mine:
        raise ClusterRefusal(Cause.LOST, "its reservation is gone")
    return (yield from _submit_to(who, request, script, mine[0].queue))


def _submit_to(
    who: PbsIdentity, request: ComponentRequest, script: bytes, queue: str | None
) -> Operation[NativeSubmission]:
    try:
        submitting = commands.submit(who, request, script, queue)
    except Unlayable as error:  # it gives other nodes than when the job was taken
        raise ClusterRefusal(Cause.INVALID, str(error)) from error
    done = yield from command(submitting)
    if done.exit_status != 0:
        own_options = bool(request.native) or request.shape.beyond_processors
        raise answers.of_submission(done, own_options=own_options, reserved=request.reservation)
    return NativeSubmission(parsing.job_id(done.stdout))


# --- cleaning ---------------------------------------------------------------------------------


@dataclass(slots=True)
class Ending:
    """What was seen of a token while it was cleaned away. `cancelled`: its job was ended for that;
    `told`: that was a moment ago, and it is not told again, since each time PBS gives it as long
    again before it is killed; `taken`: PBS has not answered that it was ending anyhow, and its end
    was not `recorded` before; `reserved`: whether its reservation was still whole when it was to be
    deleted."""

    cancelled: bool = False
    reserved: bool | None = None
    told: bool = False
    taken: bool = False
    recorded: bool = False
    last: NativeJob | None = None

    def words(self, cause: Cause | None) -> str:
        """Why it ended, where the broker has not ended it and its script neither."""
        if cause is None or self.cancelled:
            return ""
        if cause is Cause.KILLED and self.reserved is False:
            return "its reservation was deleted in the cluster, and its job with it"
        over = self.last is not None and self.last.state is NativeState.ENDED
        return self.last.reason if over and self.last is not None else ""


def clean(
    who: PbsIdentity,
    token: str,
    *,
    reservation: bool,
    seen: Ending | None = None,
    native: NativeId | None = None,
    writer: Writer | None = None,
    doubts: Doubts | None = None,
) -> Operation[NativeJob | None]:
    """Leave nothing of the token, also if its job `native`, or the `writer` of its record, was
    renamed; answers its job as it was seen last. `seen` is filled in; `doubts`: what is known of
    reservations.

    Raises:
        UnknownOutcome: not yet.
    """
    seen = seen or Ending()

    def cancel(jobs: Sequence[NativeJob]) -> Operation[None]:
        seen.cancelled = True
        if not seen.told:
            before = seen.taken
            seen.taken = before or not seen.recorded  # also if the answer is lost
            if not (yield from _cancel(who, jobs)):
                seen.taken = before
            seen.told = True

    delete = None
    if reservation:
        delete = partial(delete_reservations, who, token, doubts or Doubts(who.owner), seen)

    def looking(before: Sequence[NativeJob]) -> Operation[list[NativeJob]]:
        return find(who, token, native, writer, before)

    return (yield from cleanup.clean(token, looking, cancel, delete))


def _cancel(who: PbsIdentity, jobs: Sequence[NativeJob]) -> Operation[bool]:
    """Whether one of them was still to be ended."""
    live = [job.native_id for job in jobs if job.state is not NativeState.ENDED]
    done = yield from command(commands.cancel(live, who.acting_for))
    if done.exit_status not in _GONE | answers.ENDING:
        raise UnknownOutcome(failure(done, "qdel").detail)
    return done.exit_status == 0


def delete_reservations(
    who: PbsIdentity, token: str, doubts: Doubts, seen: Ending | None = None
) -> Operation[bool]:
    """Delete; False while one is still there."""
    mine = yield from reservations.of_token(token, doubts)
    if seen is not None and seen.reserved is None:
        seen.reserved = any(not is_going(r.state) for r in mine)
    if not mine:
        return True
    yield from delete([r.id for r in mine])
    return not (yield from reservations.of_token(token, doubts))


def delete(ids: Sequence[str]) -> Operation[None]:
    """Delete reservations by their ids; fine if they are gone."""
    done = yield from command(commands.delete_reservations(ids))
    if done.exit_status not in {0, answers.UNKNOWN_RESERVATION} | answers.ENDING:
        raise UnknownOutcome(failure(done, "pbs_rdel").detail)


def time_there() -> Operation[int]:
    """What time it is where the commands run, in Unix seconds."""
    done = yield from told(commands.tell_time())
    return parsing.time_told(done.stdout)
