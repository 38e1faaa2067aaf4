"""Stores of both kinds of database: what is promised of one holds for the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from metabroker.store import Store
from tests.store.making import Time
from tests.testbed.postgres import Postgres

KINDS = pytest.fixture(params=["sqlite", "postgresql"])


@KINDS
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database of each kind."""
    sqlite = f"sqlite:///{tmp_path}/metabroker.db"
    return sqlite if request.param == "sqlite" else str(request.getfixturevalue("database"))


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def store(url: str, time: Time) -> Iterator[Store]:
    """An empty one of each kind."""
    made = Store(url, clock=time)
    yield made
    made.close()


@pytest.fixture(scope="session")
def kept_database(postgres_server: Postgres) -> str:
    """One for many tests: to make each its own takes longer than they do."""
    return postgres_server.url(postgres_server.database())


@KINDS
def kept_url(request: pytest.FixtureRequest) -> str:
    """The URL of a database whose tables the test empties."""
    if request.param == "sqlite":
        return "sqlite://"
    request.getfixturevalue("postgres")  # it serves: an earlier test may have ended it
    return str(request.getfixturevalue("kept_database"))
