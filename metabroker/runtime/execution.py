"""From a pending effect to the event that answers it, as an operation without I/O.

The daemon's workers carry it out over a transport in real time, the world simulator step by step
in virtual time: one code for both.
"""

from __future__ import annotations

import contextlib

from metabroker.broker.effects import (
    Arm,
    Clean,
    CleanStray,
    Discard,
    Fetch,
    Open,
    PendingEffect,
    Reserve,
    Stage,
    Submit,
)
from metabroker.broker.events import (
    Armed,
    Cleaned,
    Discarded,
    Event,
    Fetched,
    Opened,
    Refused,
    Reserved,
    Staged,
    Submitted,
    Unsure,
)
from metabroker.broker.states import Cause, Step
from metabroker.clusters.operation import Operation, Pause
from metabroker.clusters.port import Cluster, ClusterRefusal, UnknownOutcome

from .requests import RequestBuilder

STEPS = {
    Stage: Step.STAGE,
    Reserve: Step.RESERVE,
    Submit: Step.SUBMIT,
    Arm: Step.ARM,
    Open: Step.OPEN,
    Clean: Step.CLEAN,
    Fetch: Step.FETCH,
    Discard: Step.DISCARD,
}


def step_of(effect: PendingEffect) -> Step:
    """The step that an effect carries out."""
    if isinstance(effect, Discard) and effect.keep:
        return Step.KEEP
    return STEPS[type(effect)]


_NO_FOLDER = "the store does not know the component's folder"
# Seconds between two looks for the answer. A component at the barrier naps for 0.02 at first, later
# for 0.1, where its `sleep` knows only whole seconds for 1.
_NAPS = (0.01, 0.01, 0.02, 0.02, 0.04, 0.1, 0.3, 0.5, 0.5, 0.5, 0.5)


def carrying(effect: PendingEffect, cluster: Cluster, builder: RequestBuilder) -> Operation[Event]:
    """Carry out one effect; a refusal or a doubt is an answer too."""
    step = step_of(effect)
    try:
        return (yield from _steps(effect, cluster, builder))
    except ClusterRefusal as refusal:
        return Refused(effect.ref, step, refusal.cause, refusal.detail)
    except UnknownOutcome as doubt:
        return Unsure(effect.ref, step, doubt.detail, doubt.fenced)


def _steps(effect: PendingEffect, cluster: Cluster, builder: RequestBuilder) -> Operation[Event]:
    ref = effect.ref
    if isinstance(effect, Stage):
        moved = yield from cluster.stage(builder.stage(effect), builder.home_of(ref))
        return Staged(ref, moved.files, moved.size)
    if isinstance(effect, Fetch):
        request = builder.fetch(effect)
        moved = yield from cluster.fetch(request, builder.home_of(ref))
        return Fetched(ref, moved.files, moved.size, f"{request.folder}/{request.into}")
    if isinstance(effect, Reserve):
        if effect.again:
            # What an earlier try has sent may come yet, and delete by its name what this one makes.
            raise UnknownOutcome("it was asked for before the broker's start, and not answered")
        yield from cluster.reserve(builder.reserve(effect))
        return Reserved(ref)
    if isinstance(effect, Submit):
        done = yield from cluster.submit(builder.submit(effect))
        return Submitted(ref, done.native_id, done.submit_time)
    if isinstance(effect, Clean):
        left = yield from cluster.clean(builder.clean(effect))
        return Cleaned(
            ref,
            left.started,
            left.start_time,
            left.end_time,
            left.exit_code,
            left.cause,
            left.shut,
            left.doubtful,
            left.detail,
            left.signalled,
        )
    if isinstance(effect, Arm):
        return (yield from _arming(effect, cluster, builder))
    answer = _at_gate(effect, cluster, builder)
    if isinstance(effect, Open) and effect.until is not None:
        # It would end at some time, anyhow: what becomes of this is no matter of the job.
        with contextlib.suppress(ClusterRefusal, UnknownOutcome):
            yield from cluster.reserve(builder.ending(effect, effect.until))
    return answer


def _at_gate(effect: Open | Discard, cluster: Cluster, builder: RequestBuilder) -> Event:
    """What needs no command, only the component's gate."""
    ref = effect.ref
    gate = builder.gate(ref)
    if isinstance(effect, Discard):
        if gate is not None:
            cluster.discard(gate, builder.keep(ref) if effect.keep else None)
        return Discarded(ref)
    if gate is None:
        raise ClusterRefusal(Cause.LOST, _NO_FOLDER)
    cluster.open(gate, builder.introduced(ref))
    return Opened(ref)


def _arming(effect: Arm, cluster: Cluster, builder: RequestBuilder) -> Operation[Event]:
    """Arm the gate, and wait a moment for the component's answer: a dead one gives none."""
    gate = builder.gate(effect.ref)
    if gate is None:
        raise ClusterRefusal(Cause.LOST, _NO_FOLDER)
    cluster.introduce(gate, builder.introduced(effect.ref))
    cluster.arm(gate)
    for nap in _NAPS:
        if cluster.ready(gate):
            return Armed(effect.ref)
        yield Pause(nap)
    if cluster.ready(gate):
        return Armed(effect.ref)
    raise UnknownOutcome("the component does not answer at the barrier")


def carrying_stray(
    effect: CleanStray, cluster: Cluster, builder: RequestBuilder
) -> Operation[None]:
    """Remove something of ours that nobody needs, with its gate where that is not needed."""
    request = builder.clean_token(effect.token)
    yield from cluster.clean(request)
    if request.gate is not None and not effect.spare_gate:
        cluster.discard(request.gate)
