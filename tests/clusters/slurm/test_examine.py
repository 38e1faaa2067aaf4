"""An examination of a Slurm cluster, by what its commands say."""

from __future__ import annotations

from metabroker.clusters.examination import CheckOutcome, CheckResult
from metabroker.clusters.slurm.commands import SlurmIdentity
from metabroker.clusters.slurm.examine import examine

from . import recorded
from .drive import Answer, Told, drive, failed, said

NOW = 1_795_244_532.0
CONFIG = """\
Configuration data as of {time:.0f}
MinJobAge               = {age} sec
SelectType              = {select}
"""
PARTITION = (
    "PartitionName=batch AllowGroups=ALL Default=YES OverSubscribe={share} State={state} x=\n"
)
DENIED = failed(
    "Error creating the reservation: Access/permission denied\nNo reservation created.\n"
)


def config(time: float = NOW, age: int = 300, select: str = "select/cons_tres") -> Answer:
    return said(CONFIG.format(time=time, age=age, select=select))


def partition(share: str = "NO", state: str = "UP") -> Answer:
    return said(PARTITION.format(share=share, state=state))


def examined(
    *after_the_look: Answer, version: str = "slurm 22.05.8"
) -> tuple[Told, list[CheckResult]]:
    told = Told()
    look = [
        said(recorded.squeue("22.05", "idle")),
        said(recorded.sinfo("22.05", "idle")),
        said("No reservations in the system\n"),
    ]
    operation = examine(SlurmIdentity("mbsvc"), NOW, reserves=True, least_age=45.0)
    return told, drive(operation, [said(version), *look, *after_the_look], told)


def outcomes(findings: list[CheckResult]) -> dict[str, CheckOutcome]:
    return {finding.check: finding.outcome for finding in findings}


def test_all_is_well_and_what_was_made_is_deleted() -> None:
    told, found = examined(config(), partition(), said("Reservation created: x\n"), said())
    assert set(outcomes(found).values()) == {CheckOutcome.OK}
    create, delete = told.commands[-2:]
    name = next(word for word in create.argv if word.startswith("ReservationName="))
    assert delete.argv == ("scontrol", "delete", name)
    assert "StartTime=now+2592000seconds" in create.argv and name[16:].startswith("mb-doctor-")


def test_processors_that_are_kept_for_the_system_are_told_and_are_none_of_a_whole_node() -> None:
    sums = "Nodes=delft[1-3] State=UP TotalCPUs=144 TRES=cpu=132,mem=1G"
    shown = f"PartitionName=batch Default=YES OverSubscribe=EXCLUSIVE {sums}\n"
    names = ("delft1", "delft2", "delft3")
    nodes = "".join(f"NodeName={name} x=y CPUEfctv=44 CPUTot=48 z=\n" for name in names)
    made = said("Reservation created: x\n"), said()
    _, found = examined(config(), said(shown), said(shown), said(nodes), *made)
    told = {finding.check: finding for finding in found}
    assert told["system cores"].said.startswith("12 processors are kept for the system")
    assert "`whole_nodes: 44`" in told["whole nodes"].advice


def test_no_right_to_reserve() -> None:
    _, found = examined(config(), partition(), DENIED, failed("reservation is invalid"))
    (reserve,) = [finding for finding in found if finding.check == "reserve"]
    assert reserve.outcome is CheckOutcome.MISSING and "permission denied" in reserve.said
    assert "adminlevel=operator" in reserve.advice and "mbsvc" in reserve.advice


def test_what_is_odd_is_a_warning() -> None:
    strange = config(NOW + 9, age=30, select="select/linear")
    _, found = examined(strange, partition("EXCLUSIVE"), said(), said(), version="slurm 20.11.4")
    assert [(f.check, f.outcome) for f in found if f.outcome is not CheckOutcome.OK] == [
        (check, CheckOutcome.WARNING) for check in ("version", "clock", "ended jobs", "whole nodes")
    ]
    clock = next(finding for finding in found if finding.check == "clock")
    assert "+10 s" in clock.said or "+9 s" in clock.said


def test_a_partition_that_is_down() -> None:
    _, found = examined(config(), partition(state="DOWN"), said(), said())
    assert outcomes(found)["partition"] is CheckOutcome.MISSING


def test_a_garbled_answer_is_a_finding_and_no_exception() -> None:
    told = Told()
    operation = examine(SlurmIdentity("mbsvc"), NOW, reserves=True, least_age=45.0)
    found = drive(operation, [said("slurm 24.11.5"), said("what?\n")], told)
    assert outcomes(found)["list"] is CheckOutcome.MISSING
