"""Two brokers that lead at once are seen by their commands, and a step under way is not taken for
that."""

from __future__ import annotations

from benchmarks.soak.leading import UNDER_WAY, Moment, Turn, turns


def of(broker: str, *times: float) -> list[Moment]:
    return [Moment(time, broker) for time in times]


def test_commands_of_one_broker_after_another_are_a_turn_each() -> None:
    begun = of("b", 3.0, 4.0) + of("a", 1.0, 2.0) + of("a", 5.0)
    assert turns(begun, []) == [Turn("a", 1.0, 2), Turn("b", 3.0, 2), Turn("a", 5.0, 1)]


def test_what_was_under_way_when_its_broker_was_stopped_is_no_turn() -> None:
    begun = of("a", 1.0, 9.1) + of("b", 5.0, 9.2)
    assert turns(begun, of("a", 9.0)) == [Turn("a", 1.0, 1), Turn("b", 5.0, 2)]


def test_a_broker_that_goes_on_as_before_has_a_turn() -> None:
    many = [9.1 + number / 10 for number in range(UNDER_WAY + 1)]
    begun = of("a", 1.0, *many) + of("b", 5.0, 9.95)
    assert turns(begun, of("a", 9.0))[2] == Turn("a", many[-1], 1)


def test_one_that_begins_a_command_long_after_it_went_on_has_a_turn() -> None:
    begun = of("a", 1.0, 12.0) + of("b", 5.0, 13.0)
    assert len(turns(begun, of("a", 9.0))) == 4


def test_one_that_was_not_stopped_has_a_turn() -> None:
    begun = of("a", 1.0, 9.1) + of("b", 5.0, 11.0)
    assert len(turns(begun, of("b", 9.0))) == 4
