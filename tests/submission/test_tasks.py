"""Which tasks an array has."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.submission.errors import SubmissionError
from metabroker.submission.tasks import MOST_TASKS, TaskSet, parse_array

_SETS = st.frozensets(st.integers(0, 40))


@pytest.mark.parametrize(
    ("text", "told", "tasks"),
    [
        ("0-3", "0-3", [0, 1, 2, 3]),
        ("0-15:4", "0-12:4", [0, 4, 8, 12]),
        ("1,3,5-7", "1,3,5-7", [1, 3, 5, 6, 7]),
        ("7,1-3,2-4", "1-4,7", [1, 2, 3, 4, 7]),
        ("0-10:2,1-11:2", "0-11", list(range(12))),
        ("5%3", "5%3", [5]),
    ],
)
def test_what_is_understood(text: str, told: str, tasks: list[int]) -> None:
    found = parse_array(text)
    assert (str(found), list(found.tasks)) == (told, tasks)
    assert list(parse_array(told).tasks) == tasks


@pytest.mark.parametrize(
    "text",
    ["", "x", "3-1", "0-4:0", "-3", "1-", "1,,2", "0-4%", "0-4%1234567890", "0-4%-1", "0-100000000",
     f"0-{MOST_TASKS}", "4000001", "1" * 20_000, ",".join("1" * 9_000),
     ",".join(str(n) for n in range(0, 16_000, 3))],
)  # fmt: skip
def test_what_is_not(text: str) -> None:
    with pytest.raises(SubmissionError):
        parse_array(text)


@given(_SETS, _SETS, st.integers(0, 45))
def test_sets_of_tasks_are_sets(one: frozenset[int], other: frozenset[int], number: int) -> None:
    a, b = TaskSet.of(one), TaskSet.of(other)
    assert list(TaskSet.read(str(a))) == list(a) == sorted(one)
    assert [set(a - b), set(a & b), set(a | b)] == [
        set(one - other),
        set(one & other),
        set(one | other),
    ]
    assert (number in a, len(a)) == (number in one, len(one))
    above = sorted(n for n in one if n >= number)
    assert (list(a.from_(number)), a.first_from(number)) == (above, above[0] if above else None)
    assert list(a.below(number)) == [n for n in a if n < number]


_RANGES = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 6), st.integers(1, 8)), max_size=5)


def in_ranges(parts: list[tuple[int, int, int]]) -> TaskSet:
    """Of each its distance from the one before, its step, and how many numbers it has."""
    found: list[range] = []
    for apart, step, count in parts:
        first = (found[-1][-1] if found else 0) + apart
        found.append(range(first, first + step * (count - 1) + 1, step))
    return TaskSet(tuple(found))


@given(_RANGES, _RANGES)
def test_what_is_left_of_ranges_of_any_steps(
    one: list[tuple[int, int, int]], other: list[tuple[int, int, int]]
) -> None:
    a, b = in_ranges(one), in_ranges(other)
    left = a - b
    assert list(left) == sorted(set(a) - set(b))
    assert all(before[-1] < after[0] for before, after in pairwise(left.ranges))
    assert TaskSet.read(str(left)) == left


def test_what_is_left_is_found_without_a_look_at_each_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def walk(_self: TaskSet) -> Iterator[int]:
        raise AssertionError("a listing of each array would walk through all of its tasks")

    monkeypatch.setattr(TaskSet, "__iter__", walk)
    many, few = TaskSet.parse("0-99999"), TaskSet.parse("7,50000-50010:2")
    assert str(many - few) == "0-6,8-49999,50001-50009:2,50011-99999"
    assert str(many - TaskSet.parse("0-99998:2")) == "1-99997:2,99999"
    halves = TaskSet(tuple(range(at, at + 20) for at in range(0, 80_000, 20)))
    left = halves - TaskSet.parse("0-100000:25000")
    assert len(left) == 79_996


def test_none_at_once_is_any_number() -> None:
    assert [parse_array(text).most for text in ("0-4", "0-4%0", "0-4%00", "0-4%02")] == [0, 0, 0, 2]
    assert str(parse_array("1-10%0")) == "1-10"
