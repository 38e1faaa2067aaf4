"""Carrying out an operation: commands, pauses, and what goes wrong with them."""

from __future__ import annotations

import pytest

from metabroker.clusters.operation import Operation, Pause, carry_out, command
from metabroker.clusters.transports.base import Command, CommandLost, Completed
from metabroker.clusters.transports.local import LocalTransport

LOCAL = LocalTransport({})


def echo(*words: str) -> Command:
    return Command(("echo", *words))


def test_each_command_is_answered_and_the_result_comes_back() -> None:
    def operation() -> Operation[str]:
        first = yield from command(echo("one"))
        second = yield from command(echo("two"))
        return first.stdout + second.stdout

    assert carry_out(operation(), LOCAL) == "one\ntwo\n"


def test_an_operation_may_ask_for_nothing() -> None:
    def operation() -> Operation[int]:
        yield from ()
        return 7

    assert carry_out(operation(), LOCAL) == 7


def test_pauses() -> None:
    def operation() -> Operation[Completed]:
        yield Pause(0.5)
        done = yield from command(echo("x"))
        yield Pause(1.5)
        return done

    slept: list[float] = []
    assert carry_out(operation(), LOCAL, slept.append).stdout == "x\n"
    assert slept == [0.5, 1.5]


def test_a_lost_command_is_raised_where_it_was_asked() -> None:
    hangs = Command(("sleep", "300"), seconds=0.1)

    def bears() -> Operation[str]:
        try:
            yield from command(hangs)
        except CommandLost:
            return (yield from command(echo("went on"))).stdout
        return "answered"

    def does_not() -> Operation[str]:
        yield from command(hangs)
        return "answered"

    assert carry_out(bears(), LOCAL) == "went on\n"
    with pytest.raises(CommandLost):
        carry_out(does_not(), LOCAL)


def test_what_the_operation_raises_comes_out() -> None:
    def operation() -> Operation[None]:
        yield from command(echo("x"))
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        carry_out(operation(), LOCAL)
