"""A store that is behind its clusters: the core notices, and decides nothing any more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from metabroker.broker import tokens
from metabroker.broker.after_restore import History, Restored
from metabroker.broker.core import Broker
from metabroker.broker.effects import CleanStray, Unclaimed
from metabroker.broker.events import CancelJob, Observed, Reserved, SubmitJob
from metabroker.broker.job import NewJob
from metabroker.broker.observation import (
    NativeJob,
    NativeReservation,
    NativeState,
    Snapshot,
)
from metabroker.broker.outbox import Ready
from metabroker.broker.rejected import Rejected
from metabroker.broker.settings import ClusterSettings, Settings
from metabroker.broker.states import JobState
from metabroker.broker.store_behind import StoreBehind
from metabroker.broker.tokens import Ref, make
from metabroker.policy import Request
from metabroker.policy import make as policy

INSTANCE = "abcdef01"
NOW = 1000.0


def broker(
    *, acting: bool = False, term: int = 0, history: History | None = None, key: str = ""
) -> Broker:
    """One over two clusters of 16 processors, which has started job 1: an attempt of two
    components, which are being reserved."""
    clusters = tuple(
        ClusterSettings(name, reserves=True, processors=16, acting=acting)
        for name in ("delft", "leiden")
    )
    made = Broker(
        Settings(INSTANCE, clusters, term=term, key=key), policy("GS", 2), history or History()
    )
    for cluster in (0, 1):
        made.handle(look(cluster), NOW)
    made.handle(SubmitJob(NewJob("anna", "job", Request((4, 4)), 600)), NOW)
    made.schedule(NOW)
    made.take()
    return made


def look(cluster: int, *refs: Ref, held: Ref | None = None, ended: bool = False) -> Observed:
    """A poll that shows jobs of these tokens."""
    state = NativeState.ENDED if ended else NativeState.RUNNING
    jobs = {make(INSTANCE, ref): NativeJob("7", NOW, state, "RUNNING", 4) for ref in refs}
    reserved = {} if held is None else {make(INSTANCE, held): NativeReservation(4)}
    snapshot = Snapshot(NOW + 10, 16, 16, 4, jobs=jobs, reservations=reserved)
    return Observed(cluster, snapshot)


def after(made: Broker, event: Observed) -> Ready:
    made.handle(event, NOW + 10)
    made.schedule(NOW + 10)
    return made.take()


@pytest.mark.parametrize(
    "event",
    [
        look(0, Ref(2, 1, 0)),
        look(0, Ref(1, 2, 0)),
        look(0, Ref(1, 1, 0, 5)),
        look(0, held=Ref(2, 1, 0)),
        look(0, Ref(9, 1, 0), ended=True),
    ],
    ids=[
        "a number that was not given",
        "a later attempt",
        "a later term",
        "a reservation",
        "one that has ended",
    ],
)
def test_it_then_ends_begins_and_removes_nothing(event: Observed) -> None:
    made = broker()
    ready = after(made, event)
    assert [type(mishap.error) for mishap in ready.mishaps] == [StoreBehind]
    assert "delft shows mb-abcdef01-" in made.view.behind
    assert not ready.effects and not ready.jobs and not ready.components
    for wanted in (SubmitJob(NewJob("anna", "job", Request((4,)), 600)), CancelJob(1, "anna")):
        with pytest.raises(Rejected, match="the store is older than the clusters") as caught:
            made.handle(wanted, NOW + 11)
        assert "metabroker restore --in-place" in caught.value.advice
    made.handle(Reserved(Ref(1, 1, 0)), NOW + 12)
    assert not after(made, look(1, Ref(8, 1, 0))), "nor by what it is told later"
    assert made.next_time() is None
    assert made.view.entries[0].others == 4, "it goes on looking"


def test_what_is_submitted_and_is_to_be_reserved_by_the_store_is_a_sign_after_a_start() -> None:
    made = broker()
    assert not after(made, look(0, Ref(1, 1, 0))).mishaps, "any script can repeat a name"
    assert not made.view.behind
    made = broker()
    made._state.first_polls.begin(2, NOW + 100)
    after(made, look(0, Ref(1, 1, 0)))
    assert made.view.behind


def test_so_is_what_is_submitted_and_is_only_reserved_by_the_store() -> None:
    """One that is planned for later, say."""
    made = broker()
    made.handle(Reserved(Ref(1, 1, 0)), NOW + 1)
    made._state.first_polls.begin(2, NOW + 100)
    after(made, look(0, Ref(1, 1, 0)))
    assert made.view.behind


@pytest.mark.parametrize("attempt", [1, 2])
def test_a_name_that_a_script_has_made_up_is_no_sign(attempt: int) -> None:
    job = 2 if attempt == 1 else 1
    forged = [Ref(job, attempt, 0, term) for term in (0, 3, 9, tokens.number("guess", 2, 1, 3))]
    made = broker(term=3, key="secret")
    ready = after(made, look(0, *forged))
    assert not made.view.behind and made.next_job == 2
    assert {type(effect) for effect in ready.effects} == {Unclaimed}, "they are left alone"
    after(made, look(0, Ref(job, attempt, 0, tokens.number("secret", job, attempt, 3))))
    assert made.view.behind, "this one was begun by a broker that has the store"


def test_no_held_job_goes_on_in_a_name_that_was_made_up(restored: History) -> None:
    made = broker(term=7, history=restored, key="secret")
    made.handle(SubmitJob(NewJob("anna", "job", Request((4,)), 600, hold=True)), NOW)
    made.take()
    held = made.next_job - 1
    late = Ref(held, 1, 0, 3), Ref(10**17, 1, 0, 3)
    after(made, look(0, *late))
    assert made.view.jobs[held].state is JobState.HELD
    assert made.next_job == held + 1


def test_an_attempt_that_was_begun_in_another_term_too_is_a_sign() -> None:
    made = broker(term=9)
    assert not after(made, look(0, Ref(1, 1, 0, 8))).effects
    assert made.view.behind, "a copy of the store is in use elsewhere"


def test_a_sibling_that_another_leader_has_made_and_withdrawn_is_no_sign() -> None:
    made = broker(term=9)
    made.handle(SubmitJob(NewJob("anna", "job", Request((4,)), 600)), NOW)
    made.schedule(NOW)
    assert made.view.jobs[2].components[0].ref == Ref(2, 1, 0, 9)
    after(made, look(0, Ref(2, 1, 1, 8), ended=True))
    assert not made.view.behind
    after(made, look(0, Ref(2, 1, 1, 10)))
    assert made.view.behind, "there is no such term yet"


@pytest.fixture
def restored() -> Iterator[History]:
    yield History([Restored(1.0, 2.0, "then", 7, 1, 20, {1: 1})])


def test_what_a_restore_tells_of_is_no_sign(restored: History) -> None:
    made = broker(term=7, history=restored)
    ready = after(made, look(0, Ref(2, 1, 0), Ref(1, 2, 0), Ref(30, 1, 0, 3)))
    assert not made.view.behind
    assert {type(effect) for effect in ready.effects} == {Unclaimed}
    assert made.next_job == 31


def test_late_commands_of_a_former_leader_are_no_sign() -> None:
    made = broker(term=9)
    made.handle(CancelJob(1, "anna"), NOW)
    made.take()
    ready = after(made, look(0, Ref(1, 1, 0, 8)))
    assert not made.view.behind
    assert [type(effect) for effect in ready.effects] == [CleanStray]


def test_where_any_user_can_give_a_job_such_a_name_it_is_left_alone() -> None:
    made = broker(acting=True)
    for _ in range(2):
        ready = after(made, look(0, Ref(10**17, 1, 0), Ref(1, 2, 0)))
        assert not made.view.behind
        assert not any(isinstance(effect, CleanStray) for effect in ready.effects)
    assert len(made.view.unclaimed) == 2
    assert made.next_job == 2, "no name that somebody has made up uses up the numbers"
