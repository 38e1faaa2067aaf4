"""Of answers that nobody takes, one user's have a part of the room."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from metabroker.api import connection_limiter
from metabroker.api.pages import Pages
from metabroker.api.peers import Who
from metabroker.api.service import Json, answered
from metabroker.api.stalled import BESIDE, Stalled, Waits
from metabroker.submission.model import Caller
from tests.api.fake import FakeService, serving

LARGE = 9 * BESIDE


@dataclass(eq=False)
class Connection:
    who: Who
    ended: list[str] = field(default_factory=list)

    def end(self, why: str) -> None:
        self.ended.append(why)


def made(who: Who, number: int) -> list[Connection]:
    return [Connection(who) for _ in range(number)]


def cut(connections: list[Connection]) -> list[bool]:
    return [bool(each.ended) for each in connections]


def test_of_a_user_who_takes_nothing_the_oldest_answers_are_cut_off() -> None:
    stalled, mine, other = Stalled(8 * 30 * BESIDE), made(1001, 5), made(1002, 1)
    for each in (*mine, *other):
        stalled.add(each, LARGE)
    assert cut(mine) == [True, True, False, False, False] and cut(other) == [False]
    stalled.remove(mine[3])
    stalled.add(mine[3], LARGE)
    stalled.add(mine[0], LARGE)
    assert cut(mine) == [True, True, True, False, False]


def test_one_answer_may_be_larger_than_that() -> None:
    stalled, mine = Stalled(8 * BESIDE), made(1001, 2)
    stalled.add(mine[0], LARGE)
    assert cut(mine) == [False, False]
    stalled.add(mine[1], LARGE)
    assert cut(mine) == [True, False]


def test_root_is_never_cut_off() -> None:
    stalled, root = Stalled(8 * BESIDE), made(0, 3)
    for each in root:
        stalled.add(each, LARGE)
    assert not any(cut(root))


def test_where_many_users_take_nothing_who_has_the_most_loses() -> None:
    stalled = Stalled(100 * BESIDE)
    users = [made(1000 + number, 1) for number in range(9)]
    greedy = made(2000, 2)
    for connections in (greedy, *users):
        for each in connections:
            stalled.add(each, 4 * BESIDE)
    assert not any(cut(greedy))
    for connections in users:
        stalled.add(connections[0], LARGE)
    last = made(3000, 1)
    stalled.add(last[0], LARGE)
    assert cut(greedy) == [True, False] and not any(cut([*last, *(u[0] for u in users)]))


class Endless(FakeService):
    """Its history has no end."""

    def call(self, caller: Caller, name: str, arguments: Mapping[str, Any]) -> Future[Json]:
        return answered({"jobs": Pages(b'"' + b"x" * 300_000 + b'"' for _ in count())})


def ends(connection: socket.socket) -> bool:
    """Whether the answer does, to whoever reads it now."""
    try:
        for _ in range(200):
            if not connection.recv(1 << 16):
                return True
    except ConnectionResetError:
        return True
    return False


def test_who_asks_for_long_lists_and_reads_none_is_cut_off(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_limiter, "who", lambda _transport: 70001)
    cut_off, end = threading.Event(), Stalled._end

    def told(some: dict[Waits, int]) -> None:
        end(some)
        cut_off.set()

    monkeypatch.setattr(Stalled, "_end", staticmethod(told))
    monkeypatch.setattr(connection_limiter, "Stalled", lambda: Stalled(8 * 3 * BESIDE))
    with serving(Endless(), folder / "mb.sock"), ExitStack() as stack:
        asking = []
        for _ in range(4):
            asking.append(stack.enter_context(socket.socket(socket.AF_UNIX)))
            asking[-1].settimeout(60)
            asking[-1].connect(str(folder / "mb.sock"))
            asking[-1].sendall(b"GET /v1/history HTTP/1.1\r\nHost: x\r\n\r\n")
            assert asking[-1].recv(64)
        assert cut_off.wait(60)
        assert ends(asking[0])
        assert not ends(asking[-1])
