"""Who has overtaken whom, and who is protected, told event by event."""

from random import Random

import pytest

from metabroker.policy import Aging, Request
from metabroker.policy.entry import Entry
from metabroker.policy.overtaking import Overtaking


def test_jobs_that_come_and_go_behind_one_that_stays_are_forgotten() -> None:
    rng = Random(1)
    waiting: dict[int, Entry] = {}
    watch = Overtaking(Aging(overtaken=5), 2, waiting, ())
    for seq in range(2000):
        entry = Entry(seq, seq, Request((1,)), -1, 2, 0.0)
        waiting[seq] = entry
        watch.joined(entry)
        if seq:
            del waiting[seq]
            watch.started(entry, (rng.randrange(2),))
    (group,) = watch._groups.values()
    assert len(group.waiting) < 30
    assert group.overtakers == [1995, 1996, 1997, 1998, 1999]
    assert watch.overtaken(waiting[0]) == 5


def test_when_one_has_started_in_another_cluster_the_next_is_protected() -> None:
    """From a cluster's own queue, in which it stood in line beside its own."""
    waiting = {seq: Entry(seq, seq, Request((1,)), 1, 1, 0.0) for seq in range(3)}
    watch = Overtaking(Aging(overtaken=1), 2, waiting, ())
    for entry in waiting.values():
        watch.joined(entry)
    watch.started(waiting.pop(2), (1,))
    assert [entry.key for entry in watch.protected_heads] == [0]
    watch.started(waiting.pop(0), (0,))
    assert [entry.key for entry in watch.protected_heads] == [1]
    assert watch.left_for(3, [1, 1]) == [1, 0]


@pytest.mark.parametrize("seed", range(40))
def test_who_would_be_due_if_it_came_back_is_who_is_once_it_has(seed: int) -> None:
    """Those that were not sent either come back as well, before anybody asks."""
    rng = Random(seed)
    waiting: dict[int, Entry] = {}
    bound = rng.randint(1, 3)
    watch = Overtaking(Aging(overtaken=bound), 2, waiting, ())
    entries = []
    for seq in range(rng.randint(4, 12)):
        cluster = rng.choice((None, 0, 1))
        request = Request((1,), None if cluster is None else (cluster,))
        entries.append(Entry(seq, seq, request, 1, 1, 0.0))
        waiting[seq] = entries[-1]
        watch.joined(entries[-1])
    watch.begin(0.0)
    started = rng.sample(entries, rng.randint(2, len(entries)))
    for index, entry in enumerate(started):
        if index == len(started) // 3:  # a pass has begun anew since
            watch.new_pass()
        del waiting[entry.seq]
        watch.started(entry, (rng.choice(entry.request.clusters or (0, 1)),))
    in_pass = started[len(started) // 3 :]
    not_sent = rng.sample(in_pass, rng.randint(1, len(in_pass)))
    numbers = {entry.seq for entry in not_sent}
    told = {seq: watch.due_back([seq], numbers) for seq in numbers}
    assert watch.due_back(numbers, numbers) == any(told.values())
    for entry in not_sent:
        waiting[entry.seq] = entry
        watch.joined(entry)
    watch._settle()
    counted = {entry.seq: watch.overtaken(entry) >= bound for entry in not_sent}
    assert told == counted


@pytest.mark.parametrize("seed", range(40))
def test_the_protected_head_is_the_oldest_that_is_due_and_not_aside(seed: int) -> None:
    rng = Random(seed)
    waiting: dict[int, Entry] = {}
    aside: set[int] = set()
    watch = Overtaking(Aging(wait=rng.choice((0.0, 5.0, 20.0))), 2, waiting, aside)
    gone: list[Entry] = []
    for now in range(60):
        what = rng.random()
        if what < 0.5 or not waiting:
            again = gone.pop(rng.randrange(len(gone))) if gone and what < 0.1 else None
            entry = again or Entry(now, now, Request((1,)), -1, 2, float(now))
            waiting[entry.key] = entry
            watch.joined(entry)
            if rng.random() < 0.5:
                aside.add(entry.key)
        elif what < 0.9:
            entry = waiting.pop(rng.choice(list(waiting)))
            aside.discard(entry.key)
            watch.left(entry)
            gone.append(entry)
        else:
            aside.clear()
            aside.update(key for key in waiting if rng.random() < 0.7)
            watch.moved()
        watch.begin(float(now))
        first = min((e for e in waiting.values() if e.key not in aside), default=None)
        due = first is not None and watch.protected(first)
        assert watch.protected_heads == ([first] if due else [])
