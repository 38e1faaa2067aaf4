"""A front to attack."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.security.front import Front


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path, as sockets need it, that every user may enter."""
    path = Path(tempfile.mkdtemp(prefix="mb"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def front(folder: Path) -> Iterator[Front]:
    made = Front(folder)
    yield made
    made.close()
