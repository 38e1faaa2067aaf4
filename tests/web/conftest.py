"""What tests of the page share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.testbed.apt import PackagesUnavailable
from tests.web import browser as chromium
from tests.web.browser import Browser
from tests.web.served import MakeServed, Served

REQUIRED = "METABROKER_REQUIRE_SLURM"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where a browser must be had, its installation begins with the first test of any kind."""
    if os.environ.get(REQUIRED) == "1" and any(
        "browser" in getattr(item, "fixturenames", ())
        for item in items  # not ours
    ):
        chromium.begin_to_install()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A real one."""
    try:
        programs = chromium.install()
    except PackagesUnavailable as error:
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(f"Chromium cannot be had here: {error}", pytrace=False)
        pytest.skip(f"left out, it needs Chromium, which cannot be had here: {error}")
    with chromium.running(programs) as started:
        yield started


@pytest.fixture
def make_served() -> Iterator[MakeServed]:
    made: list[Served] = []

    def make(**given: Any) -> Served:
        made.append(Served(**given))
        return made[-1]

    yield make
    for each in made:
        each.server.stop()


@pytest.fixture
def served(make_served: MakeServed) -> Served:
    return make_served()
