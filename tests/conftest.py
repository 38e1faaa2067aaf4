"""Fixtures for all tests, and what holds for tests of whole daemons."""

from __future__ import annotations

import os

import pytest

pytest_plugins = ["tests.testbed.fixtures", "tests.testbed.far", "tests.daemon.fixtures"]

OF_REAL_DAEMONS = {"clusters", "make_site", "testbed", "overtime", "sshd"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In CI (METABROKER_TEST_RERUNS=1) a test of real daemons that fails is run once more.

    Such a run depends on a machine that others load. Each failure is printed all the same, as
    RERUN with its traceback: it is to be read and understood, and counts where it comes twice.
    """
    reruns = int(os.environ.get("METABROKER_TEST_RERUNS", "0"))
    for item in items:
        if reruns and OF_REAL_DAEMONS & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.flaky(reruns=reruns))
