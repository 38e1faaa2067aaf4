"""`squeue`, `sacct`, `scontrol`, `sinfo` and `scancel` as tools ask them (docs/tools of each)."""

from __future__ import annotations

import time

import pytest

from metabroker.api.client import _url
from metabroker.frontends.main import FrontEndError
from metabroker.frontends.moments import parse_moment
from metabroker.frontends.printing import cell, hostlist, short_duration
from tests.frontends.conftest import Ask
from tests.frontends.stub import NOW, StubClient, job

ASKED = [{"option": "partition", "value": "short"}, {"option": "comment", "value": "why"}]
SPEC = {"chdir": "/w", "output": "o.%j", "error": None, "script_name": "s.sh", "asked": ASKED}


def stub() -> StubClient:
    return StubClient(
        job(1, "QUEUED", position=3),
        job(2, "RUNNING", spec=SPEC),
        job(3, "COMPLETED"),
        job(4, "FAILED", exit_code=3, start_time=None),
        job(5, "CANCELLED", reason="cancelled by anna", user="ben"),
        job(6, "HELD", name="other"),
        job(7, "FAILED", exit_code=137),
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        # Nextflow, Snakemake, PSI/J, Parsl
        (["--noheader", "-o", "%i %t", "-t", "all", "-p", "batch,short"],
         "5 CA\n3 CD\n4 F\n7 F\n1 PD\n6 PD\n2 R\n"),
        (["--format=%i|%T", "--states=PD,R", "--noheader", "--name", "other,job2"],
         "6|PENDING\n2|RUNNING\n"),
        (["-h", "-O", "JobArrayID,StateCompact,Reason", "-t", "all", "-j", "1,4"],
         "4                   F                   NonZeroExitCode     \n"
         "1                   PD                  Priority            \n"),
        (["--noheader", "--format=%i %t", "--job", "2"], "2 R\n"),
        (["-h", "-u", "ben", "-t", "all", "-o", "%u>%j"], "ben>job5\n"),
        (["-h", "-j2", "-o", "%P|%k|%N|%R|%D|%C|%M|%L|%l|%Z|%o"],
         "short|why|n[1-2]|n[1-2]|2|4|1:30|58:30|1:00:00|/w|/w/s.sh\n"),
        (["-h", "-t", "F", "-S", "-i", "-o", "%i"], "7\n4\n"),
    ],
)  # fmt: skip
def test_squeue(ask: Ask, words: list[str], expected: str) -> None:
    assert ask(stub(), "squeue", *words) == (0, expected, "")


@pytest.mark.parametrize(
    ("state", "more", "word"),
    [
        ("QUEUED", {"position": 0}, "Resources"),
        ("QUEUED", {"position": None}, "None"),
        ("FAILED", {"exit_code": None, "start_time": None}, "JobLaunchFailure"),
        ("FAILED", {"exit_code": None}, "None"),
        ("FAILED", {"exit_code": 2}, "NonZeroExitCode"),
    ],
)
def test_the_word_for_why_is_not_that_of_something_else(
    ask: Ask, state: str, more: dict[str, object], word: str
) -> None:
    one = StubClient(job(1, state, **more))
    assert ask(one, "squeue", "-h", "-t", "all", "-o", "%r") == (0, f"{word}\n", "")


def test_the_start_of_a_plan_is_told(ask: Ask) -> None:
    plan = {"start": NOW + 3600, "clusters": ["delft", "lab"], "held": True}
    planned = StubClient(job(1, "RESERVING", start_time=None, plan=plan))
    _, out, _ = ask(planned, "squeue", "-h", "-o", "%S")
    assert out.strip() == time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(NOW + 3600))


