"""Arming: a component counts only once it has answered. Reserving: never twice under one name."""

from __future__ import annotations

import pytest

from metabroker.broker.effects import Arm, Reserve
from metabroker.broker.events import Armed, Event, Refused, Unsure
from metabroker.broker.states import Cause, Step
from metabroker.broker.tokens import Ref
from metabroker.clusters.operation import Pause
from metabroker.clusters.port import ClusterRefusal, Peer
from metabroker.runtime.execution import carrying

REF = Ref(1, 1, 0)


class Cluster:
    """Knows gates only; the component answers at the `answers`-th look."""

    def __init__(self, answers: int | None) -> None:
        self.answers = answers
        self.done: list[str] = []

    def introduce(self, _gate: str, _peers: tuple[Peer, ...]) -> None:
        self.done.append("introduce")

    def arm(self, _gate: str) -> None:
        self.done.append("arm")
        if self.answers == 0:
            raise ClusterRefusal(Cause.GAVE_UP, "the component has left the barrier")

    def ready(self, _gate: str) -> bool:
        self.done.append("ready?")
        return self.answers is not None and self.done.count("ready?") >= self.answers


class Orders:
    """Where the gate is, and who the peers are."""

    def gate(self, _ref: Ref) -> str:
        return "/gate"

    def introduced(self, _ref: Ref) -> tuple[Peer, ...]:
        return ()


def carried_out(cluster: Cluster) -> tuple[Event, float]:
    """The answer, and how long it was paused for in all."""
    task = carrying(Arm(REF, 0), cluster, Orders())  # type: ignore[arg-type]
    paused = 0.0
    try:
        while True:
            step = next(task)
            assert isinstance(step, Pause)
            paused += step.seconds
    except StopIteration as end:
        return end.value, paused


@pytest.mark.parametrize("looks", [1, 4, 11])
def test_it_is_armed_when_it_has_answered(looks: int) -> None:
    cluster = Cluster(looks)
    event, _ = carried_out(cluster)
    assert event == Armed(REF)
    assert cluster.done == ["introduce", "arm", *["ready?"] * looks]


def test_who_does_not_answer_within_the_longest_nap_is_asked_again_later() -> None:
    event, paused = carried_out(Cluster(None))
    assert isinstance(event, Unsure) and event.step is Step.ARM
    assert "does not answer at the barrier" in event.detail
    assert 2.0 <= paused <= 5.0


def test_who_has_left_is_not_waited_for() -> None:

    event, paused = carried_out(Cluster(0))
    assert isinstance(event, Refused) and paused == 0


def test_a_reservation_is_not_asked_for_again_under_its_name() -> None:
    """A delete that an earlier try has sent may come late: the next would lose its own to it."""
    asked_again = Reserve(REF, 0, 4, 600, again=True)
    task = carrying(asked_again, Cluster(1), Orders())  # type: ignore[arg-type]
    with pytest.raises(StopIteration) as end:
        next(task)  # it pauses for nothing, asks nothing of the cluster
    assert isinstance(end.value.value, Unsure) and end.value.value.step is Step.RESERVE
