"""What the broker asks of a Slurm cluster, as operations without I/O (see `clusters.operation`)."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
import secrets
from collections.abc import Iterator, Sequence

from metabroker.broker.observation import NativeJob, NativeState
from metabroker.broker.states import Cause
from metabroker.clusters.command_errors import after_making
from metabroker.clusters.duplicates import liveliest_first
from metabroker.clusters.operation import Operation, command
from metabroker.clusters.owners import Verified
from metabroker.clusters.port import (
    ClusterRefusal,
    ComponentRequest,
    NativeSubmission,
    ReserveRequest,
    UnknownOutcome,
)
from metabroker.clusters.transports.base import Command, Completed, first_line

from . import commands, parsing, shaped
from .answers import failure, of_submission
from .commands import SlurmIdentity
from .cores import counted, lacking, most_of_a_core
from .parsing import JobLine, NodeLine, SlurmReservation, Use, WaitingLine
from .snapshot import SlurmPoll, native_job
from .states import takes_jobs

# Of a form of CoreCnt that this release does not know.
_OTHER_FORM = re.compile("CoreCnt is no longer valid|Core count for reservation node list is not")
_MOST_LAYOUTS = 8  # how many numbers of nodes are tried for one reservation


# --- looking ----------------------------------------------------------------------------------


def look(
    who: SlurmIdentity, taken_at: float, prefix: str, version: str, verified: Verified | None = None
) -> Operation[SlurmPoll]:
    """One look: three commands, a fourth where others have reservations. `verified`: the broker's
    jobs are not all of one account, and these are its own.

    Jobs are asked for before nodes: a job that ends in between is then seen as held, not as idle.
    """
    count = 3
    if verified is None:
        jobs = parsing.jobs((yield from told(commands.list_jobs(who.user))).stdout)
    else:
        jobs = yield from _jobs_of_owners(prefix, verified)
    found = yield from all_nodes()
    shown = yield from told(commands.list_reservations())
    reservations = [counted(r, found) for r in parsing.reservations(shown.stdout)]
    foreign = [r.name for r in reservations if not r.name.startswith(prefix)]
    inside: list[Use] = []
    if foreign:
        count += 1
        used = yield from told(commands.list_jobs_in(foreign))
        inside = parsing.uses(used.stdout)
    if not version:
        count += 1
        version = (
            first_line((yield from told(commands.version())).stdout)
            .removeprefix("slurm-wlm ")
            .removeprefix("slurm ")
        )
    return SlurmPoll(taken_at, found, jobs, reservations, inside, version, count)


def all_nodes() -> Operation[list[NodeLine]]:
    """All nodes, in all partitions."""
    return parsing.nodes((yield from told(commands.list_nodes())).stdout)


def _jobs_of_owners(prefix: str, verified: Verified) -> Operation[list[JobLine]]:
    """The broker's jobs, whose owners are those that they were submitted for."""
    mark = secrets.token_hex(8)
    done = yield from command(commands.list_jobs_of(verified.owners.accounts(), mark))
    if done.exit_status != 0 and "Invalid user" in done.stderr:
        # One name that this host does not know is no reason to see nobody's jobs.
        done = yield from command(commands.list_jobs_of((), mark))
    if done.exit_status != 0:
        raise failure(done, "squeue")
    found = parsing.marked_jobs(done.stdout, mark)
    named = [line for line in found if line.name.startswith(prefix)]
    ours = verified.seen([(line.name, line.user) for line in named])
    return [x for x in found if (x.name, x.user) in ours or not x.name.startswith(prefix)]


def waiting_in(partition: str) -> Operation[list[WaitingLine]]:
    """The jobs of anybody in a partition that wait or run."""
    return parsing.waiting((yield from told(commands.list_waiting(partition))).stdout)


def time_and_identity() -> Operation[tuple[int, str]]:
    """What time the controller's clock tells, in Unix seconds, and which cluster it is."""
    done = yield from told(commands.show_settings())
    found = re.match(r"Configuration data as of (\d+)", done.stdout)
    if found is None:
        raise UnknownOutcome("scontrol show config: it does not say what time it is")
    return int(found[1]), _identity(done.stdout)


def told(asked: Command) -> Operation[Completed]:
    """A command that must succeed.

    Raises:
        ClusterRefusal, UnknownOutcome: it has not.
    """
    done = yield from command(asked)
    if done.exit_status != 0:
        raise failure(done, asked.argv[0])
    return done


def identify() -> Operation[str]:
    """ClusterName and the first controller: `delft at ctl1:6817`; the same for all who ask it.

    Raises:
        ClusterRefusal, UnknownOutcome: it does not say.
    """
    done = yield from told(commands.show_settings())
    return _identity(done.stdout)


def _identity(settings: str) -> str:
    found: list[tuple[str, str]] = re.findall(r"^(\S+)\s*= (.*)$", settings, re.MULTILINE)
    said = {key: value.strip() for key, value in found}
    name, port = said.get("ClusterName", ""), said.get("SlurmctldPort", "")
    host = said.get("SlurmctldHost[0]", said.get("SlurmctldHost", ""))
    return f"{name} at {host}:{port}" if name and host else ""


