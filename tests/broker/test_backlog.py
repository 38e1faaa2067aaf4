"""Work that is too much for one turn of the core."""

from __future__ import annotations

from metabroker.broker.backlog import Backlog, Line, T
from metabroker.broker.tokens import Ref


def contained(number: int, error: Exception, _now: float, _ref: Ref | None) -> None:
    raise AssertionError(f"{number}: {error}")


def made(backlog: Backlog, done: list[T]) -> Line[T]:
    return backlog.line(lambda thing, _now: done.append(thing))


def test_a_line_that_is_never_empty_keeps_no_other_waiting() -> None:
    done: list[str] = []
    backlog = Backlog()
    lines = [made(backlog, done) for _ in range(3)]
    lines[1].add(["a"])
    lines[2].add(["b", "c"])
    for number in range(9):
        lines[0].add([f"{number}", f"{number} again"])
        backlog.work(1, float(number), contained)
    assert len(done) == 9
    assert [thing for thing in done if thing in "abc"] == ["a", "b", "c"]


def test_each_line_has_its_part_of_a_turn() -> None:
    done: list[int] = []
    backlog = Backlog()
    lines = [made(backlog, done) for _ in range(3)]
    for tens, line in enumerate(lines):
        line.add(range(10 * tens, 10 * tens + 10))
    backlog.work(6, 0.0, contained)
    assert done == [0, 1, 10, 11, 20, 21]
