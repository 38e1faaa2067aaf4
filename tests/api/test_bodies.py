"""Large requests share a room, and what stands in one is counted before it is made."""

from __future__ import annotations

import pytest

from metabroker.api import bodies
from metabroker.api.bodies import DEEPEST, MOST_PARTS, Bodies, parsed
from metabroker.api.service import Failure, ServiceError


def test_one_user_has_a_part_of_the_room_and_all_have_no_more_than_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bodies, "_ROOM", 1000)
    monkeypatch.setattr(bodies, "_SHARE", 400)
    held = Bodies(10.0)
    held._take(1001, 300)
    with pytest.raises(ServiceError) as caught:
        held._take(1001, 101)
    assert caught.value.failure is Failure.UNAVAILABLE
    held._take(1002, 400)
    held._take(1003, 300)
    with pytest.raises(ServiceError):
        held._take(1004, 1)
    held._take(0, 5000)  # root's


@pytest.mark.parametrize(
    "body",
    [
        b'{"args":[' + b"0," * (MOST_PARTS // 2) + b'"' * MOST_PARTS + b"]}",
        b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1),
    ],
    ids=["wide", "deep"],
)
def test_too_many_parts_and_too_deep_ones_are_told_apart_from_what_is_no_json(body: bytes) -> None:
    with pytest.raises(ServiceError, match="nested more than 32 deep, or has too many parts"):
        parsed(body)


def test_what_is_just_within_the_bounds_is_read() -> None:
    wide = b"[" + b"0," * (MOST_PARTS - 3) + b"0]"
    assert len(parsed(wide)) == MOST_PARTS - 2
    assert parsed(b"[" * DEEPEST + b"]" * DEEPEST)
    with pytest.raises(ServiceError, match="is not JSON"):
        parsed(b"[0,")
