"""A cluster that says no."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.port import ClusterRefusal


@contextmanager
def refused(
    cause: Cause, match: str | None = None
) -> Iterator[pytest.ExceptionInfo[ClusterRefusal]]:
    """What is done within is refused for that cause, in words that match."""
    with pytest.raises(ClusterRefusal, match=match) as caught:
        yield caught
    assert caught.value.cause is cause
