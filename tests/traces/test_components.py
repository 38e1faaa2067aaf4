"""Co-allocated jobs and clusters in a log: what is written is what is replayed."""

from __future__ import annotations

from pathlib import Path

import pytest

from metabroker.simulation.scenario.loader import load
from metabroker.simulation.workloads.replay import Replay
from metabroker.traces import swf
from metabroker.traces.errors import TraceError
from metabroker.traces.records import Record
from metabroker.traces.write import write

SIZES = {"delft": 16, "leiden": 8}


def record(number: int, processors: int, **more: object) -> Record:
    made = Record(
        number=number,
        submit=1000.0 + number,
        start=1010.0,
        end=1070.0,
        processors=processors,
        used_processors=processors,
        run=60.0,
        time_limit=90.0,
        status=1,
        user="alice",
    )
    return made._replace(**more)  # type: ignore[arg-type]


JOBS = [
    record(4, 4, partition="leiden"),
    record(5, 12, components=(8, 4)),
    record(6, 12, components=(4, 8), clusters=("leiden", "delft")),
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.swf"
    path.write_text("\n".join(write(JOBS, processors=24, clusters=SIZES)) + "\n")
    return path


def test_components_and_clusters_come_back(log: Path) -> None:
    found = swf.read(log, strict=True)
    assert found.clusters() == SIZES and not found.skipped
    assert [job.size for job in found.jobs] == [4, 12, 12]
    jobs = list(Replay(found, 2, names=("leiden", "delft")).jobs())
    asked = [(job.request.sizes, job.request.clusters) for job in jobs]
    assert asked == [((4,), None), ((8, 4), None), ((4, 8), (0, 1))]
    # On other clusters than those that its user chose it is an unordered request.
    assert [job.request.clusters for job in Replay(found, 1, names=("delft",)).jobs()] == [None] * 3
    merged = Replay(found, 2, names=("leiden", "delft"), merge=True)
    assert [job.request.sizes for job in merged.jobs()] == [(4,), (12,), (12,)]


def test_a_scenario_without_clusters_has_those_of_its_log(log: Path) -> None:
    scenario = log.with_name("s.yaml")
    scenario.write_text("policy: GS\nworkload: {swf: {file: log.swf}}\n")
    (plan,) = load(scenario)
    assert plan.scenario.clusters == SIZES
    (other,) = load(scenario, ["clusters={a: 40}", "workload.swf.components=merge"])
    assert other.scenario.clusters == {"a": 40}


def test_without_clusters_there_is_one_of_all_processors_ever_used_at_a_time(
    tmp_path: Path,
) -> None:
    early = record(1, 4, start=1002.0, end=1010.0)
    path = tmp_path / "log.swf"
    path.write_text("\n".join(write([early, *JOBS])) + "\n")
    assert swf.read(path).clusters() == {"all": 28}  # not 32: the first ends as the others begin
    path.write_text("\n".join(line for line in path.read_text().splitlines() if line[0] != ";"))
    assert swf.read(path).clusters() == {}


@pytest.mark.parametrize(
    "wrong",
    ["5 8", "5 8,", "5 8,0", "5 8@1,x", "x 8,4", "5 " + ",".join(["1"] * 1001), "5 9999999999,1"],
)
def test_a_comment_that_is_not_right_is_left_out_and_told(log: Path, wrong: str) -> None:
    text = log.read_text().replace("; Components: 5 8,4", f"; Components: {wrong}")
    log.write_text(text)
    found = swf.read(log)
    assert found.parts.keys() == {6}
    (why,) = found.skipped
    assert "a comment `Components`" in why
    with pytest.raises(TraceError, match="Components"):
        swf.read(log, strict=True)
