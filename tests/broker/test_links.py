"""What is kept of links between clusters, and what of them is refused."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.broker.links import (
    MOST,
    Link,
    Links,
    UnsoundLink,
    groups,
    near,
    pair,
    read,
    too_far,
)

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


def test_of_too_many_those_that_were_measured_last_are_known() -> None:
    links, names = Links(), [f"c{number:03}" for number in range(80)]
    pairs = list(combinations(names, 2))
    for number, each in enumerate(pairs):
        links.tell([Link(each, 1.0, 1.0, float(number))])
    known = {each for each in pairs if links.between(*each) is not None}
    assert known == {link.clusters for link in links.all} == set(pairs[-MOST:])


NAMES = ("a", "b", "c", "d", "e")
latencies = st.dictionaries(
    st.sampled_from(list(combinations(NAMES, 2))), st.sampled_from([None, 1.0, 5.0, 9.0])
)


def known(found: Mapping[tuple[str, str], float | None]) -> Links:
    links = Links()
    links.tell(Link(pair(*each), latency, 1.0, 1.0) for each, latency in found.items())
    return links


@given(latencies, st.sampled_from([0.5, 1.0, 5.0, 100.0]))
def test_groups_are_the_largest_sets_of_near_clusters(
    found: dict[tuple[str, str], float | None], most: float
) -> None:
    """Held against all sets that there are."""
    links = known(found)
    sets = chain.from_iterable(combinations(range(5), n) for n in range(1, 6))
    close = [
        set(each)
        for each in sets
        if all(near(NAMES[a], NAMES[b], links, most) for a, b in combinations(each, 2))
    ]
    largest = {tuple(sorted(each)) for each in close if not any(each < other for other in close)}
    assert set(groups(NAMES, links, most)) == largest


def test_what_is_not_known_is_not_near() -> None:
    links = known({("a", "b"): None, ("a", "c"): 2.0})
    assert groups(NAMES[:3], links, 5.0) == ((0, 2), (1,))
    why, advice = too_far(NAMES[:3], links, 1.0)
    assert why == "a and c are 2 ms apart; the latency is not known between a and b, b and c"
    assert "doctor --links" in advice


def test_very_many_groups_are_not_all_looked_for() -> None:
    """Thirty clusters in ten triples, within which nothing is near: 3 ** 10 sets."""
    names = [f"c{n:02}" for n in range(30)]
    pairs = {
        (one, other): 1.0
        for (m, one), (n, other) in combinations(enumerate(names), 2)
        if m // 3 != n // 3
    }
    found = groups(names, known(pairs), 2.0)
    assert len(found) == 256 and all(len(group) == 10 for group in found)
