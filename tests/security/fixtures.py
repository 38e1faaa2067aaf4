"""A front to attack."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.security.front import Front


@pytest.fixture
def front(folder: Path) -> Iterator[Front]:
    made = Front(folder)
    yield made
    made.close()
