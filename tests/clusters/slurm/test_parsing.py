"""Parsing what Slurm prints: all that was recorded, and anything at all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metabroker.broker.observation import NativeState
from metabroker.clusters.command_errors import Garbled
from metabroker.clusters.slurm import moving, parsing
from metabroker.clusters.slurm.parsing import SEPARATOR
from metabroker.clusters.slurm.states import job_state

from . import recorded
from .recorded import RELEASES

JOBS = [(r, s) for r in RELEASES for s in recorded.states(r, "squeue")]
NODES = [(r, s) for r in RELEASES for s in recorded.states(r, "sinfo")]
RESERVATIONS = [(r, s) for r in RELEASES for s in recorded.states(r, "reservation")]


@pytest.mark.parametrize(("release", "state"), JOBS)
def test_recorded_jobs(release: str, state: str) -> None:
    printed = recorded.squeue(release, state)
    jobs = parsing.jobs(printed)
    assert len(jobs) == len(printed.splitlines())
    for job in jobs:
        assert job_state(job.state) is not NativeState.UNKNOWN
        assert job.processors >= 1
        assert job.submit_time is not None and 1.7e9 < job.submit_time < 1.9e9
        assert job.reservation != "(null)"


@pytest.mark.parametrize(("release", "state"), NODES)
def test_recorded_nodes(release: str, state: str) -> None:
    nodes = parsing.nodes(recorded.sinfo(release, state))
    assert len({node.name for node in nodes}) == len(nodes) >= 1
    for node in nodes:
        assert node.allocated + node.idle + node.other == node.total
        assert (node.partition, node.default, node.processors_per_core) == ("batch", True, 1)
        assert node.up is (state != "partition-down")


@pytest.mark.parametrize(
    ("gres", "gpus"),
    [
        ("(null)", 0), ("gpu:2", 2), ("gpu", 1), ("gpu:a100:4(S:0-1)", 4), ("mygpu:4", 0),
        ("gpu:2,gpu:tesla:1,mps:100", 3), ("shard:3,gpu:rtx_4090:8(S:0-1),craynetwork:4", 8),
        ("gpu:v100s-pcie:2(IDX:0-1)", 2), ("gpu:4g:2", 2), ("gpu:x:99999999999", 0), ("", 0),
        ("gpu:3090:8", 8), ("gpu:1080:3,gpu:2080:1(IDX:0)", 4), ("gpu:a100:no_consume:4", 4),
    ],
)  # fmt: skip
def test_memory_and_gpus_of_a_node(gres: str, gpus: int) -> None:
    columns = ("n1", "idle", "0/8/0/8", "batch*", "up", *("8", "1", "8", "1"), "64000", gres)
    (node,) = parsing.nodes(parsing.SEPARATOR.join(columns) + "\n")
    assert (node.memory, node.gpus) == (64000, gpus)


@pytest.mark.parametrize(("release", "state"), RESERVATIONS)
def test_recorded_reservations(release: str, state: str) -> None:
    printed = recorded.text(release, state, "reservation")
    found = parsing.reservations(printed)
    assert len(found) == printed.count("ReservationName=")
    for reservation in found:
        assert 0 < reservation.start_time < reservation.end_time
        assert reservation.processors >= 1 and reservation.node_count >= 1
        assert reservation.users == "root" or reservation.users == "root,daemon"
        if reservation.cores:
            assert sum(reservation.cores.values()) == reservation.core_count


@pytest.mark.parametrize("release", RELEASES)
def test_no_reservations_and_no_jobs(release: str) -> None:
    cases = recorded.cases(release)
    assert parsing.reservations(cases["no reservation yet"].stdout) == []
    assert parsing.jobs(cases["no job yet"].stdout) == []
    for cut in (cases["show an unknown reservation"].stdout, "", "Reservat", "No reservations in"):
        with pytest.raises(Garbled):  # where there are none it says so
            parsing.reservations(cut)


@pytest.mark.parametrize("release", RELEASES)
def test_a_reservation_that_is_cut_off_is_not_taken_for_a_smaller_one(release: str) -> None:
    printed = recorded.text(release, "reserved-cores", "reservation")
    for end in range(1, len(printed)):
        if printed[end - 1] != "\n":
            with pytest.raises(Garbled):
                parsing.reservations(printed[:end])


def test_one_reservation_of_each_release() -> None:
    shown = {
        r: parsing.reservations(recorded.text(r, "reserved-cores", "reservation")) for r in RELEASES
    }
    by_name = {r: {found.name: found for found in shown[r]} for r in RELEASES}
    assert {r: by_name[r]["two-nodes"].cores for r in RELEASES} == {
        "22.05": {},
        "24.11": {"delft1": 38, "delft2": 12},
        "26.05": {"delft1": 38, "delft2": 12},
    }
    for release in RELEASES:
        two = by_name[release]["two-nodes"]
        assert (two.nodes, two.node_count, two.core_count, two.processors, two.state) == (
            "delft[1-2]", 2, 50, 50, "ACTIVE",
        )  # fmt: skip


def test_a_core_list_that_is_missing_is_not_an_error() -> None:
    shown = parsing.reservations(recorded.text("24.11", "reserved-and-running", "reservation"))
    several = next(found for found in shown if found.name == "several-users")
    assert (several.processors, several.cores, several.flags) == (2, {}, "")


def test_reasons_with_spaces_and_commas() -> None:
    jobs = parsing.jobs(recorded.squeue("22.05", "pending-drained"))
    reasons = {job.reason for job in jobs}
    assert "ReqNodeNotAvail, UnavailableNodes:delft3" in reasons


# --- the account's own jobs beside the broker's -----------------------------------------------

LINE = SEPARATOR.join(
    ("7", "{}", "RUNNING", "16", "delft1", "None", "1795244532", "1795244533", "N/A", "(null)")
)
OURS = LINE.format("mb-abcdef01-1-1-0")


@pytest.mark.parametrize(
    "name",
    [
        "two\nlines",
        "\n\n",
        f"a{SEPARATOR}separator",
        f"x\n8{SEPARATOR}y",
        "\u2028",
        "\x0b\x0c\x1c\x85",
        "\r",
    ],
)
def test_a_strange_name_of_another_job_does_not_hide_ours(name: str) -> None:
    jobs = parsing.jobs(f"{LINE.format(name)}\n{OURS}\n")
    assert [job.id for job in jobs if job.name == "mb-abcdef01-1-1-0"] == ["7"]


def test_a_broken_line_of_ours_is_not_passed_over() -> None:
    with pytest.raises(Garbled, match="columns"):
        parsing.jobs(f"{LINE.format('other')}\n{OURS.rpartition(SEPARATOR)[0]}\n")


def test_what_is_cut_off_within_a_line_is_garbled() -> None:
    """Its last id would be another job's, its last name a part of one."""
    for parse, text in (
        (parsing.jobs, f"{OURS}\n"),
        (parsing.nodes, recorded.sinfo("24.11", "idle")),
    ):
        assert parse(text)
        for end in range(1, len(text)):
            if text[end - 1] != "\n":
                with pytest.raises(Garbled):
                    parse(text[:end])


