"""Large requests share a room, and what stands in one is counted before it is made."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from concurrent.futures import Future
from typing import Any

import pytest

from metabroker.api import bodies
from metabroker.api.bodies import DEEPEST, LARGEST, MOST_PARTS, SMALL, Bodies, parsed
from metabroker.api.fair_executor import FairExecutor
from metabroker.api.middleware import Middleware
from metabroker.api.routes import Routes
from metabroker.api.service import Failure, Json, ServiceError
from metabroker.submission.model import Caller

from .fake import FakeService


def test_one_user_has_a_part_of_the_room_and_all_have_no_more_than_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bodies, "_ROOM", 1000)
    monkeypatch.setattr(bodies, "_SHARE", 400)
    held = Bodies(10.0)
    held._take(1001, 300)
    with pytest.raises(ServiceError) as caught:
        held._take(1001, 101)
    assert caught.value.failure is Failure.UNAVAILABLE
    held._take(1002, 400)
    held._take(1003, 300)
    with pytest.raises(ServiceError):
        held._take(1004, 1)
    held._take(0, 5000)  # root's


@pytest.mark.parametrize(
    "body",
    [
        b'{"args":[' + b"0," * (MOST_PARTS // 2) + b'"' * MOST_PARTS + b"]}",
        b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1),
    ],
    ids=["wide", "deep"],
)
def test_too_many_parts_and_too_deep_ones_are_told_apart_from_what_is_no_json(body: bytes) -> None:
    with pytest.raises(ServiceError, match="nested more than 32 deep, or has too many parts"):
        parsed(body)


def test_what_is_just_within_the_bounds_is_read() -> None:
    wide = b"[" + b"0," * (MOST_PARTS - 3) + b"0]"
    assert len(parsed(wide)) == MOST_PARTS - 2
    assert parsed(b"[" * DEEPEST + b"]" * DEEPEST)
    with pytest.raises(ServiceError, match="is not JSON"):
        parsed(b"[0,")


class _Large:
    """A request with a large body."""

    content_length = None

    @property
    def content(self) -> _Large:
        return self

    async def iter_any(self) -> AsyncIterator[bytes]:
        yield b"x" * (2 * SMALL)


def test_a_body_has_its_room_until_its_change_is_done_also_if_who_sent_it_has_gone() -> None:
    """Else one user could fill the memory: by sending them, and not waiting for any answer."""
    go_on, begun = threading.Event(), threading.Event()
    done: Future[Json] = Future()

    def change() -> Future[Json]:
        begun.set()
        go_on.wait(30)
        return done

    async def asked() -> None:
        fair, held = FairExecutor(1, "api"), Bodies(10.0)
        executor: Any = None
        routes = Routes(FakeService(), executor, fair, fair, Middleware())

        async def handler() -> None:
            request: Any = _Large()
            async with held.of(request, 1001, LARGEST):
                await routes._done(Caller(1001, "mallory"), change)

        task = asyncio.create_task(handler())
        await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        await asyncio.wait({task}, timeout=0.05)
        assert held._held[1001] == 2 * SMALL
        go_on.set()
        await asyncio.wait({task}, timeout=0.05)
        assert held._held[1001] == 2 * SMALL
        done.set_result({})
        await asyncio.wait_for(task, 30)
        assert held._held[1001] == 0
        fair.shutdown()

    asyncio.run(asked())
