"""Arrays of jobs, in the rows and ids of Slurm's commands."""

from __future__ import annotations

from typing import Any

import pytest

from metabroker.frontends.arrays import job_ids
from metabroker.frontends.main import FrontEndError
from tests.frontends.conftest import Ask
from tests.frontends.stub import StubClient, job


def array(number: int = 10, state: str = "QUEUED", left: str = "5-99", **more: Any) -> Any:
    told = {"tasks": "0-99", "most": 0, "cancelled": "", "left": left} | more
    return job(number, state, name="arr", array=told, start_time=None)


def task(number: int, index: int, state: str, **more: Any) -> Any:
    return job(number, state, name="arr", array_job=10, array_task=index, **more)


def stub(**more: Any) -> StubClient:
    return StubClient(
        array(**more),
        task(11, 0, "COMPLETED"),
        task(12, 1, "FAILED", exit_code=3),
        task(13, 2, "RUNNING"),
        task(14, 3, "QUEUED", position=2),
        task(15, 4, "SUBMITTING", start_time=None),
        job(16, "RUNNING"),
    )


def test_what_waits_is_one_row(ask: Ask) -> None:
    _, out, _ = ask(stub(), "squeue", "-h", "-o", "%i %t %r %A %F %K")
    assert out == "10_[3-99] PD Priority 10 10 3-99\n10_2 R None 13 10 2\n16 R None 16 16 N/A\n"
    _, out, _ = ask(stub(most=1), "squeue", "-h", "-t", "PD", "-o", "%i %r")
    assert out == "10_[3-99%1] JobArrayTaskLimit\n"
    last = StubClient(array(left="", most=1), task(13, 2, "RUNNING"), task(14, 99, "QUEUED"))
    _, out, _ = ask(last, "squeue", "-h", "-o", "%i %K %A %r")
    assert out == "10_99 99 10 JobArrayTaskLimit\n10_2 2 13 None\n"
    _, out, _ = ask(stub(left="7"), "squeue", "-h", "-r", "-t", "PD", "-o", "%i")
    assert out == "10_7\n10_3\n10_4\n"


def test_an_array_of_which_nothing_waits_has_no_row(ask: Ask) -> None:
    ended = StubClient(array(state="FAILED", left=""), task(11, 0, "FAILED", exit_code=1))
    assert ask(ended, "squeue", "-h", "-t", "all", "-o", "%i %t")[1] == "10_0 F\n"
    gone = StubClient(array(state="CANCELLED", left="", cancelled="1-99"), task(11, 0, "COMPLETED"))
    _, out, _ = ask(gone, "sacct", "-XPn", "-j", "10", "-o", "jobid,jobidraw,state")
    assert out == "10_[1-99]|10|CANCELLED\n10_0|11|COMPLETED\n"


def test_as_submitit_and_snakemake_ask(ask: Ask) -> None:
    words = ["-o", "JobID,State,NodeList", "--parsable2", "-j", "10"]
    assert ask(stub(), "sacct", *words)[1] == (
        "JobID|State|NodeList\n10_[3-99]|PENDING|None assigned\n"
        "10_0|COMPLETED|n[1-2]\n10_0.batch|COMPLETED|n[1-2]\n"
        "10_1|FAILED|n[1-2]\n10_1.batch|FAILED|n[1-2]\n"
        "10_2|RUNNING|n[1-2]\n10_2.batch|RUNNING|n[1-2]\n"
    )
    words = ["-XPn", "-j", "10_0,10_[2-7]", "-o", "jobidraw,state"]
    assert ask(stub(), "sacct", *words)[1] == "10|PENDING\n11|COMPLETED\n13|RUNNING\n"


def test_tasks_are_asked_about_by_their_ids(ask: Ask) -> None:
    assert ask(stub(), "squeue", "-h", "-j", "10_2", "-o", "%i")[1] == "10_2\n"
    assert ask(stub(), "squeue", "-h", "-j", "10_200", "-o", "%i")[0] == 1
    _, out, _ = ask(stub(most=4), "scontrol", "show", "job", "10")
    assert "JobId=10 ArrayJobId=10 ArrayTaskId=3-99%4 ArrayTaskThrottle=4 JobName=arr\n" in out
    assert "JobId=13 ArrayJobId=10 ArrayTaskId=2 ArrayTaskThrottle=4 JobName=arr\n" in out
    assert "StdOut=/w/metabroker-10_2.out\n" in out


def test_scancel_ends_arrays_and_tasks(ask: Ask) -> None:
    daemon = stub()
    for words in (["10"], ["10_3"], ["10_[0-2,50%4]", "16"], ["-n", "arr"], ["10_77"], ["10_1"]):
        assert ask(daemon, "scancel", *words) == (0, "", "")
    told = [10, "10_[3]", "10_[0-2,50]", 16, 10, "10_[77]"]
    assert daemon.changed == [(each, "cancel") for each in told]
    assert ask(daemon, "scontrol", "hold", "10_3")[0] == 0
    assert daemon.changed[-1] == ("10_[3]", "hold")


