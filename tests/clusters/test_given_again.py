"""An id that a cluster gives again, a moment after the script of the job that had it was started:
by its time that job could be the one which has written the component's record."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from metabroker.broker.tokens import NativeId
from metabroker.clusters.gated import GatedCluster, NativeEnd
from metabroker.clusters.operation import Operation
from metabroker.clusters.port import CleanRequest, Writer
from metabroker.clusters.slurm import SlurmCluster, SlurmOptions
from metabroker.clusters.transports.local import LocalTransport
from tests.clusters.slurm.drive import TOKEN, Told, drive

SUBMITTED, STARTED = 994.0, 1000.0


@pytest.fixture
def it() -> GatedCluster:
    options = SlurmOptions("root", name="delft", instance="abcdef01", partition="batch")
    return SlurmCluster(options, LocalTransport({}))


@pytest.fixture
def gate(tmp_path: Path) -> str:
    """Of a component whose script was started by job 7."""
    made = tmp_path / "gate"
    made.mkdir()
    for name, text, at in (("run", "", SUBMITTED), ("started", "n1 id=7\n", STARTED)):
        (made / name).write_text(text)
        os.utime(made / name, (at, at))
    return str(made)


def writer(it: GatedCluster, gate: str, native: NativeId | None) -> Writer | None:
    """Whom the cluster is asked to clean up, by the record's word."""
    asked: list[CleanRequest] = []

    def clean(request: CleanRequest) -> Operation[NativeEnd]:
        asked.append(request)
        yield from ()
        return NativeEnd(None, None)

    drive(it._cleaned(CleanRequest(TOKEN, gate, native=native), clean), [], Told())
    return asked[0].writer


def test_of_a_job_whose_time_its_cluster_has_told_the_record_tells_nothing_more(
    it: GatedCluster, gate: str
) -> None:
    assert writer(it, gate, NativeId("7", SUBMITTED, listed=True)) is None


@pytest.mark.parametrize(
    "native",
    [None, NativeId("7", SUBMITTED), NativeId("6", SUBMITTED, listed=True)],
    ids=["not known", "by the broker's clock", "another"],
)
def test_else_it_is_believed(it: GatedCluster, gate: str, native: NativeId | None) -> None:
    assert writer(it, gate, native) == Writer("7", SUBMITTED, STARTED)
