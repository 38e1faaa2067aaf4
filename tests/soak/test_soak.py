"""A short share of the soak (`make soak`): the same jobs, faults and verdict, for some seconds,
over two brokers that share a database."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.soak.faults import MILD
from benchmarks.soak.kind import RELEASES
from benchmarks.soak.soak import Plan, soak
from tests.testbed.apt import SlurmUnavailable
from tests.testbed.fixtures import installed
from tests.testbed.postgres import install as install_postgres

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(900)]
SHORT = Plan(
    seconds=6.0,
    seed=1,
    users=8,
    pace=3.0,
    longest=1.0,
    short=3.0,
    longs=0,
    every=1.0,
    overtime=False,
    kinds=MILD,
)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short path, which every user may enter."""
    made = Path(tempfile.mkdtemp(prefix="mb-soak-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def _brokers() -> int:
    """Two, unless there is no database that they could share."""
    try:
        install_postgres()
    except SlurmUnavailable:
        return 1
    return 2


def test_no_promise_is_broken_while_everything_is_killed_at_random(folder: Path) -> None:
    for suite in RELEASES.values():
        installed(suite)
    told: list[str] = []
    outcome = soak(replace(SHORT, brokers=_brokers()), folder, told.append)
    assert not outcome.verdict.violations, "\n".join([*told, *outcome.stories])
    report = outcome.report
    assert report["by_state"].get("COMPLETED", 0) >= SHORT.users // 2
    assert report["scripts_started"] >= report["by_state"]["COMPLETED"]
    assert any(what.startswith("daemon") for what in report["faults"])
    assert any(what.startswith("slurmctld") for what in report["faults"])