@pytest.mark.parametrize("state", ["QUEUED", "HELD"])
@pytest.mark.parametrize(
    ("words", "ended"),
    [
        (["-t", "PENDING", "-u", "anna"], ["10_[5-99]", 14, 15]),
        (["-t", "PENDING", "10"], ["10_[5-99]", 14, 15]),
        (["-t", "PD", "10_[0-50]"], ["10_[5-50]", 14, 15]),
        (["-t", "PD", "10_[2,3]"], [14]),
        (["-t", "PD", "10_2"], []),
        (["-t", "PD", "10_7", "10"], ["10_[5-99]", 14, 15]),
        (["-t", "RUNNING", "10"], [13]),
        (["-t", "RUNNING", "-u", "anna"], [13, 16]),
        (["-t", "R", "10_[2-7]"], [13]),
        (["-t", "PD,R", "-n", "arr"], ["10_[5-99]", 13, 14, 15]),
    ],
)
def test_scancel_of_a_state_ends_no_task_in_another(
    ask: Ask, state: str, words: list[str], ended: list[int | str]
) -> None:
    daemon = stub(state=state)
    assert ask(daemon, "scancel", *words) == (0, "", "")
    assert daemon.changed == [(each, "cancel") for each in ended]


def test_scancel_of_what_waits_leaves_an_array_of_which_all_run(ask: Ask) -> None:
    daemon = StubClient(array(left=""), *(task(11 + n, n, "RUNNING") for n in range(3)))
    for words in (["-u", "anna"], ["10"], ["10_[0-2]"]):
        assert ask(daemon, "scancel", "-t", "PENDING", *words) == (0, "", "")
    assert daemon.changed == []
    sparse = ",".join(str(3 * n + n % 2) for n in range(1000))
    daemon = StubClient(array(left=sparse))
    assert ask(daemon, "scancel", "-t", "PENDING", "10") == (0, "", "")
    parts = [str(each)[len("10_[") : -1] for each, _ in daemon.changed]
    assert ",".join(parts) == sparse
    assert all(len(part.replace(",", "%2C")) < 8000 for part in parts)
    assert "Invalid job state" in ask(daemon, "scancel", "-t", "PD,x", "10")[2]


def test_sbatch_names_outputs_by_array_and_task(ask: Ask, tmp_path: Any) -> None:
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/sh\n#SBATCH --array=0-15:4%2\n")
    daemon = StubClient()
    assert ask(daemon, "sbatch", str(script)) == (0, "Submitted batch job 17\n", "")
    wire = daemon.submitted[0]
    assert (wire["array"], wire["output"]) == ("0-12:4%2", "slurm-%A_%a.out")
    script.write_text("#!/bin/sh\n#SBATCH --array=0-100000000\n")
    assert "a task has the number 100000000" in ask(daemon, "sbatch", str(script))[2]


@pytest.mark.parametrize(
    "text", ["x", "1_", "1_x", "1_[", "1_[3-1]", "1_[0-99999999]", "_1", "1__2"]
)
def test_what_is_no_id(text: str) -> None:
    with pytest.raises(FrontEndError):
        job_ids(text)


def test_lists_of_ids() -> None:
    assert [str(each) for each in job_ids("1,2_[0,4-6%2],3_7")] == ["1", "2_[0,4-6]", "3_[7]"]


@pytest.mark.parametrize(
    ("cancelled", "left", "shown"),
    [("2", "1,3", ["7_[1,3]"]), ("2", "", []), ("1-3", "", ["7_[1-3]"]), ("0-3", "", ["7_[0-3]"])],
)
def test_tasks_that_were_cancelled_are_shown_when_no_others_are_to_come(
    ask: Ask, cancelled: str, left: str, shown: list[str]
) -> None:
    array = {"tasks": "0-3", "most": 0, "left": left, "cancelled": cancelled}
    daemon = StubClient(job(7, "QUEUED", array=array))
    told = "".join(f"{each}\n" for each in shown)
    assert ask(daemon, "squeue", "-h", "-t", "all", "-o", "%i") == (0, told, "")


def test_when_tasks_were_cancelled_is_not_known_while_others_run(ask: Ask) -> None:
    array = {"tasks": "0-3", "most": 0, "left": "", "cancelled": "1-3"}
    daemon = StubClient(job(7, "QUEUED", array=array))
    assert ask(daemon, "squeue", "-h", "-t", "all", "-o", "%i %e %S") == (
        0,
        "7_[1-3] N/A N/A\n",
        "",
    )


def test_scontrol_updates_what_can_change(ask: Ask) -> None:
    daemon = stub()
    assert ask(daemon, "scontrol", "update", "JobId=10", "ArrayTaskThrottle=2")[0] == 0
    assert ask(daemon, "scontrol", "update", "jobid=16,10_[3-4]", "TimeLimit=1:30:00")[0] == 0
    assert daemon.changed == [
        (10, "change {'most': 2}"),
        (16, "change {'time_limit': 5400}"),
        ("10_[3-4]", "change {'time_limit': 5400}"),
    ]
    for more in ("+5", "-0:10:00"):
        assert ask(daemon, "scontrol", "update", "JobId=16", f"TimeLimit={more}")[0] == 0
    assert daemon.changed[3:] == [
        (16, "change {'time_limit': 3900}"),
        (16, "change {'time_limit': 3000}"),
    ]
    told = ask(daemon, "scontrol", "update", "JobId=16", "TimeLimit=-60")[2]
    assert told == "Invalid time limit for job 16"
    assert (
        "NumNodes=2 cannot be changed"
        in ask(daemon, "scontrol", "update", "Job=16", "NumNodes=2")[2]
    )
    assert ask(daemon, "scontrol", "update", "JobId=16")[2] == "No changes specified"
