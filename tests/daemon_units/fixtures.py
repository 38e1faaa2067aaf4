"""The daemon's parts, for tests of all that is made of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon_units.making import Failing, House


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.close()


@pytest.fixture
def store() -> Iterator[Failing]:
    made = Failing()
    yield made
    made.close()
