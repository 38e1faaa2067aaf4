"""Fixtures of the tests of real faults."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.disks import NoDisk, SmallDisk

MakeDisk = Callable[[Path, int], SmallDisk]


@pytest.fixture
def make_disk() -> Iterator[MakeDisk]:
    """Makes small disks that are gone after the test."""
    made: list[SmallDisk] = []

    def make(folder: Path, size: int) -> SmallDisk:
        if shutil.which("unshare") is None or shutil.which("nsenter") is None:
            pytest.skip("a small disk needs unshare and nsenter (util-linux)")
        try:
            made.append(SmallDisk(folder, size))
        except NoDisk as why:
            pytest.skip(str(why))
        return made[-1]

    yield make
    for disk in made:
        disk.remove()
