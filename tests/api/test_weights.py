"""How much one user may have the store keep."""

from __future__ import annotations

import pytest

from metabroker.api.middleware import Middleware
from metabroker.api.service import Failure, ServiceError
from metabroker.submission.model import Caller

MALLORY, ANNA, ROOT = Caller(1001, "mallory"), Caller(1002, "anna"), Caller(0, "root")
LARGE = 6 << 20


def test_large_submissions_are_bounded_together_for_each_user() -> None:
    now = 1000.0
    middleware = Middleware(clock=lambda: now)
    taken = 0
    with pytest.raises(ServiceError, match="too many kilobytes of submissions") as refused:
        while taken < 10_000:
            middleware.weigh(MALLORY, LARGE)
            taken += 1
    assert refused.value.failure is Failure.TOO_OFTEN
    assert 50 < taken * LARGE / 2**20 <= 512
    middleware.weigh(ANNA, LARGE)
    for _ in range(200):
        middleware.weigh(ROOT, LARGE)
    now += 10.0
    middleware.weigh(MALLORY, LARGE)  # 20 MB more, by now


def test_small_ones_are_as_many_as_their_own_rate_allows() -> None:
    middleware = Middleware(clock=lambda: 1000.0)
    for _ in range(10_000):
        middleware.weigh(MALLORY, 3000)
