"""Whose components tell each other something, of the jobs that have joined others."""

from __future__ import annotations

import pytest

from metabroker.broker.tokens import Ref
from metabroker.runtime.joined import Joined

A, JOINING, OTHER = Ref(12, 1, 0), Ref(13, 1, 2), Ref(14, 1, 0)


@pytest.fixture
def joined() -> Joined:
    made = Joined()
    for ref, joins in ((A, 0), (JOINING, 12), (OTHER, 0)):
        made.watch(ref, joins)
    return made


def test_jobs_that_nobody_joins_are_not_concerned(joined: Joined) -> None:
    assert joined.concerns(A) and joined.concerns(JOINING) and not joined.concerns(OTHER)
    assert joined and not Joined()


@pytest.mark.parametrize("first", [True, False])
def test_they_meet_when_both_run(joined: Joined, first: bool) -> None:
    one, other = (A, JOINING) if first else (JOINING, A)
    assert joined.runs(one) == []
    assert joined.runs(other) == [one]
    assert joined.runs(one) == [other]


def test_another_attempt_is_met_anew(joined: Joined) -> None:
    joined.runs(A)
    assert joined.runs(JOINING) == [A]
    joined.unwatch(A)
    assert joined.runs(JOINING) == []
    again = A._replace(attempt=2)
    assert joined.runs(again) == [JOINING]
    assert joined.runs(JOINING) == [again]


def test_who_has_ended_is_known_until_its_last_words_are_passed_on(joined: Joined) -> None:
    joined.runs(A)
    joined.runs(JOINING)
    joined.unwatch(JOINING)
    assert not joined and joined.joined_by(JOINING) == [A] and joined.joined_by(A) == []
    assert joined.runs(A) == []
    joined.is_over(JOINING)
    assert joined.joined_by(JOINING) == [] and not joined.concerns(JOINING)


def test_nothing_is_left_of_those_that_are_gone(joined: Joined) -> None:
    for ref in (A, JOINING):
        joined.runs(ref)
    for ref in (A, JOINING):
        joined.unwatch(ref)
        joined.is_over(ref)
    assert vars(joined) == vars(Joined())
