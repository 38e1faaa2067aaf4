"""A component that is submitted again since the store has gone back to before its end was known:
its cluster still knows its job, and its gate is gone since."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.clusters.gated import GatedCluster
from metabroker.clusters.openpbs import OpenPBSCluster, OpenPBSOptions
from metabroker.clusters.port import CleanRequest, NativeSubmission
from metabroker.clusters.slurm import SlurmCluster, SlurmOptions
from metabroker.clusters.transports.local import LocalTransport
from tests.clusters.gate.making import order
from tests.clusters.slurm.drive import TOKEN, Answer, Told, drive, job, said

SLURM = SlurmOptions("root", name="delft", instance="abcdef01", partition="batch")
OPENPBS = OpenPBSOptions("mbsvc", name="leiden", instance="abcdef01")


def of_slurm(*, ended: bool) -> tuple[GatedCluster, list[Answer]]:
    found: list[Answer] = [said(job("COMPLETED" if ended else "RUNNING"))]
    return SlurmCluster(SLURM, LocalTransport({})), found


def of_openpbs(*, ended: bool) -> tuple[GatedCluster, list[Answer]]:
    words = "job_state=F|substate=92|Exit_status=0" if ended else "job_state=R|substate=42"
    line = f"Job Id: 7.pbsa|Job_Name={TOKEN}|Job_Owner=mbsvc@h|Resource_List.ncpus=16|{words}\n"
    return OpenPBSCluster(OPENPBS, LocalTransport({})), [said("7.pbsa\n"), said(line)]


KINDS = pytest.mark.parametrize("kind", [of_slurm, of_openpbs])


@KINDS
def test_where_its_job_has_ended_no_gate_is_left_that_says_it_never_started(
    kind: type, tmp_path: Path
) -> None:
    it, answers = kind(ended=True)
    request = replace(order(tmp_path), again=True)
    done: NativeSubmission = drive(it.submit(request), answers, Told())
    assert done.ended and not Path(request.gate).exists()
    assert not it._gates.shut(CleanRequest(TOKEN, request.gate, reservation=False))


@KINDS
def test_where_it_has_not_ended_it_waits_at_the_new_gate(kind: type, tmp_path: Path) -> None:
    it, answers = kind(ended=False)
    request = replace(order(tmp_path), again=True)
    done: NativeSubmission = drive(it.submit(request), answers, Told())
    assert not done.ended and (Path(request.gate) / "wait").exists()


@KINDS
def test_a_gate_that_was_there_is_left_with_what_it_tells(kind: type, tmp_path: Path) -> None:
    it, answers = kind(ended=True)
    request = order(tmp_path)
    it._gates.prepare(request)
    drive(it.submit(replace(request, again=True)), answers, Told())
    assert (Path(request.gate) / "wait").exists()


@KINDS
def test_one_that_was_killed_as_it_took_its_gate_has_not_ended_well(
    kind: type, tmp_path: Path
) -> None:
    it, answers = kind(ended=True)
    request = order(tmp_path)
    it._gates.prepare(request)
    (Path(request.gate) / "wait").rename(Path(request.gate) / ".mine")
    drive(it.submit(replace(request, again=True)), answers, Told())
    assert it._gates.shut(CleanRequest(TOKEN, request.gate, reservation=False))
