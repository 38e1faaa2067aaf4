"""`metabroker advise`: what it prints and writes, and how it ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from metabroker.advice import plots, report, settings
from metabroker.advice.advice import Chapter
from metabroker.cli import common, main

from .test_effects import line, swf

DAY = 86400


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(settings, "DEPTHS", (1,))
    monkeypatch.setattr(settings, "SIBLINGS", (1,))

    def called(*args: str, drawn: bool = False) -> tuple[int, str, str]:
        if not drawn:
            monkeypatch.setattr(plots, "draw", blank)
        monkeypatch.setattr(sys, "argv", ["metabroker", "advise", *args])
        with pytest.raises(SystemExit) as ended:
            main.main()
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err

    return called


def blank(_: Chapter, path: Path) -> Path:
    path.touch()
    return path


def log(path: Path, header: list[str]) -> str:
    """Ten weeks; each day a wide job keeps a wider one waiting, and small ones behind it."""
    jobs: list[str] = []
    for day in range(70):
        for at, size, run in ((0, 60, 3600), (1, 90, 3600), *((2 + n, 10, 600) for n in range(4))):
            jobs.append(line(len(jobs) + 1, day * DAY + at, size, run, len(jobs) % 6))
    return swf(path, [*header, *jobs])


def test_the_advice_of_a_log(call: Any, tmp_path: Path) -> None:
    file = log(tmp_path / "<b>site.swf", ["; MaxProcs: 100"])
    args = ("--from", file, "--policy", "FCFS", "--processes", "1")
    code, out, err = call(*args, drawn=True)
    assert code == 0 and not err
    assert "set `policy: FPFS`" in out and "It gets worse for: nobody" in out
    assert "the policy, if all jobs" in out and "Users adapt" in out
    folder = tmp_path / "metabroker-advice"
    html = (folder / "advice.html").read_text()
    assert "&lt;b&gt;site" in html and "<b>site" not in html
    assert html.count("data:image/png;base64,") == 2
    assert (folder / "advice.md").read_text() in out
    code, out, _ = call("--from", file, "--policy", "FPFS", "--processes", "1", "--json")
    told = json.loads(out)
    assert code == 0 and told["log"]["jobs"] == 420 and told["log"]["weeks"] == 10
    policies, lines = told["advice"]
    assert policies["set"] is None and lines["now"]["set"] == {"line": {"depth": 32, "siblings": 1}}
    (fcfs,) = (tried for tried in policies["tried"] if tried["name"] == "FCFS")
    assert lines["tried"][0]["set"] == {"line": {"depth": 0}}
    (everybody,) = (effect for effect in fcfs["effects"] if effect["who"] == "all jobs")
    assert everybody["certain"] and everybody["after"] > everybody["before"]
    assert everybody["change"] == sorted(everybody["change"])


def test_text_is_text_in_the_page() -> None:
    shown = report._html(report.Text("<i> `a<b` **c**"))
    assert shown == "<p>&lt;i&gt; <code>a&lt;b</code> <strong>c</strong></p>"
    table = report._html(report.Table(("<h>",), [("<c>",)]))
    assert table == "<table><tr><th>&lt;h&gt;</th></tr><tr><td>&lt;c&gt;</td></tr></table>"


def test_several_clusters_and_co_allocated_jobs(call: Any, tmp_path: Path) -> None:
    header = [
        "; Cluster: a 60",
        "; Cluster: b 60",
        *(f"; Components: {n} 45,45" for n in range(2, 421, 6)),
        *(f"; Components: {n} 30,30" for n in range(1, 421, 6)),
    ]
    file = log(tmp_path / "two.swf", header)
    code, out, _ = call("--from", file, "--processes", "1", "--json")
    policies, lines, plans = json.loads(out)["advice"]
    assert code == 0 and policies["now"]["name"] == "GS"
    assert {"LP-GF", "FPFS", "LQ, FPFS"} <= {tried["name"] for tried in policies["tried"]}
    assert not any(tried["refused"] for tried in policies["tried"])
    local = {"local jobs", "single jobs of the broker"}
    for chapter in (lines, plans):
        assert chapter["now"]["set"]["plan"] == {"share": 0.5}
        whose = {effect["who"] for tried in chapter["tried"] for effect in tried["effects"]}
        assert whose == {"all jobs", "co-allocated jobs", *local}
    assert [tried["set"]["plan"] for tried in plans["tried"]] == [
        {"ahead": 0},
        {"share": 0.25},
        {"share": 1.0},
    ]


def test_plans_are_tried_only_where_jobs_have_several_components() -> None:
    """They are for no others."""
    alone, several = (settings.families(3, "GS", co_allocated) for co_allocated in (False, True))
    assert len(alone) == 2 and not any("plan" in each.now.keys for each in alone)
    assert [family.about.split(",")[0] for family in several] == ["the policy", "the line", "plans"]
    assert len({setting.name for setting in (several[2].now, *several[2].others)}) == 4


def test_logs_of_several_years_and_clusters(call: Any, tmp_path: Path) -> None:
    begin = 1_700_000_000
    names = {"a": 100, "b": 120}
    files = [
        log(tmp_path / f"{name}{half}", [f"; UnixStartTime: {at}", f"; Cluster: {name} {size}"])
        for name, size in names.items()
        for half, at in enumerate((begin, begin + 69 * DAY))  # a day is told by both
    ]
    code, out, err = call("--from", *files, "--processes", "1", "--json")
    told = json.loads(out)["log"]
    assert code == 0 and told["clusters"] == names
    assert (told["jobs"], told["weeks"]) == (4 * 420 - 2 * 6, 20)
    assert "12 jobs stand in several of the logs" in err
    head = "JobID|User|Submit|Start|End|State|ReqCPUS|TimelimitRaw"
    (tmp_path / "jobs.txt").write_text(f"{head}\n")
    code, _, err = call("--from", files[0], "jobs.txt")
    assert code == 2 and "jobs.txt is not; make one of" in err


def test_the_output_of_sacct(call: Any, tmp_path: Path) -> None:
    head = "JobID|User|Submit|Start|End|State|ReqCPUS|TimelimitRaw"
    rows = [
        f"{n}|u{n % 3}|{DAY * n}|{DAY * n + 5}|{DAY * n + 65}|COMPLETED|4|60" for n in range(1, 121)
    ]
    (tmp_path / "jobs.txt").write_text("\n".join([head, *rows]))
    args = ("--from", "jobs.txt", "--clusters", "delft=8", "--processes", "1", "--json")
    code, out, err = call(*args)
    assert code == 0 and json.loads(out)["log"]["clusters"] == {"delft": 8} and not err
    assert json.loads(out)["advice"][0]["set"] is None
    (tmp_path / "jobs.txt").write_text("\n".join([head, *rows]).replace("User", "JobName"))
    code, _, err = call(*args)
    assert code == 0 and "jobs.txt: users can write line breaks into its column jobname" in err


def test_the_history_of_the_broker(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    part = {"index": 0, "cluster": "delft", "processors": 4}
    jobs = [
        {
            "job": n,
            "user": "anna",
            "state": "COMPLETED",
            "processors": 4,
            "time_limit": 60,
            "submit_time": 60.0 * n,
            "start_time": 60.0 * n + 9,
            "end_time": 60.0 * n + 50,
            "components": [part],
            "ordered": False,
        }
        for n in range(1, 131)
    ]

    class Client:
        def history(self, **_: object) -> list[dict[str, Any]]:
            return [{"jobs": jobs}]

        def get(self, _: str) -> dict[str, Any]:
            return {"clusters": [{"name": "delft", "processors": 8}]}

    monkeypatch.setattr(common, "connect", lambda socket_path: Client())
    code, out, _ = call("--from-history", "--processes", "1", "--json")
    told = json.loads(out)["log"]
    assert code == 0 and (told["file"], told["jobs"]) == ("the broker's history", 130)
    assert told["clusters"] == {"delft": 8} and told["mean_wait"] == 9.0
    assert len(json.loads(out)["advice"]) == 1, "its only user is taken for a local one"


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ((), "name one log"),
        (("--from", "x.swf", "--from-history"), "name one log"),
        (("--from", "missing.swf"), "cannot be read"),
        (
            ("--from", "log.swf", "--clusters", "a=8", "--policy", "BEST"),
            "there is no policy 'BEST'",
        ),
        (("--from", "log.swf", "--clusters", "a:3"), "'a:3' is no cluster"),
        (("--from", "log.swf"), "does not tell its clusters"),
        (("--from", "log.swf", "--clusters", "a=3"), "there are none"),
        (("--from", "log.swf", "--dask", "tcp://x:1", "--processes", "1"), "cannot go together"),
    ],
)
def test_wrong_use_is_told_in_one_line(
    call: Any, tmp_path: Path, args: tuple[str, ...], told: str
) -> None:
    swf(tmp_path / "log.swf", [line(1, 0, 4, 9, 1)])
    code, out, err = call(*args)
    assert (code, out) == (2, "") and err.startswith("metabroker: ") and err.count("\n") == 1
    assert told in err and "; " in err


def test_a_log_in_milliseconds_is_refused(call: Any, tmp_path: Path) -> None:
    """Of each of its two million weeks samples were drawn: 21 GiB."""
    jobs = [line(n, n and 1_740_826_600_000 + n * DAY * 1000, 4, 9, 1) for n in range(200)]
    file = swf(tmp_path / "site.swf", ["; MaxProcs: 64", *jobs])
    code, out, err = call("--from", file, "--processes", "1")
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert f"{file}: its job 199 is submitted 2906" in err and "weeks after its job 0" in err
    assert "a log's times are in seconds: correct them" in err


def test_a_log_that_is_in_the_place_of_what_is_written_is_not_emptied(
    call: Any, tmp_path: Path
) -> None:
    file = log(tmp_path / "log.swf", ["; MaxProcs: 100"])
    before = Path(file).read_text()
    code, _, _ = call("--from", file, "--out", ".", "--policy", "FCFS", "--processes", "1")
    assert code == 0 and Path(file).read_text() == before
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    (wrong / "log.swf").write_text("nothing of the kind\n")
    code, _, _ = call("--from", str(wrong / "log.swf"), "--out", str(wrong))
    assert code != 0 and [p.name for p in wrong.iterdir()] == ["log.swf"]
    assert (wrong / "log.swf").read_text() == "nothing of the kind\n"
