"""Reserving: every form of the command, and nothing counts before it was read again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.command_errors import Garbled
from metabroker.clusters.port import ClusterRefusal, ReserveRequest, UnknownOutcome
from metabroker.clusters.slurm import operations
from metabroker.clusters.slurm.commands import SlurmIdentity
from metabroker.clusters.slurm.parsing import NodeLine
from metabroker.clusters.transports.base import Completed, Unreached
from tests.clusters.refusals import refused

from . import recorded
from .drive import TOKEN, Answer, Told, drive, failed, said

WHO = SlurmIdentity("mbsvc", "batch")
ORDER = ReserveRequest(TOKEN, 16, 600)
BUSY = failed("Error creating the reservation: Requested nodes are busy\n")
CREATED = said(f"Reservation created: {TOKEN}\n")
DUPLICATE = failed("Error creating the reservation: Duplicate reservation name\n")
NOT_FOUND = failed("", stdout=f"Reservation {TOKEN} not found\n")
CREATE = (
    f"scontrol create reservation ReservationName={TOKEN} StartTime=now Duration=10 "
    "Users=mbsvc CoreCnt=16"
)
SHOW = f"scontrol -o show reservation {TOKEN}"
DELETE = f"scontrol delete ReservationName={TOKEN}"


def nodes(*idle: int, threads: int = 1) -> list[NodeLine]:
    return [
        NodeLine(f"n{i}", "idle", 48 - n, n, 0, 48, "batch", True, True, threads)
        for i, n in enumerate(idle, 1)
    ]


def shown(
    cores: int = 16, processors: int | None = None, state: str = "ACTIVE", name: str = TOKEN
) -> Completed:
    return said(
        f"ReservationName={name} StartTime=1795244534 EndTime=1795248134 Duration=01:00:00 "
        f"Nodes=n1 NodeCnt=1 CoreCnt={cores} Features=(null) PartitionName=batch Flags= "
        f"TRES=cpu={processors or cores} Users=mbsvc State={state}\n"
    )


def reserve(
    answers: list[Answer], rooms: list[NodeLine], version: str, order: ReserveRequest = ORDER
) -> list[str]:
    told = Told()
    drive(operations.reserve(WHO, order, rooms, version), answers, told)
    return told.lines


def test_up_to_24_slurm_chooses_the_nodes() -> None:
    lines = reserve([CREATED, shown()], nodes(48, 48), "24.11.5")
    assert lines == [f"{CREATE} PartitionName=batch", SHOW]


def test_from_25_on_the_fewest_nodes_come_first() -> None:
    lines = reserve([CREATED, shown()], nodes(48, 48, 48), "26.05.5")
    assert lines == [f"{CREATE} NodeCnt=1 PartitionName=batch", SHOW]


def test_the_form_that_succeeds_is_the_last() -> None:
    lines = reserve([BUSY, CREATED, shown()], nodes(10, 4, 8), "22.05.8")
    assert lines == [
        f"{CREATE} PartitionName=batch",
        f"{CREATE} NodeCnt=2 PartitionName=batch",
        SHOW,
    ]


@pytest.mark.parametrize(
    ("version", "rooms", "forms"),
    [
        ("22.05.8", (48, 48, 48), ["", "1", "2", "3"]),
        ("24.11.5", (10, 4, 8), ["", "2", "3"]),
        ("26.05.5", (10, 4, 8), ["2", "3", ""]),
        ("26.05.5", (4, 4), [""]),
        ("22.05.8", (), [""]),
        ("something new", (48,), ["", "1"]),
    ],
)
def test_the_forms_for_16_processors(
    version: str, rooms: tuple[int, ...], forms: list[str]
) -> None:
    told = Told()
    with refused(Cause.BUSY):
        answers: list[Answer] = [BUSY] * len(forms)
        drive(operations.reserve(WHO, ORDER, nodes(*rooms), version), answers, told)
    asked = [next((w[8:] for w in c.argv if w.startswith("NodeCnt=")), "") for c in told.commands]
    assert asked == forms


@pytest.mark.parametrize(
    "wrong",
    [
        shown(cores=64),
        shown(cores=77, processors=39),
        shown(cores=16, processors=20),
        shown(cores=15),
        shown(state="INACTIVE"),
        shown(name="another"),
        said("No reservations in the system\n"),
        NOT_FOUND,
    ],
)
def test_what_is_not_what_was_asked_for_is_deleted_and_the_next_form_tried(
    wrong: Completed,
) -> None:
    lines = reserve([CREATED, wrong, said(), CREATED, shown()], nodes(48), "22.05.8")
    assert lines == [
        f"{CREATE} PartitionName=batch",
        SHOW,
        DELETE,
        f"{CREATE} NodeCnt=1 PartitionName=batch",
        SHOW,
    ]


def test_if_no_form_gives_what_was_asked_for_it_is_refused() -> None:
    with refused(Cause.BUSY, "not the one asked for"):
        reserve([CREATED, shown(64), said(), CREATED, shown(8), said()], nodes(48), "22.05.8")


def test_one_that_is_there_already_is_ours_if_it_is_right() -> None:
    assert reserve([DUPLICATE, shown()], nodes(48), "24.11.5")[1:] == [SHOW]


def test_one_that_is_there_already_and_wrong_is_made_anew() -> None:
    lines = reserve([DUPLICATE, shown(8), said(), CREATED, shown()], nodes(48), "24.11.5")
    assert lines[2] == DELETE


@pytest.mark.parametrize("release", recorded.RELEASES)
def test_who_may_not_reserve_is_told_what_to_do(release: str) -> None:
    answer = recorded.cases(release)["create as no operator"].completed
    with refused(Cause.DENIED, "claim: placeholder"):
        reserve([answer], nodes(48), "24.11.5")


def test_an_account_that_may_be_unknown_there_is_named() -> None:
    """Slurm says of it what it says of one who may not reserve."""
    unknown = failed("Error creating the reservation: Invalid user id\n")
    with refused(Cause.DENIED, "slurmctld does not know mbsvc"):
        reserve([unknown], nodes(48), "24.11.5")


@pytest.mark.parametrize("release", recorded.RELEASES)
@pytest.mark.parametrize("trouble", ["controller frozen", "controller down"])
def test_without_an_answer_the_reservation_may_exist(release: str, trouble: str) -> None:
    answer = recorded.cases(release)[f"create: {trouble}"].completed
    with pytest.raises(UnknownOutcome, match="Unexpected message received"):
        reserve([answer], nodes(48), "24.11.5")


def test_made_but_never_seen_again_is_a_doubt() -> None:
    frozen = recorded.cases("24.11")["show: controller frozen"].completed
    with pytest.raises(UnknownOutcome):
        reserve([CREATED, frozen], nodes(48), "24.11.5")
    with pytest.raises(Garbled):
        reserve([CREATED, said(f"ReservationName={TOKEN} Start\n")], nodes(48), "24.11.5")


@pytest.mark.parametrize(
    "away",
    [
        Unreached("not asked: the pyslurm helper is busy with other requests"),
        failed("Unable to contact slurm controller (connect failure)\n"),
    ],
)
def test_made_and_then_out_of_reach_is_a_doubt_too(away: Answer) -> None:
    with pytest.raises(UnknownOutcome, match=r"not asked|connect failure"):
        reserve([CREATED, away], nodes(48), "24.11.5")
    with pytest.raises(UnknownOutcome, match=r"not asked|connect failure"):
        reserve([CREATED, shown(64), away], nodes(48), "24.11.5")


def test_two_threads_on_a_core_are_two_processors() -> None:
    rooms = nodes(48, threads=2)
    lines = reserve([CREATED, shown(cores=8, processors=16)], rooms, "24.11.5")
    assert "CoreCnt=8" in lines[0]
    odd = ReserveRequest(TOKEN, 15, 61)
    lines = reserve([CREATED, shown(cores=8, processors=16)], rooms, "24.11.5", odd)
    assert "CoreCnt=8" in lines[0] and "Duration=2" in lines[0]


def test_the_default_partition_is_not_named() -> None:
    told = Told()
    operation = operations.reserve(SlurmIdentity("mbsvc"), ORDER, nodes(48), "24.11.5")
    drive(operation, [CREATED, shown()], told)
    assert "Partition" not in told.lines[0]


def whole(count: int, state: str = "ACTIVE") -> Completed:
    """A reservation of whole nodes, as it is shown: of so many cores as these happen to have."""
    one = shown(count * 40, count * 80, state).stdout
    return said(one.replace("Nodes=n1 NodeCnt=1", f"Nodes=n[1-{count}] NodeCnt={count}"))


def test_whole_nodes_are_reserved_by_their_number() -> None:
    told = Told()
    order = ReserveRequest(TOKEN, 96, 600)
    who = SlurmIdentity("mbsvc", "batch", unit=48)
    drive(operations.reserve(who, order, nodes(48, 48), "24.11.5"), [CREATED, whole(2)], told)
    line = CREATE.replace("CoreCnt=16", "NodeCnt=2")
    assert told.lines == [f"{line} PartitionName=batch", SHOW]


@pytest.mark.parametrize("made", [whole(1), whole(3), whole(2, "INACTIVE"), NOT_FOUND])
def test_other_whole_nodes_than_asked_for_are_not_taken(made: Completed) -> None:
    told = Told()
    who = SlurmIdentity("mbsvc", "batch", unit=48)
    order = ReserveRequest(TOKEN, 96, 600)
    with pytest.raises(ClusterRefusal, match="not the one asked for"):
        drive(
            operations.reserve(who, order, nodes(48, 48), "24.11.5"),
            [CREATED, made, said()],
            told,
        )
    assert told.lines[-1] == DELETE


LATER = 1795244834.0  # when a reservation is to begin


def test_a_reservation_for_later_is_asked_for_by_a_time_of_no_zone_and_compared() -> None:
    order = replace(ORDER, start=LATER)
    waits = shown(state="INACTIVE")
    lines = reserve([CREATED, waits], nodes(0, 0), "24.11.5", order)
    times = f"StartTime=uts{int(LATER)} EndTime=uts{int(LATER) + 600} "
    assert lines[0].split("Users")[0].endswith(times)
    too_late = Completed(0, waits.stdout.replace("1795244534", "1795244999"), "")
    with pytest.raises(ClusterRefusal):
        reserve([CREATED, too_late, said(""), BUSY, BUSY], nodes(0, 0), "22.05.8", order)


def test_releases_that_spread_cores_are_asked_for_few_nodes_though_all_are_busy_now() -> None:
    lines = reserve(
        [CREATED, shown(state="INACTIVE")], nodes(0, 0), "26.05.5", replace(ORDER, start=LATER)
    )
    assert "NodeCnt=1" in lines[0]
