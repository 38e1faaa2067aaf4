"""Logs in the Standard Workload Format: whole, damaged, and sorted out."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.traces import lines as trace_lines
from metabroker.traces.errors import TraceError
from metabroker.traces.lines import lines
from metabroker.traces.swf import FIELDS, read

HEADER = "; Version: 2.2\n; MaxProcs: 128 (two cabinets)\n; Queue: 1 day\n; Queue: 2 night\n;\n"


def line(number: int = 1, submit: float = 0, run: float = 10, size: int = 4, **other: int) -> str:
    words = [-1.0] * FIELDS
    words[0], words[1], words[3], words[7] = number, submit, run, size
    for name, value in other.items():
        words[{"used": 4, "time": 8, "status": 10, "user": 11}[name]] = value
    return " ".join(f"{word:g}" for word in words)


def written(folder: Path, *lines: str, name: str = "log.swf") -> Path:
    path = folder / name
    path.write_text(HEADER + "\n".join(lines) + "\n")
    return path


def test_header_and_jobs(tmp_path: Path) -> None:
    trace = read(written(tmp_path, line(7, 5, 60, 16, time=100, user=3), line(8, 9, 2, -1, used=5)))
    assert trace.header["Queue"] == ["1 day", "2 night"]
    assert trace.number("MaxProcs") == 128 and trace.number("MaxNodes") is None
    first, second = trace.jobs
    assert (first.number, first.submit, first.run, first.size, first.user) == (7, 5, 60, 16, 3)
    assert first.estimate == 100
    assert (second.size, second.estimate) == (5, 2)  # what it had; how long it ran
    assert not trace.skipped


@pytest.mark.parametrize("number", ["9" * 5000, "²", "٣", "-1"])
def test_numbers_of_the_header_that_are_none(tmp_path: Path, number: str) -> None:
    path = tmp_path / "log.swf"
    head = f"; MaxProcs: {number}\n; MaxNodes: 16\n; UnixStartTime: {number}\n"
    path.write_text(f"{head}; Cluster: a {number}\n; Components: {number} 1,2\n{line()}\n")
    trace = read(path)
    assert trace.number("MaxProcs") is None and trace.number("UnixStartTime") is None
    assert trace.clusters() == {"all": 16} and not trace.parts
    (why,) = trace.skipped
    assert why.startswith("a comment `Components` is not")


def test_gzip_is_read_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_bytes(gzip.compress((HEADER + line()).encode()))
    assert len(read(path).jobs) == 1


def test_gzip_that_is_cut_off_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "log.swf.gz"
    path.write_bytes(gzip.compress("\n".join(line(i, i) for i in range(5000)).encode())[:-30])
    with pytest.raises(TraceError, match=r"log\.swf\.gz:\d+: its gzip data is damaged or cut off"):
        read(path)


WRONG = [
    ("1 2 3", "it does not have the 18 fields of a job"),
    (line().replace("10", "ten"), "a field is not a number"),
    (line(run=-1), "its run time is unknown"),
    (line(size=-1), "its number of processors is unknown"),
    (line(status=3), "it is a part of a job's run, which has a line of its own"),
    (line(status=5, run=0, used=-1), "it was cancelled before it started"),
    (line(submit=-1), "its submit time is unknown or before the log's start"),
    (line(run=float("nan")), "a field is not a finite number"),
]


@pytest.mark.parametrize(("wrong", "why"), WRONG)
def test_lines_that_are_not_right(tmp_path: Path, wrong: str, why: str) -> None:
    path = written(tmp_path, line(1), wrong, line(2), wrong)
    trace = read(path)
    assert [job.number for job in trace.jobs] == [1, 2]
    assert (trace.skipped[why].count, trace.skipped[why].first_line) == (2, 7)
    with pytest.raises(TraceError) as caught:
        read(path, strict=True)
    assert str(caught.value).startswith(f"{path}:7: {why}; ")


def test_jobs_out_of_order(tmp_path: Path) -> None:
    path = written(tmp_path, line(1, 50), line(2, 20), line(3, 60))
    trace = read(path)
    assert [job.number for job in trace.jobs] == [2, 1, 3]
    with pytest.raises(TraceError, match=r":7: it is submitted before the job above it"):
        read(path, strict=True)


def test_nothing_to_replay(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="holds no job"):
        read(written(tmp_path))
    with pytest.raises(TraceError, match=r"2 lines: its run time is unknown"):
        read(written(tmp_path, line(run=-1), line(run=-1)))
    with pytest.raises(TraceError, match="cannot be read: No such file"):
        read(tmp_path / "no.swf")
    with pytest.raises(TraceError, match="cannot be read: Is a directory"):
        read(tmp_path)


@given(st.binary(max_size=300))
def test_no_file_is_worse_than_an_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "any.swf"
    path.write_bytes(content)
    try:
        read(path)
    except TraceError as error:
        assert str(path) in str(error)


@pytest.mark.parametrize("packed", [True, False])
def test_a_line_without_an_end_is_not_read_whole(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "bomb.swf.gz"
    raw = HEADER.encode() + b"\0" * (64 << 20)
    path.write_bytes(gzip.compress(raw, 1) if packed else raw)
    tracemalloc.start()
    try:
        with pytest.raises(TraceError, match=r"bomb.swf.gz:\d+: this line is longer"):
            list(lines(path))
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_the_whole_is_bounded_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_lines, "LARGEST", 5000)
    path = tmp_path / "long.swf.gz"
    path.write_bytes(gzip.compress(b"; a line\n" * 1000))
    with pytest.raises(TraceError, match=r":556: the file is larger than any log's"):
        list(lines(path))
