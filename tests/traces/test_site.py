"""A site's own records (sacct, OpenPBS) as a log in the Standard Workload Format."""

from __future__ import annotations

import gzip
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.traces import site
from metabroker.traces.errors import TraceError
from metabroker.traces.records import Records
from metabroker.traces.swf import read as read_swf
from metabroker.traces.write import write

DATA = Path(__file__).parent / "data"
SACCT = DATA / "sacct.txt"
PBS = DATA / "20250301"


@pytest.fixture(autouse=True)
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """sacct writes the times of its own zone."""
    monkeypatch.setenv("TZ", "Europe/Amsterdam")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def rows(records: Records) -> list[list[int]]:
    lines = write(records.jobs)
    return [[int(word) for word in line.split()] for line in lines if not line.startswith(";")]


def reasons(records: Records) -> dict[str, tuple[int, int]]:
    return {why: (s.count, s.first_line) for (_, why), s in records.skipped.items()}


def test_sacct() -> None:
    records = site.read([SACCT])
    assert [job.job for job in records.jobs] == ["101", "102_1", "102_2", "103+0", "105", "110"]

    by_name = {job.job: job for job in records.jobs}
    assert by_name["101"][1:9] == (1740823000, 1740823060, 1740826660, 16, 16, 3600, 7200, 1)
    assert [by_name[name].status for name in ("102_1", "102_2", "103+0", "105")] == [0, 0, 0, 5]
    assert by_name["103+0"].time_limit is None  # UNLIMITED
    local = by_name["110"]  # 10:05 in Amsterdam
    assert (local.submit, local.run, local.processors, local.used_processors) == (
        1740819900, 600, 2, 2,
    )  # fmt: skip


def test_what_sacct_has_and_is_left_out() -> None:
    assert reasons(site.read([SACCT])) == {
        "it was cancelled before it started": (1, 6),
        "it has not ended": (2, 8),
        "it is a step of a job, not an allocation": (1, 10),
        "its submit is not a time": (1, 11),
        "it does not have the 12 columns of the first line": (1, 12),
    }


def test_the_first_wrong_line_of_sacct_is_an_error_when_strict() -> None:
    with pytest.raises(TraceError, match=r"sacct\.txt:11: its submit is not a time; correct"):
        site.read([SACCT], strict=True)


