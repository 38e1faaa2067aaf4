"""`qstat` of queues, of users and of the server, as Nextflow and people ask it."""

from __future__ import annotations

import json
import re

import pytest

from tests.frontends.conftest import Ask
from tests.frontends.stub import StubClient, job


def spec(partition: str) -> dict[str, object]:
    asked = [{"option": "partition", "value": partition}]
    return {"chdir": "/w", "output": None, "error": None, "script_name": "s", "asked": asked}


def stub() -> StubClient:
    array = {"tasks": "0-3", "most": 0, "left": "3", "cancelled": ""}
    return StubClient(
        job(1, "QUEUED"),
        job(2, "RUNNING", spec=spec("short")),
        job(3, "COMPLETED", spec=spec("short")),
        job(4, "HELD", user="ben"),
        job(5, "QUEUED", array=array, spec=spec("any")),
        job(6, "RUNNING", array_job=5, array_task=2, spec=spec("any")),
    )


def ids(text: str) -> list[str]:
    return re.findall(r"^(?:Job Id: )?([0-9\[\]]+)\.metabroker", text, re.MULTILINE)


def test_as_nextflow_asks_where_no_queue_is_named(ask: Ask) -> None:
    """`qstat -f $( qstat -B | grep -E -v '(^Server|^---)' | awk '{print "@"$1}' )`."""
    code, out, wrong = ask(stub(), "qstat", "-B")
    assert (code, wrong) == (0, "")
    assert out.splitlines() == [
        "Server             Max   Tot   Que   Run   Hld   Wat   Trn   Ext Status",
        "---------------- ----- ----- ----- ----- ----- ----- ----- ----- -----------",
        "metabroker           0     4     1     1     1     0     0     0 Active     ",
    ]
    named = [f"@{line.split()[0]}" for line in out.splitlines()
             if not line.startswith(("Server", "---"))]  # fmt: skip
    code, out, wrong = ask(stub(), "qstat", "-f", *named)
    assert (code, ids(out), wrong) == (0, ["1", "2", "4", "5[]"], "")
    assert "    job_state = R" in out.splitlines()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["-f", "batch"], "1 4"),  # as Nextflow asks where a queue is named
        (["-f", "short"], "2"),
        (["-x", "short"], "2 3"),
        (["short@metabroker"], "2"),
        (["any"], "5[]"),
        (["-t", "any"], "5[] 5[2] 5[3]"),
        (["@metabroker.example.org"], "1 2 4 5[]"),
        (["short", "1"], "2 1"),
        (["5[2]", "short"], "5[2] 2"),
        (["5[2]", "any"], "5[2] 5[]"),
        (["-x", "3", "batch"], "3 1 4"),
        (["-f", "-u", "ben@login1,carl"], "4"),
        (["-f", "-u", "ben", "batch"], "4"),
    ],
)
def test_jobs_of_a_queue(ask: Ask, words: list[str], found: str) -> None:
    code, out, wrong = ask(stub(), "qstat", *words)
    assert (code, ids(out), wrong) == (0, found.split(), "")


def test_a_queue_of_which_no_job_is_left_is_no_error(ask: Ask) -> None:
    ended = StubClient(job(3, "COMPLETED", spec=spec("odd")))
    assert ask(ended, "qstat", "-f", "odd") == (0, "", "")
    assert ask(ended, "qstat", "-f", "short") == (0, "", "")
    told = "qstat: Unknown queue destination nosuch\n"
    assert ask(stub(), "qstat", "-f", "nosuch") == (170, "", told)
    code, out, wrong = ask(stub(), "qstat", "nosuch", "2")
    assert (code, ids(out), wrong) == (170, ["2"], told)


@pytest.mark.parametrize("words", [["-f", "batch@elsewhere"], ["@elsewhere"], ["-B", "elsewhere"]])
def test_another_server_is_not_reached(ask: Ask, words: list[str]) -> None:
    told = "Unknown Host.\nqstat: cannot connect to server elsewhere (errno=15008)\n"
    assert ask(stub(), "qstat", *words) == (255, "", told)


@pytest.mark.parametrize("wide", [["-fw"], ["-f", "-1"]])
def test_attributes_in_one_line_each(ask: Ask, wide: list[str]) -> None:
    long = "a,b" * 60
    daemon = StubClient(job(1, "RUNNING", name=long))
    assert f"    Job_Name = {long}" in ask(daemon, "qstat", *wide, "1")[1].splitlines()
    assert f"    Job_Name = {long}" not in ask(daemon, "qstat", "-f", "1")[1].splitlines()
    assert "without -f" in ask(daemon, "qstat", wide[-1].replace("f", ""), "1")[2]


def test_the_server_in_full(ask: Ask) -> None:
    _, out, _ = ask(stub(), "qstat", "-Bf")
    assert out.splitlines()[:2] == ["Server: metabroker", "    server_state = Active"]
    _, out, _ = ask(stub(), "qstat", "-B", "-f", "-F", "json", "metabroker")
    told = json.loads(out)["Server"]["metabroker"]
    assert told["total_jobs"] == 4
    assert "Queued:1 Held:1 Waiting:0 Running:1 Exiting:0 Begun:1" in told["state_count"]


def test_qselect_takes_the_host_of_a_user(ask: Ask) -> None:
    assert ask(stub(), "qselect", "-u", "ben@login1") == (0, "4.metabroker\n", "")