@pytest.mark.parametrize("text", ["slurm is fine\n", "a\nb\n", "1 2 3\n<html>\n"])
def test_another_format_is_not_an_empty_list(text: str) -> None:
    for parse in (parsing.jobs, parsing.nodes, parsing.uses):
        with pytest.raises(Garbled):
            parse(text)


# --- anything ---------------------------------------------------------------------------------

WORDS = st.sampled_from(
    [
        SEPARATOR, "\n", "/", ",", "=", "-", " ", "mb-abcdef01-1-1-0", "ReservationName=x",
        "StartTime=1", "EndTime=2", "CoreCnt=4", "NodeCnt=-1", "TRES=cpu=", "NodeName=n CoreIDs=",
        "(null)", "9" * 30, "٣", "1e9", "nan", "RUNNING", "0-", "-5", "5-1",
    ]
)  # fmt: skip
ANYTHING = st.one_of(st.text(), st.lists(st.one_of(WORDS, st.text(max_size=3))).map("".join))

PARSERS: list[Callable[[str], object]] = [
    parsing.jobs,
    parsing.nodes,
    parsing.reservations,
    parsing.uses,
    parsing.waiting,
    parsing.uses_until,
    moving.processors,
    partial(parsing.marked_jobs, mark="mark"),
]


@given(ANYTHING)
@example("ReservationName=x State=ACTIVE StartTime=1 EndTime=2 NodeName=n CoreIDs=(null)")
@example("ReservationName=x State=ACTIVE StartTime=nan EndTime=inf CoreCnt=" + "9" * 5000)
def test_nothing_but_garbled_is_ever_raised(text: str) -> None:
    for parse in PARSERS:
        for whole in (text, f"{text}\n"):
            try:
                parse(whole)
            except Garbled as garbled:
                assert len(str(garbled)) < 2000


@given(st.sampled_from(JOBS), st.data())
def test_a_damaged_answer_gives_what_is_there_or_garbled(
    which: tuple[str, str], data: st.DataObject
) -> None:
    printed = recorded.squeue(*which)
    at = data.draw(st.integers(0, len(printed)))
    other = data.draw(st.text(max_size=4))
    try:
        jobs = parsing.jobs(printed[:at] + other + printed[at + len(other) :])
    except Garbled:
        return
    # What was not touched is read as it was.
    end = at + len(other)
    before, behind = printed[:at].rpartition("\n")[0], printed[end:].partition("\n")[2]
    for line in filter(str.strip, [*before.split("\n"), *behind.split("\n")]):
        (job,) = parsing.jobs(f"{line}\n")
        assert job in jobs
