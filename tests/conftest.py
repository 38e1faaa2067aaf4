"""Fixtures for all tests, and what holds for tests of whole daemons."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.share import share

gc.disable()  # all that is imported for the tests stays: see `pytest_collection_finish`

pytest_plugins = [
    "tests.testbed.fixtures",
    "tests.testbed.far",
    "tests.daemon.fixtures",
    "tests.daemon.acting_world",
    "tests.daemon_units.fixtures",
    "tests.security.fixtures",
]

SLOW = [HealthCheck.too_slow]  # a busy machine is no error
settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=SLOW, max_examples=share(50)
)
settings.load_profile("unhurried")

LONGEST_ID = 200  # characters of one parameter in a test's name

OF_REAL_DAEMONS = {"clusters", "make_site", "testbed", "overtime", "sshd"}


def pytest_configure() -> None:
    """What a script starts in the background ignores Ctrl-C, or a hangup, and so do all its
    processes: also those that tests interrupt, unless the signal is heard here."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """What is long has its length for a name. The name of the test that runs is in the environment
    of all that it starts, which the system refuses to start with a variable of 128 kB."""
    if isinstance(val, (str, bytes)) and len(val) > LONGEST_ID:
        return f"{argname} of {len(val)}"
    return None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What holds for all tests, whatever they are about."""
    _run_again(items)
    items.sort(key=lambda item: item.get_closest_marker("late") is not None)
    if getattr(config.option, "loadgroup", False):  # not ours
        _see_groups(items)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Modules and tests are there to the end: nobody looks for garbage among them. To do so while
    they are read takes longer than all else of it."""
    gc.freeze()
    gc.enable()


def _see_groups(items: list[pytest.Item]) -> None:
    """Tests of one xdist_group share what takes long to make; pytest-xdist must have seen it.

    It tells its scheduler by the test's name. Where that comes to nothing every worker makes
    everything, some minutes more, and nothing says so.
    """
    for item in items:
        if item.get_closest_marker("xdist_group") and "@" not in item.nodeid:
            raise RuntimeError(
                f"{item.nodeid} has lost its xdist_group: this pytest-xdist does not know this "
                "pytest; install the releases that pyproject.toml names (`make setup`)"
            )


def _run_again(items: list[pytest.Item]) -> None:
    """In CI (METABROKER_TEST_RERUNS=1) a test of real daemons that fails is run once more.

    Such a run depends on a machine that others load. Each failure is printed all the same, as
    RERUN with its traceback: it is to be read and understood, and counts where it comes twice.
    """
    reruns = int(os.environ.get("METABROKER_TEST_RERUNS", "0"))
    for item in items:
        if reruns and OF_REAL_DAEMONS & set(getattr(item, "fixturenames", ())):  # not ours
            item.add_marker(pytest.mark.flaky(reruns=reruns))


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path, as sockets need it, that every user may enter."""
    path = Path(tempfile.mkdtemp(prefix="mb-")).resolve()
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)