@pytest.mark.parametrize(
    ("state", "failures", "restarts"),
    [
        ("RUNNING", (0, 0), 0),
        ("RUNNING", (2, 0), 2),
        ("FAILED", (1, 0), 0),  # the one that it has ended with
        ("FAILED", (3, 0), 2),
        ("FAILED", (2, 3), 2),  # then it could not be submitted any more
    ],
)
def test_places_in_line_and_attempts_that_never_ran_are_no_restarts(
    ask: Ask, state: str, failures: tuple[int, int], restarts: int
) -> None:
    completion, submission = failures
    more = {"completion_failures": completion, "submission_failures": submission}
    one = StubClient(job(1, state, attempts=7, **more))
    assert f" Restarts={restarts} " in ask(one, "scontrol", "show", "job", "1")[1]


def test_scontrol_asks_for_ended_jobs_of_a_day(ask: Ask) -> None:
    daemon = stub()
    ask(daemon, "scontrol", "show", "job")
    (since,) = [query["since"] for query in daemon.queries if "since" in query]
    assert 86_000 < time.time() - since < 87_000


def test_ended_jobs_are_asked_for_where_they_are_shown_alone(ask: Ask) -> None:
    alone = job(1, "QUEUED", dependency={"on": "singleton", "kill": False, "never": ""})
    for words in ("scancel -n other", "squeue -o %E"):
        daemon = StubClient(alone)
        ask(daemon, *words.split())
        assert daemon.queries, words
        for query in daemon.queries:
            assert query["jobs"] is not None or time.time() - query["since"] < 600, words