def find(who: SlurmIdentity, token: str) -> Operation[list[NativeJob]]:
    """The jobs of one token, the liveliest first, then the latest."""
    done = yield from told(commands.find_jobs(who.user, token))
    jobs = parsing.jobs(done.stdout)
    return liveliest_first(native_job(line) for line in jobs if line.name == token)


def find_by_id(who: SlurmIdentity, native_id: str) -> Operation[list[tuple[str, NativeJob]]]:
    """The account's job that has this id now, and its name."""
    if not native_id.isdigit():
        return []
    done = yield from command(commands.find_job(who.user, native_id))
    if done.exit_status != 0 and "Invalid job id" in done.stderr:
        return []
    if done.exit_status != 0:
        raise failure(done, "squeue")
    return [(line.name, native_job(line)) for line in parsing.jobs(done.stdout)]


# --- reserving --------------------------------------------------------------------------------


def reserve(
    who: SlurmIdentity,
    request: ReserveRequest,
    nodes: Sequence[NodeLine],
    version: str,
    there: float = -math.inf,
) -> Operation[None]:
    """A reservation of exactly the processors asked for, or none. `there`: the controller's time.

    No form of the command means the same in every release, and some answer "created" to something
    else: so what was made is read again and compared before it counts, and the next form tried; or
    the same one with more cores, where it is not the same how many processors each is.
    """
    if request.shape:
        yield from _reserve_shaped(who, request, nodes, version, there)
        return
    whole = request.processors // who.unit if who.unit > 1 else None
    refusal = ClusterRefusal(Cause.BUSY, "no node of the partition takes jobs")
    for count in (whole,) if whole else _forms(nodes, request, version):
        cores = None if whole else -(-request.processors // most_of_a_core(nodes))
        while True:
            said_no = yield from _make(who, request, count, cores)
            if said_no is not None:
                refusal = said_no
                break
            found = yield from after_making(_shown(request.token))
            if _holds(found, request, cores, nodes) if cores else _has(found, request, count):
                return
            yield from after_making(delete_reservation(request.token))
            refusal = ClusterRefusal(Cause.BUSY, "the reservation made was not the one asked for")
            if found is None or cores is None or found.core_count != cores:
                break
            more = lacking(found, request.processors, nodes)
            if not more:
                break
            cores += more
    raise refusal


def _make(
    who: SlurmIdentity, request: ReserveRequest, count: int | None, cores: int | None
) -> Operation[ClusterRefusal | None]:
    """Ask for it; the answer is that so much is not free, or None: one of that name is there."""
    times = commands.moment(request.start), request.until
    done = yield from command(
        commands.create_reservation(who, request.token, request.seconds, count, cores, *times)
    )
    if done.exit_status == 0 or "Duplicate reservation name" in done.stderr:
        return None
    reason = failure(done, "scontrol create reservation")
    if isinstance(reason, ClusterRefusal) and reason.cause is Cause.BUSY:
        return reason
    raise _explained(reason, who)


def _reserve_shaped(
    who: SlurmIdentity,
    request: ReserveRequest,
    nodes: Sequence[NodeLine],
    version: str,
    there: float,
) -> Operation[None]:
    """The same for tasks that need more of a node than a processor (see `shaped`)."""
    whole = who.unit > 1 or request.shape.beyond_processors
    shown = parsing.reservations((yield from told(commands.list_reservations())).stdout)
    others = [r for r in shown if r.name != request.token]
    if len(others) < len(shown):  # it was made before, and nobody knows how
        yield from after_making(delete_reservation(request.token))
    # A matter of its tasks: other jobs may find as many processors free.
    refusal = ClusterRefusal(Cause.OWN, "no nodes are idle that have room for its tasks")
    begins = there if request.start is None else request.start
    held = shaped.kept(others, nodes, (begins, begins + request.seconds))
    for plan in shaped.layouts(nodes, held, request, whole=whole):
        for cores in plan.forms(version):
            done = yield from command(
                commands.reserve_nodes(who, request.token, request.seconds, plan.nodes, cores)
            )
            if done.exit_status == 0 or not _OTHER_FORM.search(done.stderr):
                break
        if done.exit_status != 0 and "Duplicate reservation name" not in done.stderr:
            reason = failure(done, "scontrol create reservation")
            if not isinstance(reason, ClusterRefusal) or reason.cause is not Cause.BUSY:
                raise _explained(reason, who)
            refusal = ClusterRefusal(Cause.OWN, reason.detail)
        elif (yield from after_making(_is_laid_out(request, plan, nodes))):
            return
        else:
            yield from after_making(delete_reservation(request.token))
            refusal = ClusterRefusal(Cause.OWN, "the reservation made was not the one asked for")
    raise refusal


def _is_laid_out(
    request: ReserveRequest, plan: shaped.Layout, nodes: Sequence[NodeLine]
) -> Operation[bool]:
    found = yield from _shown(request.token)
    return found is not None and plan.holds(found, request, nodes)


def _forms(
    nodes: Sequence[NodeLine], request: ReserveRequest, version: str
) -> Iterator[int | None]:
    """Numbers of nodes to ask for, the likeliest first; None: leave that to Slurm.

    Left to itself, Slurm up to 24 takes few nodes and exactly the cores; from 25 on it spreads
    the cores over all nodes, so there the fewest nodes on which they are idle come first. (With a
    number of nodes, 22.05 may take more cores than asked: 130 for 100 on 3 nodes of 48.)
    """
    if not _spreads(version):
        yield None
    usable = [n for n in nodes if n.up and takes_jobs(n.state)]
    later = request.start is not None  # who knows what is idle then
    rooms = sorted((n.total if later else n.idle for n in usable), reverse=True)
    fewest = _fewest(rooms, request.processors)
    if fewest is not None:
        most = min(len(usable), request.processors, fewest + _MOST_LAYOUTS - 1)
        yield from range(fewest, most + 1)
    if _spreads(version):
        yield None


def _spreads(version: str) -> bool:
    """Whether this release spreads a reservation's cores over all nodes."""
    found = re.search(r"(\d+)\.\d+", version)
    return found is not None and int(found[1]) >= 25


def _fewest(rooms: Sequence[int], processors: int) -> int | None:
    totals = enumerate(itertools.accumulate(rooms), 1)
    return next((count for count, total in totals if total >= processors), None)


def _holds(
    found: SlurmReservation | None, request: ReserveRequest, cores: int, nodes: Sequence[NodeLine]
) -> bool:
    """Whether the reservation, as it is shown now, is the one asked for, and has begun: it has the
    processors, and at most a part of one core more."""
    if found is None or found.core_count != cores:
        return False
    more = counted(found, nodes).processors - request.processors
    return 0 <= more < most_of_a_core(nodes) and _is_in_time(found, request)


def has_reservation(name: str) -> Operation[bool]:
    """Whether there is one of that name, of anybody."""
    return (yield from _shown(name)) is not None


def _shown(name: str) -> Operation[SlurmReservation | None]:
    """The reservation of that name."""
    done = yield from command(commands.show_reservation(name))
    if done.exit_status != 0:
        if "not found" in done.stdout + done.stderr:
            return None
        raise failure(done, "scontrol show reservation")
    return next((r for r in parsing.reservations(done.stdout) if r.name == name), None)


def _has(found: SlurmReservation | None, request: ReserveRequest, count: int | None) -> bool:
    """Whether it is of so many whole nodes: what each has in it is its own."""
    return found is not None and found.node_count == count and _is_in_time(found, request)


def _is_in_time(found: SlurmReservation, request: ReserveRequest) -> bool:
    """Whether it has begun, or will when it is to."""
    start = request.start
    return found.state == "ACTIVE" if start is None else found.start_time <= start


def _explained(
    reason: ClusterRefusal | UnknownOutcome, who: SlurmIdentity
) -> ClusterRefusal | UnknownOutcome:
    if not isinstance(reason, ClusterRefusal) or reason.cause is not Cause.DENIED:
        return reason
    fix = (
        "only Slurm operators may reserve: give this account AdminLevel Operator, or set "
        "`claim: placeholder` for this cluster"
    )
    if "Invalid user id" in reason.detail:  # Slurm says the same of both
        fix += f"; or the host of slurmctld does not know {who.user}, for whom it is made"
    return ClusterRefusal(reason.cause, f"{reason.detail} ({fix})")


def delete_reservation(token: str) -> Operation[bool]:
    """Delete; False while jobs still refer to it."""
    done = yield from command(commands.delete_reservation(token))
    said = done.stderr + done.stdout
    if done.exit_status == 0 or "reservation is invalid" in said or "not found" in said:
        return True
    if "in use" in said:
        return False
    reason = failure(done, "scontrol delete reservation")
    raise UnknownOutcome(reason.detail)


# --- submitting -------------------------------------------------------------------------------


def submit(
    who: SlurmIdentity, request: ComponentRequest, script: bytes
) -> Operation[NativeSubmission]:
    """Submit; where that may have been done before, look for the token first and adopt."""
    if request.again:
        known = yield from find(who, request.token)
        if known:
            ended = known[0].state is NativeState.ENDED
            return NativeSubmission(known[0].native_id, known[0].submit_time, ended)
    own_options = bool(request.native) or request.shape.beyond_processors
    request = dataclasses.replace(request, native=(*who.native, *request.native))
    done = yield from command(commands.submit(who, request, script))
    if done.exit_status != 0:
        raise of_submission(done, own_options=own_options, reserved=request.reservation)
    identity = done.stdout.strip().partition(";")[0]
    if not (identity.isascii() and identity.isdigit()):
        raise UnknownOutcome(f"sbatch: no job number in its answer: {done.stdout[:100]!r}")
    return NativeSubmission(identity)
