"""Stores of both kinds of database: what is promised of one holds for the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.testbed.postgres import Postgres


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/metabroker.db"
    found: str = request.getfixturevalue("database")
    return found


@pytest.fixture(scope="session")
def kept_database(postgres_server: Postgres) -> Iterator[str]:
    """One for many tests: to make each its own takes longer than they do."""
    name = postgres_server.database()
    yield postgres_server.url(name)
    postgres_server.start()
    postgres_server.drop(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def kept_url(request: pytest.FixtureRequest) -> str:
    """The URL of a database whose tables the test empties."""
    if request.param == "sqlite":
        return "sqlite://"
    found: str = request.getfixturevalue("kept_database")
    return found
