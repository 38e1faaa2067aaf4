"""Nobody keeps the others out by connecting more often."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import tempfile
import weakref
from concurrent.futures import Future
from functools import partial
from pathlib import Path

import pytest

from metabroker.api.client import Client
from metabroker.api.connection_limiter import Admitted, Busy, ConnectionLimiter
from metabroker.api.service import Json
from metabroker.submission.model import Caller
from tests.api.fake import serving
from tests.daemon.harness import eventually

from .fake import FakeService
from .test_routes import WIRE

# Connects as another user so many times, prints how many were refused, and waits to be told to go.
_CROWD = r"""
import os, socket, sys
os.setgroups([]); os.setuid(int(sys.argv[1]))
refused, kept = 0, []
# The first is answered at once, which tells that one is let in; the second keeps one connected.
ASKED = b"GET /v1/status", sys.argv[4].encode()
for _ in range(int(sys.argv[3])):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(sys.argv[2])
    kept.append(connection)
    try:
        connection.sendall(b"".join(b"%b HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
                                    % (each, 9 * each.endswith(b"/jobs")) for each in ASKED))
    except OSError:
        pass  # it was refused before it had asked
    refused += connection.recv(12) == b"HTTP/1.1 503"
print(refused, flush=True)
sys.stdin.read()
"""


_WAITS, _SENDS = "GET /v1/jobs/1/wait?timeout=300", "POST /v1/jobs"
_CHANGES = "POST /v1/jobs/1/hold"


def crowd(
    uid: int, path: Path, connections: int, asks: str = _WAITS
) -> tuple[subprocess.Popen[bytes], int]:
    """A process of user `uid` with so many connections, and how many of them were refused."""
    process = subprocess.Popen(
        [sys.executable, "-c", _CROWD, str(uid), str(path), str(connections), asks],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def leave(process: subprocess.Popen[bytes]) -> None:
    process.communicate(b"", timeout=60)


@pytest.mark.root
def test_one_user_gets_half_and_whoever_has_fewer_gets_in_all_the_same(
    folder: Path, other_uid: int
) -> None:
    path = folder / "mb.sock"
    with serving(FakeService(), path, connections=8):
        Client(path).submit(WIRE)
        one, refused = crowd(other_uid, path, 6)
        assert refused == 2
        two, refused = crowd(other_uid + 1, path, 4)
        assert refused == 0
        three, refused = crowd(other_uid + 2, path, 4)
        assert refused == 2, "a third of what there is: others lose theirs for no more"
        assert Client(path).get("status")  # root is let in
        for process in (one, two, three):
            leave(process)
        eventually(lambda: _refused_of_one(other_uid, path) == 0)


@pytest.mark.root
def test_who_announces_changes_and_sends_none_keeps_nobody_out(
    folder: Path, other_uid: int
) -> None:
    path = folder / "mb.sock"
    with serving(FakeService(), path, connections=4):
        crowds = [crowd(other_uid + n, path, 2, _SENDS) for n in range(2)]
        assert [refused for _, refused in crowds] == [0, 0]
        crowds.append(crowd(other_uid + 2, path, 1))
        assert crowds[-1][1] == 0
        for process, _ in crowds:
            leave(process)


class _Slow(FakeService):
    """Holds are under way until the test has ended."""

    def __init__(self) -> None:
        super().__init__()
        self.under_way: list[Future[Json]] = []

    def hold(self, caller: Caller, job: int) -> Future[Json]:
        self.under_way.append(Future())
        return self.under_way[-1]


@pytest.mark.root
def test_a_change_under_way_is_ended_for_nobody(folder: Path, other_uid: int) -> None:
    path, service = folder / "mb.sock", _Slow()
    with serving(service, path, connections=4):
        crowds = [crowd(other_uid + n, path, 2, _CHANGES) for n in range(2)]
        eventually(lambda: len(service.under_way) == 4)
        assert _refused_of_one(other_uid + 2, path) == 1
        for future in service.under_way:
            future.set_result({})
        for process, _ in crowds:
            leave(process)


def _refused_of_one(uid: int, path: Path) -> int:
    process, refused = crowd(uid, path, 1)
    leave(process)
    return refused


class _Fair:
    """A door whose connections are only counted; `gone`: whose were ended."""

    def __init__(self, most: int) -> None:
        self.limiter = ConnectionLimiter(asyncio.Protocol, most)
        self.gone: list[object] = []

    def enter(self, who: int | str, times: int = 1) -> list[Admitted | None]:
        return [self.limiter.enter(who, lambda _why: self.gone.append(who)) for _ in range(times)]


def test_however_many_users_hold_all_the_next_one_gets_in() -> None:
    fair = _Fair(64)
    for who in range(1, 33):
        fair.enter(who, 100)
    assert fair.enter("10.0.0.7") != [None] and len(fair.gone) > 0
    mine = [one for one in fair.enter(99, 10) if one is not None]
    assert mine, "though not more than the others have"
    fair.gone.clear()
    assert None in fair.enter(1, 5) and fair.gone == [], "nobody gets more by asking again"
    assert None not in fair.enter(0, 50), "root is always let in"


def _told(ended: list[str], name: str, _why: str) -> None:
    ended.append(name)


def test_idle_connections_go_first_and_a_change_never() -> None:
    fair = _Fair(6)
    ended: list[str] = []
    places = []
    for name, busy in (("changes", Busy.CHANGING), ("reads", Busy.READING), ("idle", Busy.IDLE)):
        place = fair.limiter.enter(1, partial(_told, ended, name))
        assert place is not None
        place.busy = busy
        places.append(place)
    fair.enter(2, 3)
    for who in (3, 4, 5):
        fair.enter(who)
    assert ended == ["idle", "reads"] and fair.gone == [2]
    for place in places:
        fair.limiter.leave(place)  # when it is told that they are lost, too
    assert None not in fair.enter(6)


def test_who_only_changes_something_loses_no_connection_to_others() -> None:
    fair, ended = _Fair(6), list[str]()
    for _ in range(3):
        place = fair.limiter.enter(1, partial(_told, ended, "changes"))
        assert place is not None
        place.busy = Busy.CHANGING
    for who in (2, 3, 4):
        fair.enter(who)
    assert fair.enter(5) == [None] and ended == []


def test_a_connection_that_has_ended_leaves_nothing_to_the_collector_of_cycles() -> None:
    """Else what was read for it, and its whole request, stays until that comes by."""

    class Inside(asyncio.Protocol):
        pass

    async def come_and_go(folder: Path) -> weakref.ref[asyncio.Protocol]:
        made: list[weakref.ref[asyncio.Protocol]] = []

        def inside() -> asyncio.Protocol:
            found = Inside()
            made.append(weakref.ref(found))
            return found

        limiter = ConnectionLimiter(inside, 10)
        server = await asyncio.get_running_loop().create_unix_server(limiter, str(folder / "s"))
        _, writer = await asyncio.open_unix_connection(str(folder / "s"))
        while not made:
            await asyncio.sleep(0)
        assert made[0]() is not None
        writer.close()
        await writer.wait_closed()
        server.close()
        for _ in range(1_000):
            if made[0]() is None:
                break
            await asyncio.sleep(0.0001)
        return made[0]

    gc.collect()
    gc.disable()
    try:
        with tempfile.TemporaryDirectory() as name:
            assert asyncio.run(come_and_go(Path(name)))() is None
    finally:
        gc.enable()