def test_what_jobs_wait_for_is_told_as_slurm_does(ask: Ask) -> None:
    def waits(on: str, never: str = "") -> dict[str, object]:
        return {"dependency": {"on": on, "kill": False, "never": never}}

    jobs = StubClient(
        job(1, "COMPLETED"),
        job(2, "FAILED"),
        job(3, "RUNNING"),
        job(4, "QUEUED", **waits("afterok:1,afterok:3,after:3+5,singleton")),
        job(5, "QUEUED", **waits("afterok:2,afternotok:2,afterany:99", "afterok:2")),
        job(6, "QUEUED", **waits("afterok:3?afternotok:3")),
        job(7, "HELD", **waits("afterany:3")),
        job(8, "QUEUED", name="job4", **waits("singleton,afterany:3")),
        job(9, "CANCELLED", **waits("afterok:2", "afterok:2")),
    )
    told = (
        "4 Dependency afterok:3(unfulfilled),after:3+5(unfulfilled)\n"
        "5 DependencyNeverSatisfied afterok:2(failed)\n"
        "6 Dependency afterok:3(unfulfilled)?afternotok:3(unfulfilled)\n"
        "8 Dependency singleton(unfulfilled),afterany:3(unfulfilled)\n"
        "7 JobHeldUser afterany:3(unfulfilled)\n"
        "3 None (null)\n"
    )
    assert ask(jobs, "squeue", "-h", "-o", "%i %r %E") == (0, told, "")
    told = "9 DependencyNeverSatisfied afterok:2(failed)\n"
    assert ask(jobs, "squeue", "-h", "-t", "CA", "-o", "%i %r %E") == (0, told, "")
    _, text, _ = ask(jobs, "scontrol", "show", "job", "5")
    assert "Reason=DependencyNeverSatisfied Dependency=afterok:2(failed)\n" in text
    _, text, _ = ask(jobs, "qstat", "-f", "6")
    assert "job_state = H\n" in text and "Hold_Types = s\n" in text
    assert "depend = afterok:3.metabroker@metabroker" in text


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["-o", "%X"], "%X is not known here"),
        (["-O", "nonsense"], "nonsense is not known here"),
        (["-t", "nonsense"], "Invalid job state specified: nonsense"),
        (["-j", "77"], "slurm_load_jobs error: Invalid job id specified"),
        (["-j", "x"], "Invalid job id: x"),
        (["extra"], "Unrecognized option: extra"),
    ],
)
def test_what_squeue_cannot_tell_is_an_error_and_no_silence(
    ask: Ask, words: list[str], what: str
) -> None:
    code, out, told = ask(stub(), "squeue", *words)
    assert (code, out, told.removeprefix("-o: ").removeprefix("-O: ")) == (1, "", what)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["-X", "--parsable2", "--clusters", "all", "--noheader", "--format=JobIdRaw,State",
          "--starttime", "now-2days", "--endtime", "now", "--name", "job4,job2"],
         "2|RUNNING\n4|FAILED\n"),
        (["-o", "JobID,State,NodeList", "--parsable2", "-j", "2", "-j", "3_[0-3%2],3.batch", "-X"],
         "JobID|State|NodeList\n2|RUNNING|n[1-2]\n3|COMPLETED|n[1-2]\n"),
        (["-X", "--noheader", "--format=jobid,state%20", "--job", "1,4"],
         "1                         PENDING \n4                          FAILED \n"),
        (["-j", "3", "-P", "--noheader"],
         "3|job3|batch||4|COMPLETED|0:0\n3.batch|batch|||2|COMPLETED|0:0\n"),
        (["-Xbj4,7", "-n"],
         "4                FAILED      3:0 \n7                FAILED      0:9 \n"),
        (["-XPn", "-j5", "-o", "state,elapsed,end"],
         "CANCELLED by anna|00:01:20|2023-11-14T22:13:10\n"),
    ],
)  # fmt: skip
def test_sacct(ask: Ask, words: list[str], expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_TIME_FORMAT", "standard")
    assert ask(stub(), "sacct", *words) == (0, expected, "")


def test_sacct_as_a_table(ask: Ask) -> None:
    _, out, _ = ask(stub(), "sacct", "-X", "-j", "2")
    assert out.splitlines() == [
        "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode ",
        "------------ ---------- ---------- ---------- ---------- ---------- -------- ",
        "2                  job2      short                     4    RUNNING      0:0 ",
    ]


@pytest.mark.parametrize(
    ("text", "ago"),
    [("now", 0), ("now-90", 90), ("now-2hours", 7200), ("now-1hour", 3600), ("now-3days", 259200),
     ("now-2w", 1209600), ("now+1minutes", -60)],
)  # fmt: skip
def test_times_before_now(text: str, ago: float) -> None:
    assert parse_moment(text) == pytest.approx(time.time() - ago, abs=5)


def test_a_unit_of_time_that_is_none_is_refused() -> None:
    with pytest.raises(FrontEndError, match="Invalid time specification: now-2fortnights"):
        parse_moment("now-2fortnights")


def test_what_sacct_does_not_know_of_jobs_is_refused_by_name(ask: Ask) -> None:
    assert ask(stub(), "sacct", "-o", "jobid,maxrss")[::2] == (
        1, "maxrss: no such usage is known of jobs"
    )  # fmt: skip
    assert ask(stub(), "sacct", "-o", "zzz")[0] == 1


def test_scontrol_shows_a_job_as_hyperqueue_reads_it(ask: Ask) -> None:
    code, out, _ = ask(stub(), "scontrol", "show", "job", "2")
    words = dict(word.partition("=")[::2] for word in out.split())
    assert code == 0
    assert out.startswith("JobId=2 JobName=job2\n   UserId=anna(")
    assert out.endswith("   StdOut=/w/o.2\n\n")
    told = ("JobState", "TimeLimit", "NumCPUs", "NodeList", "Partition", "Comment")
    assert [words[word] for word in told] == (
        ["RUNNING", "01:00:00", "4", "n[1-2]", "short", "why"]
    )
    assert ask(stub(), "scontrol", "show", "job", "77")[0] == 1


def test_scontrol_holds_and_releases(ask: Ask) -> None:
    daemon = stub()
    assert ask(daemon, "scontrol", "hold", "1", "2")[0] == 0
    assert ask(daemon, "scontrol", "release", "1,2")[0] == 0
    assert daemon.changed == [(1, "hold"), (2, "hold"), (1, "release"), (2, "release")]


def test_what_scontrol_does_not_do_is_refused(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "requeue 1 is not known here" in ask(stub(), "scontrol", "requeue", "1")[2]


def test_scancel_chooses_as_slurms_does(ask: Ask) -> None:
    daemon = stub()
    assert ask(daemon, "scancel", "1", "3", "99") == (0, "", "")
    assert ask(daemon, "scancel", "-t", "PENDING", "-n", "other")[0] == 0
    assert ask(daemon, "scancel", "-Q", "2")[0] == 0
    assert daemon.changed == [(1, "cancel"), (6, "cancel"), (2, "cancel")]
    assert ask(daemon, "scancel")[::2] == (1, "No job identification provided")
    assert "no signals are sent" in ask(daemon, "scancel", "-s", "USR1", "2")[2]


INVALID = "scancel: error: Kill job error on job id {}: Invalid job id specified\n"


@pytest.mark.parametrize(
    ("words", "code", "told", "changed"),
    [
        # As those of Slurm 22.05, 24.11 and 26.05 do.
        ("99", 0, "", []),
        ("99 3 1", 0, "", [1]),
        ("99_3", 0, "", []),
        ("-v 99", 0, INVALID.format(99), []),
        ("-u anna 99 1", 1, INVALID.format(99), [1]),
        ("-u anna 3", 1, INVALID.format(3), []),  # it has ended
        ("-Q -u anna 99", 1, "", []),
        ("-A x 99 98", 1, INVALID.format(99) + INVALID.format(98), []),
        ("-t PENDING 99_3 1", 1, INVALID.format("99_3"), [1]),
        ("-u anna 20_77 20_2", 1, INVALID.format("20_77"), ["20_[2]"]),
        ("-t RUNNING 1", 0, "", []),
        ("-u ben 1", 0, "", []),
    ],
)
def test_scancel_of_jobs_that_there_are_not(
    ask: Ask, words: str, code: int, told: str, changed: list[int | str]
) -> None:
    array = {"tasks": "0-9", "most": 0, "left": "2-9", "cancelled": "1"}
    daemon = StubClient(*stub().jobs, job(20, "QUEUED", array=array))
    assert ask(daemon, "scancel", *words.split()) == (code, "", told)
    assert daemon.changed == [(each, "cancel") for each in changed]


@pytest.mark.parametrize(
    "words",
    ["sacct --long", "sacct -N n1", "sinfo -N", "sinfo -s", "scancel -b 1", "qstat -Q", "qstat -n"],
)
def test_an_option_that_changes_nothing_here_is_refused_by_name(ask: Ask, words: str) -> None:
    name, option, *rest = words.split()
    code, out, told = ask(stub(), name, option, *rest)
    assert (code, out) == (1, "") and told.startswith("-")


def test_jobs_of_one_cluster(ask: Ask) -> None:
    assert ask(stub(), "squeue", "-h", "-M", "leiden") == (0, "", "")
    assert ask(stub(), "squeue", "-h", "-M", "delft", "-o", "%i", "-j", "2")[1] == "2\n"


@pytest.mark.parametrize(
    ("hosts", "text"),
    [
        (["n1"], "n1"),
        (["n1", "n2", "n3", "n5"], "n[1-3,5]"),
        (["n09", "n10", "x"], "n[09-10],x"),
        ([], ""),
    ],
)
def test_host_lists(hosts: list[str], text: str) -> None:
    assert hostlist(hosts) == text


def test_cells_and_durations() -> None:
    assert [cell("abcd", 3, right=right, cut=cut) for right, cut in
            ((True, True), (True, False), (False, False))] == ["abc", "abcd", "abc"]  # fmt: skip
    assert [short_duration(s) for s in (0, 65, 3665, 90061)] == [
        "0:00", "1:05", "1:01:05", "1-01:01:01"
    ]  # fmt: skip


def test_any_number_of_jobs_may_be_named(ask: Ask) -> None:
    first = 10**17
    array = job(first, "QUEUED", array={"tasks": "0-9", "most": 2, "cancelled": "", "left": "1-9"})
    task = job(first + 999, "RUNNING", array_job=first, array_task=0)
    plain = [job(first + n, "RUNNING") for n in range(1, 999)]
    daemon = StubClient(array, *plain, task)
    numbers = ",".join(str(first + n) for n in range(1000))
    code, out, _ = ask(daemon, "squeue", "-h", "-j", numbers, "-o", "%A")
    assert (code, out.split()) == (0, numbers.split(","))
    assert all(len(_url("records", query)) < 8000 for query in daemon.queries)
    daemon.queries.clear()
    _, out, _ = ask(daemon, "scontrol", "show", "job", f"{first + 1},{first + 999},{first}")
    assert out.count("ArrayTaskThrottle=2") == 2
    tasks = ",".join(f"{first}_{n}" for n in range(2000))
    assert ask(daemon, "squeue", "-h", "-j", tasks, "-o", "%i")[0] == 0
    assert daemon.queries[-1]["jobs"] == str(first)
    _, out, _ = ask(daemon, "scontrol", "-o", "show", "job", numbers)
    throttled = [line for line in out.splitlines() if "ArrayTaskThrottle=2" in line]
    assert len(throttled) == 2, "the array and its task came in two answers"


@pytest.mark.parametrize("names", ["short", "batch", "long,short", "batch,short"])
def test_a_job_that_may_be_in_several_partitions_is_found_by_each(ask: Ask, names: str) -> None:
    asked = [{"option": "partition", "value": "batch,short"}]
    daemon = StubClient(job(2, spec={**SPEC, "asked": asked}))
    assert ask(daemon, "squeue", "-h", "-p", names, "-o", "%i %P")[1] == "2 batch,short\n"
    assert ask(daemon, "sacct", "-anXP", "-r", names, "-o", "jobid")[1] == "2\n"
    assert ask(daemon, "qselect", "-q", names)[1] == "2.metabroker\n"
    assert ask(daemon, "scancel", "-p", names) == (0, "", "")
    assert daemon.changed == [(2, "cancel")]
    for words in (["squeue", "-h", "-p"], ["sacct", "-anX", "-r"], ["qselect", "-q"]):
        assert ask(daemon, *words, "Short,shor,")[1] == ""


def test_squeue_takes_capital_letters_where_slurm_does(ask: Ask) -> None:
    asked = [{"option": "account", "value": "chem"}, {"option": "qos", "value": "Low"}]
    daemon = StubClient(job(1), job(2, name="Mine", spec={**SPEC, "asked": asked}))
    for words in (["-A", "CHEM"], ["-q", "x,low"], ["-n", "mine"], ["-n", "MINE,x"]):
        assert ask(daemon, "squeue", "-h", *words, "-o", "%i")[1] == "2\n"


@pytest.mark.parametrize(
    ("code", "told", "why", "step"),
    [
        (137, "0:9", "JobLaunchFailure", "CANCELLED"),
        (192, "0:64", "JobLaunchFailure", "CANCELLED"),
        (193, "193:0", "NonZeroExitCode", "FAILED"),
        (255, "255:0", "NonZeroExitCode", "FAILED"),
        (128, "128:0", "NonZeroExitCode", "FAILED"),
    ],
)
def test_a_large_exit_code_is_no_signal(
    ask: Ask, code: int, told: str, why: str, step: str
) -> None:
    daemon = StubClient(job(1, "FAILED", exit_code=code))
    _, out, _ = ask(daemon, "sacct", "-anP", "-o", "state,exitcode,reason")
    assert out == f"FAILED|{told}|{why}\n{step}|{told}|\n"
    assert f"ExitCode={told}" in ask(daemon, "scontrol", "show", "job", "1")[1]
    assert ask(daemon, "qstat", "-xf", "1")[1].count(f"Exit_status = {code}") == 1
