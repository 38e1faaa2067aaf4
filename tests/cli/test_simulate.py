"""`metabroker simulate`."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from metabroker.cli import simulate
from metabroker.simulation.kernel import play as kernel
from metabroker.simulation.scenario.loader import load
from tests.cli.conftest import Run

SCENARIOS = Path(__file__).parents[2] / "configs/simulate"

SCENARIO = """\
clusters: {c1: 32, c2: 32, c3: 32, c4: 32}
policy: GS
workload:
  synthetic: {utilization: 0.6}
jobs: 400
replications: 2
"""
SWEEP = ("--set", "policy=[GS,LS-DO]", "--set", "workload.synthetic.utilization=[0.5,1.5]")
LOG = "1 0 -1 10 4 -1 -1 4 10 -1 1 1 1 -1 1 1 -1 -1\nbroken\n"


@pytest.fixture(autouse=True)
def scenario(folder: Path) -> None:
    (folder / "s.yaml").write_text(SCENARIO)


def test_the_table(run: Run) -> None:
    done = run("simulate", "s.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert "policy     GS, worst-fit, FCFS" in done.stdout
    for words in ("400 jobs x 2", "response time", "utilization, net"):
        assert words in done.stdout


def test_json_and_jobs(run: Run, folder: Path) -> None:
    done = run("simulate", "s.yaml", "--json", "--jobs-out", "j.csv", "--set", "warmup=none")
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    assert (answer["jobs"], answer["replications"]) == (400, 2)
    assert answer["scenario"]["warmup"] == "none"
    rows = list(csv.DictReader((folder / "j.csv").open()))
    assert len(rows) == 400
    one = run("simulate", "s.yaml", "--json", "--set", "warmup=none", "--set", "replications=1")
    response = json.loads(one.stdout)["response_time"]["total"]
    mean = sum(float(row["end"]) - float(row["submit"]) for row in rows) / 400
    assert response == {"mean": pytest.approx(mean), "ci95": None}


def test_a_sweep(run: Run, folder: Path) -> None:
    done = run("simulate", "s.yaml", *SWEEP, "--csv", "t.csv", "--plot", "p.svg", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    runs = json.loads(done.stdout)["runs"]
    assert [one["set"]["policy"] for one in runs] == ["GS", "GS", "LS-DO", "LS-DO"]
    assert [one["saturated"] for one in runs] == [False, True, False, True]
    assert len(list(csv.DictReader((folder / "t.csv").open()))) == 4
    assert "<svg" in (folder / "p.svg").read_text()


def test_saturation_is_said_clearly(run: Run) -> None:
    assert "* SATURATED" in run("simulate", "s.yaml", *SWEEP).stdout
    done = run("simulate", "s.yaml", "--set", "workload.synthetic.utilization=2")
    assert "* SATURATED" in done.stdout
    assert done.stdout.splitlines()[6].split()[2].endswith("*")


def test_a_maximum_that_was_hit(run: Run) -> None:
    done = run("simulate", "s.yaml", "--set", "precision={relative: 0.0001, most: 3}")
    assert "after the maximum of 3 replications" in done.stdout


def test_what_was_left_out_of_a_log(run: Run, folder: Path) -> None:
    (folder / "log.swf").write_text(LOG)
    (folder / "s.yaml").write_text("clusters: {a: 4}\nworkload: {swf: {file: log.swf}}\n")
    done = run("simulate", "s.yaml", "--json")
    assert done.returncode == 0
    assert "log.swf: 1 lines left out: it does not have the 18 fields of a job; " in done.stderr
    assert json.loads(done.stdout)["skipped"][0]["first_line"] == 2
    done = run("simulate", "s.yaml", "--set", "workload.swf.strict=true")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("metabroker: s.yaml:2: workload.swf.file: ")
    assert "log.swf:2: it does not have the 18 fields of a job; " in done.stderr


WRONG = [
    (["none.yaml"], "none.yaml:1: cannot be read: No such file or directory; "),
    ([], "missing argument"),
    (["s.yaml", "--set", "polcy=GS"], "--set polcy: unknown key; did you mean 'policy'?"),
    (["s.yaml", "--set", "clusters.c1=0"], "--set clusters.c1: must be at least 1, not 0; "),
    (["s.yaml", "--set", "policy=AFCFS"], "--set policy: AFCFS runs on one cluster, not on 4; "),
    (["s.yaml", "--jobs-out", "no/j.csv"], "--jobs-out 'no/j.csv': there is no such folder; "),
    (["s.yaml", "--jobs-out", "."], "--jobs-out '.' cannot be written: Is a directory; "),
    (["s.yaml", "--plot", "p.txt"], "--plot 'p.txt' is not the name of a picture; "),
    (["s.yaml", "--processes", "2", "--dask", "tcp://h:1"], "--processes and --dask cannot go"),
    (["s.yaml", *SWEEP, "--jobs-out", "j.csv"], "--jobs-out takes one run, and these are 4 runs; "),
]


@pytest.mark.parametrize(("words", "start"), WRONG)
def test_wrong_usage(run: Run, words: list[str], start: str) -> None:
    done = run("simulate", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"metabroker: {start}")


def test_errors_in_json(run: Run, folder: Path) -> None:
    (folder / "s.yaml").write_text(SCENARIO.replace("0.6", "-0.6").replace("GS", "GX"))
    done = run("simulate", "s.yaml", "--json")
    assert done.returncode == 2
    found = [(e["line"], e["key"]) for e in json.loads(done.stdout)["errors"]]
    assert found == [(2, "policy"), (4, "workload.synthetic.utilization")]


def test_a_missing_extra_is_one_line(run: Run, folder: Path) -> None:
    (folder / "without").mkdir()
    (folder / "without" / "numpy.py").write_text("raise ImportError(name='numpy')\n")
    path = ":".join([str(folder / "without"), *filter(None, sys.path)])
    done = run("simulate", "s.yaml", env={"PYTHONPATH": path})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "metabroker: simulating needs numpy, which is not installed; "
        "install it: pip install 'metabroker[simulation]'\n"
    )


def test_without_numba_it_says_what_is_slower(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plans = load(SCENARIOS / "four-clusters.yaml", ["jobs=1000000"])
    simulate._tell_slower(plans)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(kernel, "installed", lambda: False)
    simulate._tell_slower(load(SCENARIOS / "four-clusters.yaml", ["jobs=10"]))
    assert capsys.readouterr().err == ""
    simulate._tell_slower(plans)
    assert "install it: pip install 'metabroker[simulation]'" in capsys.readouterr().err


def test_processes_change_nothing(run: Run) -> None:
    found = []
    for words in ((), ("--processes", "2")):
        answer = json.loads(run("simulate", "s.yaml", "--json", *words).stdout)
        answer.pop("jobs_per_second")
        found.append(answer)
    assert found[0] == found[1]


def test_nobody_answers_at_the_address(run: Run) -> None:
    pytest.importorskip("distributed")
    done = run("simulate", "s.yaml", "--dask", "nonsense")
    assert done.returncode == 1
    assert "metabroker: " in done.stderr


def test_a_live_dask_cluster_gives_the_same_results(run: Run) -> None:
    distributed = pytest.importorskip("distributed")
    found = []
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        for words in ((), ("--dask", cluster.scheduler_address)):
            done = run("simulate", "s.yaml", "--json", *words)
            assert (done.returncode, done.stderr) == (0, "")
            answer = json.loads(done.stdout)
            answer.pop("jobs_per_second")
            found.append(answer)
    assert found[0] == found[1]


@pytest.mark.parametrize("processes", ["1", "2"])
def test_ctrl_c_ends_it_at_once_and_leaves_no_process(
    folder: Path, environ: dict[str, str], processes: str
) -> None:
    """As a shell does it: the whole process group hears it."""
    words = ("simulate", "s.yaml", "--set", "jobs=50000000", "--processes", processes)
    process = subprocess.Popen(
        [sys.executable, "-m", "metabroker", *words],
        cwd=folder, env=environ, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    busy = 3 if processes == "2" else 1  # a pool has a process that looks after its locks
    # While it imports Python may drop a KeyboardInterrupt; that takes a second of processor time.
    while len(_group(process.pid)) < busy or _seconds(process.pid) < 1.5 * busy:
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGINT
    assert out == b"" and b"Traceback" not in err
    while _group(process.pid):
        time.sleep(0.05)


def _group(leader: int) -> list[int]:
    """The processes of a group that have not ended."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, group = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(group) == leader and state != "Z":
                found.append(int(folder.name))
    return found


def _seconds(leader: int) -> float:
    """Processor time that the group has used, in seconds."""
    ticks = 0
    for pid in _group(leader):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(words[11]) + int(words[12])
    return ticks / os.sysconf("SC_CLK_TCK")
