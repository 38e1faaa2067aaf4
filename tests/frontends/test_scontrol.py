"""The words in which `scontrol` may be asked about jobs."""

from __future__ import annotations

import pytest

from tests.frontends.conftest import Ask
from tests.frontends.stub import StubClient, job


@pytest.mark.parametrize(
    "words",
    ["show job 17", "show jobid 17", "show jobid -dd 17", "show job -dd 17", "show job=17",
     "-dd show job 17", "show JobId=17", "show JOBS 17", "show j 17", "--details show job 17 -a",
     "show jobid=17 --all"],
)  # fmt: skip
def test_a_job_is_shown(ask: Ask, words: str) -> None:
    daemon = StubClient(job(16), job(17))
    code, out, _ = ask(daemon, "scontrol", *words.split())
    assert code == 0 and out.startswith("JobId=17 ") and "JobId=16" not in out
    assert out == ask(daemon, "scontrol", "show", "job", "17")[1]


@pytest.mark.parametrize("words", ["-o show job", "show jobid -do 17", "show job=17 --oneliner"])
def test_in_one_line(ask: Ask, words: str) -> None:
    assert len(ask(StubClient(job(17)), "scontrol", *words.split())[1].splitlines()) == 1


def test_not_in_one_line_where_it_is_not_asked(ask: Ask) -> None:
    words = ["--verbose", "--all", "-dv", "show", "job", "17"]
    assert len(ask(StubClient(job(17)), "scontrol", *words)[1].splitlines()) > 20


@pytest.mark.parametrize(
    "words", ["show partition=short", "show part short", "show PARTITIONS short"]
)
def test_a_partition_is_shown(ask: Ask, words: str) -> None:
    assert ask(StubClient(), "scontrol", *words.split())[1].startswith("PartitionName=short\n")


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ("hold JobId=17", [(17, "hold")]),
        ("hold job 17", [(17, "hold")]),
        ("hold jobid=17_3,18 19", [("17_[3]", "hold"), (18, "hold"), (19, "hold")]),
        ("release job=17 18", [(17, "release"), (18, "release")]),
        ("update TimeLimit=10 JobId=17", [(17, "change {'time_limit': 600}")]),
        ("update job 17 timelimit=10", [(17, "change {'time_limit': 600}")]),
        ("update ArrayTaskThrottle=2 jobid=17 TimeLimit=10",
         [(17, "change {'most': 2, 'time_limit': 600}")]),
    ],
)  # fmt: skip
def test_jobs_are_changed(ask: Ask, words: str, changed: list[tuple[int | str, str]]) -> None:
    daemon = StubClient(job(17), job(18))
    assert ask(daemon, "scontrol", *words.split()) == (0, "", "")
    assert daemon.changed == changed


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ("hold", "No job identification provided"),
        ("release JobId=", "No job identification provided"),
        ("update TimeLimit=5 JobId=", "No changes specified"),
        ("update TimeLimit=5 job", "No changes specified"),
        ("show job --json", "Invalid job id: --json"),
        ("update NodeName=n1 State=DRAIN", "update NodeName=n1 State=DRAIN is not known here"),
        ("show", "show is not known here"),
        ("show node", "show node is not known here"),
    ],
)
def test_what_is_wrong_is_told(
    ask: Ask, words: str, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    daemon = StubClient(job(17))
    code, out, told = ask(daemon, "scontrol", *words.split())
    assert (code, out, told, daemon.changed) == (1, "", wrong, [])
