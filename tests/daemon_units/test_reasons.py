"""Why a job waits, in words (promise P6)."""

from __future__ import annotations

import pytest

from metabroker.broker.events import Unreachable
from metabroker.daemon import reasons
from metabroker.daemon.engine import Engine, Item
from metabroker.submission.model import Processors

from .making import Answers, Failing, ask, engine, looked

NOW = 1000.0


def waiting(*items: Item, at: float = NOW) -> tuple[Engine, dict[int, reasons.Waiting]]:
    it = engine(Failing())
    it.process(items, NOW)
    return it, reasons.waiting(it.broker, at)


def want(processors: int, on: str | None = None) -> Item:
    wanted = Processors(single=processors, cluster=on)
    return ask(Answers().to("a"), processors=wanted)


BOTH = (looked(0, NOW), looked(1, NOW, 32))


def test_too_little_is_idle_and_how_old_that_is() -> None:
    _it, found = waiting(*BOTH, want(60), want(40), at=NOW + 4)
    assert found[2] == reasons.Waiting(
        0, "asks for 40 processors; idle: delft 4 (4 s ago), leiden 32 (4 s ago)"
    )


def test_behind_others() -> None:
    _it, found = waiting(*BOTH, want(60), want(40), want(40), want(40))
    assert (found[3].position, found[4].position) == (1, 2)
    assert found[4].reason.startswith("behind 2 in queue global; job 2 is first: asks for 40")


def test_what_a_cluster_has_refused_is_not_called_taken() -> None:
    from metabroker.broker.events import Refused
    from metabroker.broker.states import Cause, Step
    from metabroker.broker.tokens import Ref

    it, _found = waiting(*BOTH, want(40, "delft"))
    it.process([Refused(Ref(1, 1, 0), Step.SUBMIT, Cause.BUSY, "nodes are busy")], NOW + 1)
    reason = reasons.waiting(it.broker, NOW + 2)[1].reason
    assert "delft 24 (2 s ago; it has refused more, and is asked again in 1 s)" in reason


def test_only_those_that_are_asked_for() -> None:
    it, found = waiting(*BOTH, want(60), want(40), want(40), want(40))
    assert set(found) == {2, 3, 4}
    for some in ({2}, {4}, {5}, {3, 4}, set[int]()):
        expected = {key: told for key, told in found.items() if key in some}
        assert reasons.waiting(it.broker, NOW, only=some) == expected


def test_nothing_is_known_of_a_cluster() -> None:
    _it, found = waiting(looked(1, NOW, 32), Unreachable(0, "connect failure"), want(8, "delft"))
    assert "needs a cluster that does not answer: delft (connect failure)" in found[1].reason
    assert "delft:8" in found[1].reason


def test_nodes_that_take_no_jobs() -> None:
    it = engine(Failing())
    drained = looked(0, NOW)
    small = type(drained.snapshot)(NOW, 64, 8, 0)
    it.process([type(drained)(0, small), looked(1, NOW, 32), want(40)], NOW)
    reason = reasons.waiting(it.broker, NOW)[1].reason
    assert reason == "asks for 40: more than the clusters' nodes that take jobs now have"


def test_what_happened_to_the_last_attempt_is_told_too() -> None:
    from metabroker.broker.events import Refused
    from metabroker.broker.states import Cause, Step
    from metabroker.broker.tokens import Ref

    it, _found = waiting(*BOTH, want(64))
    it.process([Refused(Ref(1, 1, 0), Step.SUBMIT, Cause.BUSY, "nodes are busy")], NOW + 1)
    assert "(attempt 1: component 0 in delft: nodes are busy)" in (
        reasons.waiting(it.broker, NOW + 1)[1].reason
    )


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ([("delft", "placed", "reserve", "")], "waits for delft: reserve"),
        ([("delft", "submitted", "", "PENDING: Priority")], "waits for delft: PENDING: Priority"),
        (
            [("delft", "arrived", "", ""), ("leiden", "submitted", "", "")],
            "waits for leiden: submitted",
        ),
        ([("delft", "armed", "open", ""), ("leiden", "started", "", "")], ""),
    ],
)
def test_why_a_placed_job_does_not_run(parts: list[tuple[str, str, str, str]], reason: str) -> None:
    row = {
        "reason": "",
        "attempt": 1,
        "components": [
            {"cluster": c, "phase": p, "step": s, "detail": d, "attempt": 1} for c, p, s, d in parts
        ],
    }
    assert reasons.in_attempt(row) == reason
    assert reasons.in_attempt(row | {"reason": "cancelled by anna"}) == "cancelled by anna"
