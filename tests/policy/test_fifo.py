"""The queue's data structure: order, removal of any entry, cost."""

from random import Random

import pytest

from metabroker.policy import Request
from metabroker.policy.entry import Entry
from metabroker.policy.queue import Fifo


def entry(seq: int) -> Entry:
    return (seq, seq, Request((1,)), -1, 0, 0.0)


def filled(number: int) -> tuple[Fifo, list[Entry]]:
    fifo, entries = Fifo(), [entry(seq) for seq in range(number)]
    for one in entries:
        fifo.append(one)
    return fifo, entries


def seqs(fifo: Fifo) -> list[int]:
    return [one[0] for one in fifo]


def test_entries_leave_in_the_order_in_which_they_came() -> None:
    fifo, entries = filled(3)
    assert [fifo.popleft() for _ in range(3)] == entries
    assert not fifo.items
    with pytest.raises(IndexError):
        fifo.popleft()


def test_a_removed_entry_is_neither_counted_nor_seen() -> None:
    fifo, entries = filled(4)
    fifo.remove(entries[1])
    assert (len(fifo), seqs(fifo)) == (3, [0, 2, 3])
    fifo.remove(entries[0])
    assert fifo.items[0] == entries[2]
    assert fifo.popleft() == entries[2]
    fifo.remove(entries[3])
    assert not fifo.items


def test_the_head_is_never_a_removed_entry_when_it_is_taken() -> None:
    fifo, entries = filled(6)
    fifo.remove(entries[1])
    fifo.remove(entries[2])
    fifo.popleft()
    assert fifo.items[0] == entries[3]


def test_removed_entries_do_not_pile_up_behind_a_head_that_stays() -> None:
    fifo, entries = filled(10_000)
    for one in entries[1:]:
        fifo.remove(one)
    assert seqs(fifo) == [0]
    assert len(fifo.items) < 10


def test_an_entry_that_comes_back_takes_its_old_place() -> None:
    fifo, entries = filled(4)
    for one in (entries[3], entries[1]):
        fifo.remove(one)
        fifo.append(one)
    assert (len(fifo), seqs(fifo)) == (4, [0, 1, 2, 3])
    fifo.merge([entry(9), entry(-1)])
    assert seqs(fifo) == [-1, 0, 1, 2, 3, 9]


def test_it_agrees_with_a_list_over_random_operations() -> None:
    rng = Random(5)
    fifo, model = Fifo(), list[Entry]()
    for seq in range(3000):
        action = rng.random()
        if action < 0.5 or not model:
            model.append(entry(seq))
            fifo.append(model[-1])
        elif action < 0.7:
            assert fifo.popleft() == model.pop(0)
        else:
            fifo.remove(model.pop(rng.randrange(len(model))))
        assert len(fifo) == len(model)
        assert bool(fifo.items) == bool(model)
        assert not model or fifo.items[0] == model[0]
    assert list(fifo) == model
