"""Reserving "from now" in OpenPBS, where a reservation begins a few seconds ahead at the earliest.

It takes jobs as soon as it is confirmed, and they start when it begins: so it is made when it is
confirmed, and a co-allocated job's other clusters do not wait for it any longer than for its job to
come to the barrier.
"""

from __future__ import annotations

from dataclasses import replace

from metabroker.broker.states import Cause
from metabroker.clusters.command_errors import after_making
from metabroker.clusters.operation import Operation, command
from metabroker.clusters.port import ClusterRefusal, ReserveRequest, UnknownOutcome
from metabroker.clusters.transports.base import Completed

from . import answers, commands, operations, parsing, reservations
from .answers import failure
from .commands import PbsIdentity
from .own_reservations import OwnReservations
from .parsing import PbsReservation
from .states import has_begun, is_healthy

# Seconds ahead, by the server's clock as far as that is known: a start in this second or the next
# may never be confirmed. More where that clock turns out to be ahead.
_LEADS = (3, 10, 20)
_LEADS_OF_MOVES = (1, 3)
_PATIENCE = 8  # seconds for the scheduler to confirm it (0.1 is usual)
_FAR = 15.0  # seconds before it begins in which nobody has to ask whether it has begun


def reserve(
    who: PbsIdentity, request: ReserveRequest, ahead: float, own: OwnReservations
) -> Operation[float]:
    """A reservation of exactly the processors asked for, or none. `ahead`: how many seconds the
    server's clock was last seen ahead of that of the commands' host; answers that again. `own`:
    what is known of those that are there.

    Raises:
        ClusterRefusal: it cannot be had now, or not at all; nothing is left of it.
        UnknownOutcome: something may be left of it.
    """
    if request.move:
        yield from _move(who, request, ahead, own)
        return ahead
    mine = yield from reservations.of_token(request.token, own.doubts)
    if len(mine) == 1 and _fits(mine[0], request):
        own.told(request.token, mine[0])
        return ahead
    if mine:
        yield from after_making(operations.delete([r.id for r in mine]))
    refusal = ClusterRefusal(Cause.BUSY, "pbs_rsub: not confirmed")
    for lead in _LEADS:
        now = yield from operations.time_there()
        start = now + max(0.0, ahead) + lead
        if request.start is not None:
            start = max(start, request.start)
        done = yield from command(commands.reserve(who, request, start, _PATIENCE))
        if done.exit_status == answers.BAD_TIME:
            refusal = ClusterRefusal(
                Cause.BUSY, "pbs_rsub: the server's clock is ahead of its clients': set the clocks"
            )
            continue
        if done.exit_status != 0:
            raise _explained(failure(done, "pbs_rsub"))
        identity, word = parsing.confirmation(done.stdout)
        if word == "CONFIRMED":
            made = yield from _checked(request, identity)
            own.told(request.token, made)
            return 0.0 if made.created is None else made.created - now
        if word == "DENIED":  # others may find as many processors free as such tasks do not
            cause = Cause.OWN if request.shape else Cause.BUSY
            raise ClusterRefusal(cause, "pbs_rsub: DENIED: the processors are not free for so long")
        yield from after_making(operations.delete([identity]))
        refusal = ClusterRefusal(Cause.BUSY, f"pbs_rsub: {word}"[:200])
    raise refusal


def _move(
    who: PbsIdentity, request: ReserveRequest, ahead: float, own: OwnReservations
) -> Operation[None]:
    """Let it begin earlier, or later again, or set its end. The scheduler denies what cannot be
    had, and leaves it as it was then.

    Raises:
        ClusterRefusal: it is gone, or its processors are not free by then.
        UnknownOutcome: nobody knows whether it was moved.
    """
    known = own.of(request.token)
    if known is not None and (request.end is not None or (yield from _is_far(known, ahead))):
        try:
            yield from _alter(known, request, ahead, own)
            return
        except ClusterRefusal as refusal:
            if refusal.cause is Cause.BUSY:
                raise
    mine = yield from reservations.of_token(request.token, own.doubts)
    if not mine:
        own.forget(request.token)
        raise ClusterRefusal(Cause.LOST, "its reservation is gone")
    yield from _alter(mine[0], request, ahead, own)


def _is_far(known: PbsReservation, ahead: float) -> Operation[bool]:
    """Whether it cannot have begun, nor begins in a moment."""
    if has_begun(known.state):
        return False
    now = yield from operations.time_there()
    return known.start_time > now + max(0.0, ahead) + _FAR


def _alter(
    found: PbsReservation, request: ReserveRequest, ahead: float, own: OwnReservations
) -> Operation[None]:
    identity, start = found.id, request.start
    own.forget(request.token)  # unless it is as it was, or has become what was asked for
    try:
        if request.end is not None:
            asked = commands.alter_reservation(identity, _PATIENCE, end=request.end)
            _must_be_altered((yield from command(asked)))
        elif start is not None and not has_begun(found.state):
            begins = yield from _begin_at(identity, start, ahead)
            own.told(request.token, replace(found, start_time=begins))
        elif not request.stays(found.start_time, found.end_time):
            raise ClusterRefusal(Cause.LOST, "its reservation began too long ago")
        else:
            own.told(request.token, found)
    except ClusterRefusal as refusal:
        if refusal.cause is Cause.BUSY:
            own.told(request.token, found)
        raise


def _begin_at(identity: str, wanted: float, ahead: float) -> Operation[float]:
    """It begins then; or as soon after it as the server takes; answers when. One that is there is
    altered even if the scheduler comes to it when its new start has passed: it begins at once,
    then."""
    for lead in _LEADS_OF_MOVES:
        start = max(wanted, (yield from operations.time_there()) + max(0.0, ahead) + lead)
        asked = commands.alter_reservation(identity, _PATIENCE, start=start)
        done = yield from command(asked)
        if done.exit_status != answers.BAD_TIME:
            break
    _must_be_altered(done)
    return start


def _must_be_altered(done: Completed) -> None:
    if done.exit_status in (answers.NOT_EMPTY, answers.BAD_TIME):
        raise ClusterRefusal(Cause.BUSY, f"pbs_ralter: {done.stderr.strip()[:200]}")
    if done.exit_status != 0:
        raise _explained(failure(done, "pbs_ralter"))
    _, word = parsing.confirmation(done.stdout)
    if word == "DENIED":
        raise ClusterRefusal(Cause.BUSY, "pbs_ralter: DENIED: the processors are not free by then")
    if word != "CONFIRMED":
        raise UnknownOutcome(f"pbs_ralter: {word}"[:200])


def _checked(request: ReserveRequest, identity: str) -> Operation[PbsReservation]:
    """What was made, read again and compared."""
    made = yield from after_making(reservations.one(identity))
    if made is None or not _fits(made, request):
        yield from after_making(operations.delete([identity]))
        raise ClusterRefusal(Cause.BUSY, "the reservation made was not the one asked for")
    return made


def _fits(made: PbsReservation, request: ReserveRequest) -> bool:
    return made.processors == request.processors and is_healthy(made.state, made.substate)


def _explained(reason: ClusterRefusal | UnknownOutcome) -> ClusterRefusal | UnknownOutcome:
    if isinstance(reason, ClusterRefusal) and reason.cause is Cause.DENIED:
        return ClusterRefusal(
            reason.cause,
            f"{reason.detail} (this account may not reserve: see `metabroker doctor`, or set "
            "`claim: placeholder` for this cluster)",
        )
    return reason
