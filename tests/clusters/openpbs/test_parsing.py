"""Parsing what PBS prints: all that was recorded, and anything at all."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metabroker.broker.observation import NativeState
from metabroker.clusters.command_errors import Garbled
from metabroker.clusters.openpbs import entries, listed, parsing
from metabroker.clusters.openpbs.states import holds, job_state

from .recorded import Case, asking, case, cases, reservations

JOBS = [c for c in asking("qstat", "-f", "-F", "json") if not {"-Q", "-B", "-u"} & set(c.argv)]
SERVERS = asking("qstat", "-B", "-f", "json")
NODES = asking("pbsnodes", "-F", "json")
RESERVATIONS = [*asking("pbs_rstat", "-F"), *asking("pbs_rstat", "-f")]


def ids(found: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("recorded", found, ids=lambda c: c.id)


def poisoned(recorded: Case) -> bool:
    """Whether the release made no JSON of it (`nan`, `inf`, `5.`, UTF-8 and control letters)."""
    try:
        json.loads(recorded.stdout, parse_constant=lambda _: 1 / 0)
    except (ValueError, ZeroDivisionError):
        return True
    return False


@ids(JOBS)
def test_recorded_jobs(recorded: Case) -> None:
    if poisoned(recorded):
        # What is only not quite right in a text is read all the same.
        with contextlib.suppress(Garbled):
            parsing.jobs(recorded.stdout)
        return
    found = parsing.jobs(recorded.stdout)
    assert len(found) == len(json.loads(recorded.stdout).get("Jobs", {}))
    for job in found:
        assert job_state(job.state) is not NativeState.UNKNOWN
        assert job.submit_time is not None and 1.7e9 < job.submit_time < 1.9e9
        assert job.owner in ("pbsal", "pbsbo", "pbsop", "root")
        assert sum(job.vnodes.values()) in (0, job.processors)
        assert "@" not in job.owner and all("/" not in host for host in job.hosts)


def test_the_release_makes_json_that_any_user_can_poison() -> None:
    wrong = {"90/19", "90/20", "90/27"}  # nan, inf, 5.
    assert wrong <= {c.id[:5] for c in JOBS if poisoned(c)}
    for name in wrong:
        with pytest.raises(Garbled):
            parsing.jobs(case(name).stdout)


def test_the_same_job_in_both_forms() -> None:
    json_form = parsing.jobs(case("20/02").stdout)[0]
    assert parsing.jobs(case("20/29").stdout)[0].__class__ is json_form.__class__
    dsv = parsing.jobs(case("20/29").stdout)[0]
    for name in ("id", "name", "owner", "state", "vnodes", "hosts", "limit", "start_time"):
        assert getattr(dsv, name) == getattr(json_form, name)
    assert (dsv.vnodes, dsv.hosts) == ({"n02": 2, "n03": 2}, ("n02", "n03"))
    assert (dsv.processors, dsv.limit) == (4, 600.0)


def test_dsv_escapes_what_users_write() -> None:
    text = (
        "Job Id: 2.pbs1|Job_Name=mb-aa-3|Job_Owner=root@pbs1|job_state=R|Variable_List=PBS_O_TZ="
        "UTC,X=a\\nb\\|job_state=Q\\|c\\,d|Resource_List.ncpus=1|comment=\\\n"
    )
    job = parsing.jobs(text)[0]
    assert (job.id, job.state, job.processors, job.comment) == ("2.pbs1", "R", 1, "\\")


def test_a_job_that_was_deleted_before_it_ran_has_no_exit_status() -> None:
    job = parsing.jobs(case("30/03").stdout)[0]
    assert (job.state, job.substate, job.exit_status, job.start_time) == ("F", 91, None, None)


@ids(NODES)
def test_recorded_nodes(recorded: Case) -> None:
    if recorded.exit_status != 0:
        with pytest.raises(Garbled):
            parsing.nodes(recorded.stdout or "{")
        return
    found = parsing.nodes(recorded.stdout)
    assert found
    for node in found:
        assert 0 <= node.assigned <= node.total
        assert node.states and set(node.states) <= {"free", "offline", "down", "state-unknown"}


def test_a_host_with_vnodes_is_counted_once() -> None:
    found = parsing.nodes(case("53/14").stdout)
    assert [node.total for node in found] == [0, 8, 8, 8, 8]


def test_nodes_in_the_other_form() -> None:
    text = (
        "Name=pbs2|Mom=pbs2|Port=15002|ntype=PBS|state=job-exclusive,resv-exclusive|pcpus=2|"
        "queue=workq|jobs=3.pbs2/0,3.pbs2/1|resources_available.ncpus=64|"
        "resources_available.Qlist=a, b|resources_assigned.ncpus=2|comment=nan\n"
    )
    node = parsing.nodes(text)[0]
    assert (node.name, node.total, node.assigned, node.queue) == ("pbs2", 64, 2, "workq")
    assert node.states == ("job-exclusive", "resv-exclusive")
    assert node.available["Qlist"] == "a, b"


@ids(RESERVATIONS)
def test_recorded_reservations(recorded: Case) -> None:
    found = reservations(recorded.stdout)
    assert len(found) == recorded.stdout.count("Resv ID: ")
    for reservation in found:
        assert 1.7e9 < reservation.start_time < reservation.end_time < 1.9e9
        assert reservation.processors >= 1
        assert reservation.queue == reservation.id.partition(".")[0]
        if holds(reservation.state):
            assert sum(reservation.vnodes.values()) == reservation.processors


def test_a_reservation_is_read_in_utc_whatever_zone_it_was_made_in() -> None:
    found = reservations(case("80/02").stdout)[0]
    assert (found.start_time, found.end_time) == (1795244220.0, 1795244280.0)
    assert found.created == 1795237060.0
    assert reservations(case("80/11").stdout)[0].start_time == found.start_time


@ids(asking("qselect"))
def test_recorded_ids(recorded: Case) -> None:
    assert parsing.ids(recorded.stdout) == [
        line for line in recorded.stdout.split() if "[" not in line
    ]


@ids([c for c in asking("qsub") if c.exit_status == 0])
def test_recorded_submissions(recorded: Case) -> None:
    if "[" in recorded.stdout:  # an array: never the broker's
        with pytest.raises(Garbled):
            parsing.job_id(recorded.stdout)
    else:
        assert parsing.job_id(recorded.stdout) == recorded.stdout.strip()


@ids([c for c in asking("pbs_rsub") if c.exit_status == 0])
def test_recorded_confirmations(recorded: Case) -> None:
    identity, word = parsing.confirmation(recorded.stdout)
    words = ("CONFIRMED", "DENIED", "UNCONFIRMED", "delete, wait period expired")
    assert identity in recorded.stdout and word in words


def test_a_reservation_that_deleted_itself() -> None:
    said = "R2.pbs2 delete, wait period expired\n"
    assert parsing.confirmation(said) == ("R2.pbs2", "delete, wait period expired")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("00:10:00", 600.0), ("600", 600.0), ("43800:00:00", 157680000.0), ("5:00", 300.0),
     ("00:00:03.50", 3.0), ("", None), ("infinity", None), ("-1", None)],
)  # fmt: skip
def test_durations(text: str, seconds: float | None) -> None:
    line = f"Job Id: 1.p|Job_Name=a|Job_Owner=u|job_state=R|Resource_List.walltime={text}\n"
    assert parsing.jobs(line)[0].limit == seconds


@pytest.mark.parametrize(
    "text",
    ["Sat Feb 30 06:57:00 2026", "Sat Nov 0 06:57:00 2026", "Sat Foo 21 06:57:00 2026",
     "Sat Nov 21 06:57:00 0000", "--", "0"],
)  # fmt: skip
def test_dates_that_are_none(text: str) -> None:
    line = f"Job Id: 1.p|Job_Name=a|Job_Owner=u|job_state=R|stime={text}\n"
    assert parsing.jobs(line)[0].start_time is None


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (parsing.jobs, "<Data><Job>"),
        (parsing.jobs, "{"),
        (parsing.jobs, "[]"),
        (parsing.jobs, '{"Jobs": {}}'),
        (parsing.jobs, '{"timestamp": 1, "Jobs": []}'),
        (parsing.jobs, '{"timestamp": 1, "Jobs": {"1.p": {}}}'),
        (parsing.jobs, '{"timestamp": NaN}'),
        (parsing.jobs, '{"timestamp": ' * 100_000),
        (parsing.jobs, '{"timestamp":1,"Jobs":{"1":' + '{"a":' * 200 + "1" + "}" * 202),
        (parsing.jobs, "Job Id: 1.p|Job_Name=a\n"),
        (parsing.jobs, "Job Id: \n"),
        (parsing.nodes, "Name=a|state=free|resources_available.ncpus=-4\n"),
        (reservations, "pbs_rstat: what\n\n"),
        (parsing.ids, "Unknown queue\n"),
        (parsing.job_id, ""),
        (parsing.job_id, "Submitted batch job 7"),
        (parsing.confirmation, "R1.p"),
        (parsing.time_told, "{}"),
    ],
)
def test_what_is_none_of_these_is_garbled(parse: Callable[[str], object], text: str) -> None:
    with pytest.raises(Garbled):
        parse(text)


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (parsing.ids, "37.pbsa\n38.pbsa\n"),
        (parsing.jobs, "Job Id: 1.p|Job_Name=a|Job_Owner=b@c|job_state=R\n"),
        (parsing.nodes, "Name=a|state=free|resources_available.ncpus=4\n"),
        (reservations, case("80/02").stdout),
    ],
)
def test_what_is_cut_off_within_a_line_is_garbled(
    parse: Callable[[str], object], text: str
) -> None:
    assert parse(text)
    for end in range(1, len(text)):
        if text[end - 1] != "\n":
            with pytest.raises(Garbled):
                parse(text[:end])


PARSERS: list[Callable[[str], object]] = [
    parsing.jobs,
    parsing.nodes,
    reservations,
    listed.ids,
    lambda text: listed.alone(text, "R112.pbsa"),
    lambda text: listed.each(text, "mark", ["R112.pbsa"]),
    parsing.ids,
    parsing.job_id,
    parsing.version,
    parsing.time_told,
    parsing.confirmation,
    parsing.queue_lines,
]
TEXTS = [c.stdout for c in cases() if c.stdout and len(c.stdout) < 20_000]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A recorded answer, cut, doubled, or with other text in the middle."""
    text = draw(st.sampled_from(TEXTS))
    first, then = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
    return text[:first] + draw(st.text(max_size=20) | st.just(text[first:then] * 2)) + text[then:]


