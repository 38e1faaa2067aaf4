"""What is kept of links between clusters, and what of them is refused."""

from __future__ import annotations

from typing import Any

import pytest

from metabroker.broker.links import MOST, Link, Links, UnsoundLink, read

TOLD: dict[str, Any] = {
    "clusters": ["delft", "leiden"],
    "latency_ms": 0.5,
    "bandwidth_mb_per_s": 900.0,
    "measured": 1000.0,
    "said": "",
}


def test_what_is_told_is_read_again() -> None:
    (link,) = read([TOLD])
    assert link.told() == TOLD
    assert link == Link(("delft", "leiden"), 0.5, 900.0, 1000.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"clusters": ["leiden", "delft"]},
        {"clusters": ["delft", "delft"]},
        {"clusters": ["delft"]},
        {"clusters": ["delft", 7]},
        {"clusters": ["", "x" * 65]},
        {"latency_ms": -1.0},
        {"latency_ms": float("nan")},
        {"latency_ms": float("inf")},
        {"latency_ms": True},
        {"latency_ms": "1"},
        {"measured": None},
        {"said": "two\nlines"},
        {"said": "x" * 401},
        {"said": None},
        {"more": 1},
    ],
)
def test_what_is_not_sound_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UnsoundLink):
        read([{**TOLD, **wrong}])


def test_there_is_a_bound() -> None:
    with pytest.raises(UnsoundLink):
        read([TOLD] * (MOST + 1))
    others: tuple[object, ...] = (None, {}, "links", [1])
    for told in others:
        with pytest.raises(UnsoundLink):
            read(told)


def test_the_latest_counts_and_others_stay() -> None:
    links = Links()
    links.tell(read([TOLD, {**TOLD, "clusters": ["delft", "lab"]}]))
    before = links.all
    links.tell(read([{**TOLD, "latency_ms": None, "said": "refused"}]))
    assert links.all is not before
    assert [link.latency for link in links.all] == [0.5, None]
    found = links.between("leiden", "delft")
    assert found is not None and found.said == "refused"
    assert links.between("leiden", "lab") is None
