"""Nobody's requests wait behind all of another's."""

from __future__ import annotations

import asyncio
import threading

from metabroker.api.fair_executor import FairExecutor


def test_one_user_s_long_requests_leave_a_thread_to_others() -> None:
    async def asked() -> None:
        fair, go_on, begun = FairExecutor(3, "api"), threading.Event(), []

        def long() -> None:
            begun.append(1)
            assert go_on.wait(30)

        mallory = [fair.call("mallory", long) for _ in range(50)]
        try:
            for number in range(10):
                told = fair.call("anna", lambda number=number: number)  # type: ignore[misc]
                assert await asyncio.wait_for(told, 20) == number
            assert len(begun) == 2
        finally:
            go_on.set()
            await asyncio.gather(*mallory)
            fair.shutdown()

    asyncio.run(asked())


def test_an_error_is_told_and_what_was_cancelled_is_not_begun() -> None:
    async def asked() -> None:
        fair, go_on, begun = FairExecutor(1, "api"), threading.Event(), []
        first = fair.call("anna", lambda: go_on.wait(30))
        second = fair.call("anna", lambda: begun.append(2))
        third = fair.call("anna", lambda: 1 // 0)
        second.cancel()
        await asyncio.sleep(0)  # it is told
        go_on.set()
        assert await first
        (error,) = await asyncio.gather(third, return_exceptions=True)
        assert isinstance(error, ZeroDivisionError) and not begun
        fair.shutdown()

    asyncio.run(asked())
