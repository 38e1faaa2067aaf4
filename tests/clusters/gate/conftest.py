"""Wrappers by every shell that is here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clusters.gate.running import SHELLS, Wrappers


@pytest.fixture(params=SHELLS, ids=" ".join)
def wrappers(request: pytest.FixtureRequest) -> Iterator[Wrappers]:
    made = Wrappers(request.param)
    yield made
    made.kill()
