"""When a job was submitted, by its cluster's clock, is known as soon as its id is: its script may
rename it before any poll has shown it, and the id alone may be another's."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.clusters.openpbs import OpenPBSCluster, OpenPBSOptions
from metabroker.clusters.port import UnknownOutcome
from metabroker.clusters.slurm import SlurmCluster, SlurmOptions
from metabroker.clusters.transports.base import CommandLost, Completed
from metabroker.clusters.transports.local import LocalTransport
from tests.clusters.gate.making import order
from tests.clusters.slurm.drive import Answer, Told, drive, job, said

NOW = 1795236222.25
CAME = 1795236215  # by the cluster's clock, which is seven seconds behind

Cluster = SlurmCluster | OpenPBSCluster
Make = Callable[[float], tuple[Cluster, Answer, Answer]]


def of_slurm(clock_every: float = 600.0) -> tuple[Cluster, Answer, Answer]:
    """It, its answer to a submission, and its list of job 7, which has been renamed."""
    options = SlurmOptions("root", name="delft", instance="abcdef01", clock_every=clock_every)
    listed = said(job("PENDING", name="my-run", submitted=CAME))
    return SlurmCluster(options, LocalTransport({})), said("7\n"), listed


def of_openpbs(clock_every: float = 600.0) -> tuple[Cluster, Answer, Answer]:
    """The same of OpenPBS."""
    options = OpenPBSOptions("mbsvc", name="leiden", instance="abcdef01", clock_every=clock_every)
    words = f"job_state=Q|ctime={time.asctime(time.gmtime(CAME))}|substate=10"
    listed = f"Job Id: 7.pbsa|Job_Name=my-run|Job_Owner=mbsvc@h|Resource_List.ncpus=16|{words}\n"
    return OpenPBSCluster(options, LocalTransport({})), said("7.pbsa\n"), said(listed)


KINDS = pytest.mark.parametrize("kind", [of_slurm, of_openpbs])


@KINDS
def test_where_the_clock_was_never_told_the_cluster_is_asked(kind: Make, tmp_path: Path) -> None:
    it, taken, listed = kind(600.0)
    done = drive(it.submit(order(tmp_path)), [taken, listed], Told(NOW))
    assert done.submit_time == CAME


@KINDS
def test_the_time_of_another_component_that_was_given_its_id_is_not_its_own(
    kind: Make, tmp_path: Path
) -> None:
    it, taken, listed = kind(600.0)
    assert isinstance(listed, Completed)
    given = replace(listed, stdout=listed.stdout.replace("my-run", "mb-abcdef01-99-1-0"))
    assert drive(it.submit(order(tmp_path)), [taken, given], Told(NOW)).submit_time is None


@KINDS
def test_where_it_was_told_that_is_enough(kind: Make, tmp_path: Path) -> None:
    it, taken, _ = kind(600.0)
    it._clock.known = -7.0
    done = drive(it.submit(order(tmp_path)), [taken], Told(NOW))
    assert done.submit_time == pytest.approx(NOW - 7.0)


@KINDS
def test_where_it_is_never_asked_both_clocks_are_one(kind: Make, tmp_path: Path) -> None:
    it, taken, _ = kind(0.0)
    assert drive(it.submit(order(tmp_path)), [taken], Told(NOW)).submit_time is None


@KINDS
@pytest.mark.parametrize("trouble", [CommandLost("cut"), said(rc=1, stdout="")])
def test_where_nobody_answers_the_job_is_looked_for_by_its_token(
    kind: Make, tmp_path: Path, trouble: Answer
) -> None:
    it, taken, _ = kind(600.0)
    with pytest.raises(UnknownOutcome):
        drive(it.submit(order(tmp_path)), [taken, trouble], Told(NOW))
