"""A line in order of seq, whoever leaves it and comes back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.policy import Request
from metabroker.policy.entry import Entry
from metabroker.policy.queue import Fifo


def entry(seq: int, key: int) -> Entry:
    return Entry(seq, key, Request((1 + key % 3,)), -1, 0, 0.0)


@given(st.lists(st.tuples(st.integers(0, 15), st.integers(0, 2)), max_size=60))
def test_who_comes_back_is_at_its_old_place_however_many_have_left(
    moves: list[tuple[int, int]],
) -> None:
    fifo, there = Fifo(), dict[int, Entry]()
    for number, (seq, what) in enumerate(moves):
        if seq not in there:
            there[seq] = entry(seq, number)  # perhaps another request than before
            fifo.append(there[seq])
        elif what == 0:
            fifo.remove(there.pop(seq))
        elif there:
            assert fifo.popleft() == there.pop(min(there))
        assert list(fifo) == [there[each] for each in sorted(there)]
        assert bool(fifo.items) == bool(there)
        assert not there or fifo.items[0] == there[min(there)]
        assert all(fifo.before(s) == sum(each < s for each in there) for s in range(17))


def test_for_who_comes_back_a_line_is_not_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    fifo = Fifo()
    entries = [entry(seq, seq) for seq in range(100)]
    for each in entries:
        fifo.append(each)
    for each in entries[10:60]:
        fifo.remove(each)
    monkeypatch.setattr(Fifo, "_keep", lambda *_: pytest.fail("it is read from end to end"))
    for each in reversed(entries[10:60]):
        fifo.append(each)
    assert list(fifo) == entries