def test_columns_of_sacct_in_any_order_and_with_usual_times(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text(
        "State|Timelimit|NCPUS|End|Start|Submit|JobID\n"
        "COMPLETED|1-02:00:00|4|2025-07-01T12:10:00|2025-07-01T12:00:00|2025-07-01T11:59:00|7\n"
        "CANCELLED by 0|00:05:00|4|2025-07-01T12:10:00|Unknown|2025-07-01T11:59:00|8\n"
    )
    (job,) = site.read([path]).jobs
    assert (job.processors, job.run, job.time_limit) == (4, 600, 26 * 3600)
    assert job.start == 1751364000  # 10:00 UTC


@pytest.mark.parametrize("column", ["JobName", "Comment", "WorkDir", "SubmitLine"])
def test_a_column_of_sacct_that_may_hold_whole_jobs_is_told(tmp_path: Path, column: str) -> None:
    path = tmp_path / "out"
    path.write_text(
        f"JobID|{column}|User|Submit|Start|End|State|ReqCPUS\n"
        "1|a\n"  # what follows is of its user, who ends with a line break
        "77|x|root|1|2|1740823000|COMPLETED|99999999\n"
        "|alice|1740823000|1740823100|1740823200|COMPLETED|4\n"
    )
    (doubt,) = site.read([path]).doubts
    assert doubt.startswith(f"{path}: users can write line breaks into its column {column.lower()}")
    assert "write it without this column: sacct --format JobID,User," in doubt
    with pytest.raises(TraceError, match="out:1: users can write line breaks into its column"):
        site.read([path], strict=True)


def test_the_columns_that_are_documented_leave_no_doubt() -> None:
    assert not site.read([SACCT]).doubts


@pytest.mark.parametrize("column", ["JobID", "Submit", "State"])
def test_a_column_of_sacct_that_is_missing(tmp_path: Path, column: str) -> None:
    path = tmp_path / "out"
    path.write_text(SACCT.read_text().replace(column, "Other"))
    with pytest.raises(
        TraceError, match=rf"out:1: its first line names no column {column.lower()}"
    ):
        site.read([path], "sacct")


def test_pbs() -> None:
    records = site.read([PBS])
    assert rows(records) == [
        [1, 0, 1, 1799, 8, 1500, 51200, 8, 3600, -1, 1, 1, 1, -1, 1, -1, -1, -1],
        [2, 100, 100, 2200, 1, -1, -1, 1, 7200, -1, 0, 2, 2, -1, 1, -1, -1, -1],
        [3, 150, 1650, 660, 2, -1, -1, 2, -1, -1, 5, 3, 1, -1, 1, -1, -1, -1],
    ]
    assert reasons(records) == {
        "it is an array job as a whole; its subjobs are counted": (1, 4),
        "it never started": (1, 8),
        "it is not a line of an accounting file": (1, 10),
    }
    with pytest.raises(TraceError, match=r"20250301:10: it is not a line of an accounting file"):
        site.read([PBS], strict=True)


RECORD = (
    "03/01/2025 10:00:00;E;1.pbs;user=alice group=staff {account}project={project} jobname=run "
    "queue=workq ctime=1740823000 qtime=1740823000 etime=1740823000 start=1740823060 "
    "exec_host=n1/0*4 exec_vnode=(n1:ncpus=4) Resource_List.ncpus=4 "
    "Resource_List.select=1:ncpus=4 {software}session=7 end=1740826660 Exit_status=0 "
    "resources_used.cput=01:00:00 resources_used.mem=100kb run_count=1\n"
)
PLAIN = {"account": "", "project": "_pbs_project_default", "software": ""}


@pytest.mark.parametrize(
    "written",
    [
        {"account": 'account="x user=root" '},
        {"account": 'account="x" user=root y="" '},
        {"project": '"x ctime=1"'},
        {"software": 'Resource_List.software="a ctime=1 start=2" '},
        {"software": 'Resource_List.software="a Resource_List.ncpus=99999999" '},
        {"software": "Resource_List.software='a\" exec_vnode=(x:ncpus=9999999)' "},
        # Quotes that are not OpenPBS's own, around all that it has written between them.
        {
            "project": '"x',
            "software": "Resource_List.software='a\" ctime=1 start=2 exec_host=n/0' ",
        },
    ],
)
def test_what_a_user_has_written_is_not_taken_for_a_field_of_openpbs(
    tmp_path: Path, written: dict[str, str]
) -> None:
    path = tmp_path / "20250301"
    path.write_text(RECORD.format_map(PLAIN) + RECORD.format_map(PLAIN | written))
    records = site.read([path])
    (job,) = records.jobs
    assert (job.user, job.submit, job.processors, job.used_processors) == (
        "alice", 1740823000, 4, 4,
    )  # fmt: skip
    assert reasons(records) == {
        "it has a field twice: a user may have written one into a name or a text": (1, 2)
    }
    with pytest.raises(TraceError, match="20250301:2: it has a field twice"):
        site.read([path], strict=True)


def test_spaces_and_quotes_in_what_a_user_has_written_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "20250301"
    words = {"account": 'account="a b=c" ', "software": "Resource_List.software='of \"x\" y' "}
    path.write_text(RECORD.format_map(PLAIN | words))
    (job,) = site.read([path], strict=True).jobs
    assert (job.user, job.processors, job.run, job.queue) == ("alice", 4, 3600, "workq")


def test_processors_by_their_hosts(tmp_path: Path) -> None:
    path = tmp_path / "20250301"
    text = RECORD.format_map(PLAIN).replace("exec_vnode=(n1:ncpus=4) ", "")
    path.write_text(text.replace("n1/0*4", "n1/0*4+n2/1+n3/2*2+/+n4"))
    (job,) = site.read([path]).jobs
    assert job.used_processors == 7


def test_hosts_are_read_in_one_pass(tmp_path: Path) -> None:
    """A long text without a slash took a time that grew with its square: minutes for this one."""
    path = tmp_path / "20250301"
    text = RECORD.format_map(PLAIN).replace("exec_vnode=(n1:ncpus=4) ", "")
    path.write_text(text.replace("n1/0*4", "n" * 400_000))
    assert len(site.read([path]).jobs) == 1


def test_several_days_plain_and_packed_with_jobs_in_both(tmp_path: Path) -> None:
    packed = tmp_path / "20250302.gz"
    again = PBS.read_text().replace(";17.pbs", ";99.pbs")
    packed.write_bytes(gzip.compress(again.encode()))
    records = site.read([PBS, packed])
    assert [job.job for job in records.jobs] == ["17.pbs", "18[1].pbs", "19.pbs", "99.pbs"]
    assert records.again == 2


def test_a_packed_day_that_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "day.gz"
    path.write_bytes(gzip.compress(PBS.read_bytes() * 50)[:-20])
    with pytest.raises(TraceError, match="damaged or cut off"):
        site.read([path])


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    for source in (SACCT, PBS):
        records = site.read([source])
        path = tmp_path / "log.swf"
        path.write_text("\n".join(write(records.jobs)) + "\n")
        trace = read_swf(path, strict=True)
        assert len(trace.jobs) == len(records.jobs)
        assert trace.jobs[0].submit == 0


def test_a_record_without_a_single_word_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "acct"
    path.write_text(PBS.read_text() + "02/20/2026 10:00:00;E;7.server;\n")
    records = site.read([path], "pbs")
    assert reasons(records)["it never started"] == (2, 8) and len(records.jobs) == 3


def test_neither(tmp_path: Path) -> None:
    for text in ("", "hello\n", "1 2 3\n" * 50):
        path = tmp_path / "what"
        path.write_text(text)
        with pytest.raises(TraceError, match="is neither"):
            site.read([path])


@given(st.sampled_from(site.FORMATS), st.integers(0, 2500), st.binary(max_size=6))
def test_no_damage_is_worse_than_an_error(
    tmp_path_factory: pytest.TempPathFactory, kind: str, place: int, damage: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "log"
    shutil.copy(SACCT if kind == "sacct" else PBS, path)
    data = path.read_bytes()
    path.write_bytes(data[:place] + damage + data[place + len(damage) :])
    try:
        list(write(site.read([path], kind).jobs))
    except TraceError as error:
        assert str(path) in str(error)
