"""`history --swf`: the Standard Workload Format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from metabroker.cli.swf import lines
from tests.api import shapes
from tests.api.fake import FakeService
from tests.cli.conftest import Run

CLUSTERS: list[dict[str, Any]] = [
    {"name": "delft", "processors": 144},
    {"name": "leiden", "processors": None},
]


def job(number: int, state: str, **more: Any) -> dict[str, Any]:
    times = {"submit_time": 1000.4 + number, "start_time": 1010.0, "end_time": 1110.2}
    plain = {"user": "alice", "time_limit": 3600, **times}
    parts = more.pop("components", [shapes.part(0, state, processors=4)])
    return shapes.job(number, state, *parts, **{**plain, **more})


def rows(jobs: list[dict[str, Any]]) -> list[list[int]]:
    return [
        [int(field) for field in line.split()]
        for line in lines(jobs, CLUSTERS)
        if not line.startswith(";")
    ]


def test_the_fields_of_a_job() -> None:
    (row,) = rows([job(1, "COMPLETED")])
    assert row == [1, 0, 9, 100, 4, -1, -1, 4, 3600, -1, 1, 1, -1, -1, 1, 1, -1, -1]


def test_states_users_and_partitions() -> None:
    both = [{"cluster": "delft", "processors": 4}, {"cluster": "leiden", "processors": 8}]
    found = rows(
        [
            job(3, "TIMEOUT", user="bob"),
            job(1, "FAILED"),
            job(2, "CANCELLED", start_time=None, components=both),
        ]
    )
    assert [row[0] for row in found] == [1, 2, 3]
    assert [row[10] for row in found] == [0, 5, 0]
    assert [row[11] for row in found] == [1, 1, 2]
    assert [row[15] for row in found] == [1, -1, 1]
    assert found[1][2:5] == [108, -1, -1]
    assert found[1][7] == 12


def test_the_header() -> None:
    header = [line for line in lines([job(1, "COMPLETED")], CLUSTERS) if line.startswith(";")]
    for line in ("; Version: 2.2", "; MaxJobs: 1", "; UnixStartTime: 1001", "; MaxProcs: 144",
                 "; Partition: 1 delft", "; Queue: 1 global"):  # fmt: skip
        assert line in header


def test_nothing_ended() -> None:
    assert rows([]) == []
    assert "; MaxJobs: 0" in list(lines([], []))


def test_the_command(run: Run, service: FakeService, script: Path) -> None:
    run("submit", "-n", "4", "job.sh")
    service.end(1)
    out = run("history", "--swf").stdout.splitlines()
    assert out[0] == "; Version: 2.2"
    assert len(out[-1].split()) == 18


DATA = Path(__file__).parents[1] / "traces" / "data"


def test_records_of_a_site_need_no_daemon(run: Run, folder: Path) -> None:
    done = run("history", "--swf", "--from", str(DATA / "20250301"), str(DATA / "20250301"))
    assert done.returncode == 0
    assert len([line for line in done.stdout.splitlines() if not line.startswith(";")]) == 3
    assert "20250301: 2 left out: it never started; the first is line 8" in done.stderr
    assert "3 left out: they are in several files; " in done.stderr
    (folder / "log.swf").write_text(done.stdout)
    (folder / "s.yaml").write_text("clusters: {a: 8}\nworkload: {swf: {file: log.swf}}\n")
    assert run("simulate", "s.yaml", "--set", "policy=EASY").returncode == 0


def test_a_wrong_line_is_an_error_if_asked(run: Run) -> None:
    done = run("history", "--swf", "--from", str(DATA / "sacct.txt"), "--strict")
    assert (done.returncode, done.stdout) == (2, "")
    assert "sacct.txt:11: its submit is not a time; " in done.stderr


def test_what_may_not_be_true_is_told(run: Run, folder: Path) -> None:
    row = "1|run|1740823000|1740823100|1740823200|COMPLETED|4"
    (folder / "jobs.txt").write_text(f"JobID|JobName|Submit|Start|End|State|ReqCPUS\n{row}\n")
    done = run("history", "--swf", "--from", "jobs.txt")
    assert done.returncode == 0 and len(done.stderr.splitlines()) == 1
    assert "jobs.txt: users can write line breaks into its column jobname" in done.stderr
    assert run("history", "--swf", "--from", "jobs.txt", "--strict").returncode == 2


def test_options_that_do_not_go_together(run: Run) -> None:
    for words in (
        ["--from", "x"],
        ["--swf", "--from", "x", "--json"],
        ["--swf", "--from", "x", "--user", "me"],
        ["--swf", "x"],
        ["--strict"],
        ["--swf", "--from", "x", "--format", "pbss"],
        ["--swf", "--from", "/none"],
    ):
        assert run("history", *words).returncode == 2, words