@given(
    st.sampled_from(PARSERS), mutated() | st.text() | st.binary().map(lambda b: b.decode("latin1"))
)
@example(parsing.jobs, '{"timestamp":1,"Jobs":{"1":{"a":' + "9" * 10_000 + "}}}")
def test_parsers_raise_nothing_but_garbled(parse: Callable[[str], object], text: str) -> None:
    try:
        parse(text)
    except Garbled as garbled:
        assert len(str(garbled)) < 1000


@pytest.mark.parametrize("parse", PARSERS, ids=lambda parse: parse.__name__)
def test_an_answer_that_is_cut_anywhere_is_read_or_garbled(parse: Callable[[str], object]) -> None:
    for text in dict.fromkeys(text for text in TEXTS if len(text) < 1000):
        for end in range(len(text)):
            with contextlib.suppress(Garbled):
                parse(text[:end])


@given(st.text())
def test_every_value_comes_back_from_dsv(value: str) -> None:
    """As PBS escapes: line feeds are made visible, the rest is told apart by a backslash."""
    shown = value.replace("\n", "?").replace("\\", "\\\\").replace("|", "\\|")
    found = entries.entries(f"Job Id: 1.p|comment={shown}|x=y\n", entries.JOBS)
    assert found == {"1.p": {"comment": value.replace("\n", "?"), "x": "y"}}
