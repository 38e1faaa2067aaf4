"""Several logs as one: years one after another, clusters side by side, and what is refused."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from metabroker.traces import joined
from metabroker.traces.errors import TraceError
from metabroker.traces.swf import read
from metabroker.traces.write import write
from tests.advice.test_effects import line, swf

DAY = 86400
YEAR = 365 * DAY
BEGIN = 1_700_000_000


def made(
    path: Path, submits: Iterable[int], start: int | None = BEGIN, head: Iterable[str] = ()
) -> str:
    """A log of jobs of 4 processors and a minute."""
    times = [] if start is None else [f"; UnixStartTime: {start}"]
    jobs = [line(n, at, 4, 60, n % 3) for n, at in enumerate(submits, 1)]
    return swf(path, [*times, *head, *jobs])


def refused(*files: str) -> str:
    with pytest.raises(TraceError) as caught:
        joined.read(files)
    return f"{caught.value.message}; {caught.value.advice}"


def test_years_follow_one_another_and_jobs_of_both_count_once(tmp_path: Path) -> None:
    old = made(tmp_path / "old", range(0, 50 * DAY, DAY), BEGIN, ["; MaxProcs: 64"])
    # The last job of the old log stands in both; the next was submitted before it, and ended later.
    since = [DAY, DAY - 7, *range(2 * DAY, 50 * DAY, DAY)]
    new = made(tmp_path / "new", since, BEGIN + 48 * DAY, ["; MaxProcs: 96"])
    found = joined.read([new, old])
    jobs = found.records.jobs
    assert (found.records.again, len(jobs)) == (1, 50 + 49)
    assert (found.clusters, found.processors) == ({}, 96)
    text = write(jobs, processors=found.processors, clusters=found.clusters)
    trace = read(swf(tmp_path / "both", list(text)))
    assert trace.number("UnixStartTime") == BEGIN and len(trace.jobs) == len(jobs)
    assert [job.submit for job in trace.jobs[48:51]] == [48 * DAY, 49 * DAY - 7, 49 * DAY]
    assert trace.jobs[-1].submit == (48 + 49) * DAY and trace.clusters() == {"all": 96}


def test_as_many_jobs_as_one_log_has_that_are_alike_are_kept(tmp_path: Path) -> None:
    one = made(tmp_path / "one", [0, 5, 5, 5])
    two = made(tmp_path / "two", [0, 5, 5, 5, 5])
    found = joined.read([one, two])
    assert (len(found.records.jobs), found.records.again) == (5, 4)


def test_clusters_stand_side_by_side(tmp_path: Path) -> None:
    head = ["; Computer: delft", "; MaxProcs: 64"]
    delft = [
        made(tmp_path / f"d{n}", [0, 100, 200], BEGIN + n * YEAR, [*head, "; Queue: 1 long"])
        for n in range(2)
    ]
    leiden = made(tmp_path / "l", [50, 150], BEGIN, ["; Cluster: leiden 32", "; Queue: 1 short"])
    found = joined.read([leiden, *delft])
    assert found.clusters == {"delft": 64, "leiden": 32} and found.processors == 96
    text = list(write(found.records.jobs, processors=found.processors, clusters=found.clusters))
    trace = read(swf(tmp_path / "both", text))
    assert trace.header["Partition"] == ["1 delft", "2 leiden"]
    assert trace.header["Queue"] == ["1 long", "2 short"]
    assert [job.partition for job in trace.jobs] == [1, 2, 1, 2, 1, 1, 1, 1]
    assert trace.clusters() == {"delft": 64, "leiden": 32}


def test_components_keep_their_clusters(tmp_path: Path) -> None:
    names = ["; Cluster: a 8", "; Cluster: b 8", "; Partition: 1 a", "; Partition: 2 b"]
    parts = "; Components: 1 2@2,2@1"
    logs = [made(tmp_path / f"{n}", [0, 9], BEGIN + n * YEAR, [*names, parts]) for n in range(2)]
    found = joined.read(logs)
    text = list(write(found.records.jobs, clusters=found.clusters))
    trace = read(swf(tmp_path / "both", text))
    assert {number: part.clusters for number, part in trace.parts.items()} == {
        1: ("b", "a"),
        3: ("b", "a"),
    }


def test_what_cannot_be_told_apart_is_refused(tmp_path: Path) -> None:
    plain = made(tmp_path / "plain", [0, 100, 200])
    assert "does not tell when it begins" in refused(plain, made(tmp_path / "a", [0], None))
    assert "does not tell when it begins" in refused(plain, made(tmp_path / "b", [0], 0))
    beside = made(tmp_path / "c", [50, 150, 250])
    told = refused(plain, beside)
    assert "the same time" in told and "write `; Cluster: NAME PROCESSORS`" in told
    named = made(tmp_path / "d", [50, 150], BEGIN, ["; Cluster: leiden 32"])
    assert "does not name its cluster" in refused(plain, named)
    other = made(tmp_path / "e", [60, 160], BEGIN, ["; Computer: delft"])
    assert "how many processors delft has" in refused(named, other)
    both = made(tmp_path / "f", [0], BEGIN, ["; Cluster: leiden 32", "; Cluster: delft 64"])
    assert "shares leiden with" in refused(named, both)
    same = [made(tmp_path / n, [at], BEGIN, ["; Cluster: x 8"]) for n, at in (("g", 1), ("h", 1))]
    assert joined.read(same).records.again == 1
    inside = made(tmp_path / "i", [101, 190], BEGIN - 50, ["; Cluster: leiden 32"])
    assert "both are of leiden" in refused(named, inside)


def test_moments_may_be_unix_times(tmp_path: Path) -> None:
    """As in the broker's archive."""
    grown = made(tmp_path / "grown", [BEGIN + 5, BEGIN + 9], 0)
    found = joined.read([grown, made(tmp_path / "next", [0, 1], BEGIN + 10)])
    assert [job.submit - BEGIN for job in found.records.jobs] == [5, 9, 10, 11]
