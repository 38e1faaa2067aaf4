"""The queries of released tools, in thirty states of jobs and arrays: what Slurm's own commands
print of them, byte for byte; ids, times and names of nodes aside.

`make same-bytes` runs it. `test_front_ends.py` is its share in `make test`.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site
from tests.daemon.kinds import Slurm
from tests.daemon.test_front_ends import Ask
from tests.daemon.test_front_ends import ask as ask
from tests.testbed import SlurmCluster
from tests.testbed.accounting import accounted
from tests.testbed.packages import PackagesUnavailable

pytestmark = pytest.mark.slurm
Told = Callable[..., "tuple[int, str]"]
"""Runs a command on one of both sides: its exit code, and what it prints."""

SLEEP = "sleep 900"
YIELD = "trap 'exit 0' TERM; while :; do sleep 0.1; done"
JOBS: Mapping[str, tuple[str, str]] = {
    # name: options of sbatch, and the script's last line, in the order of their submission
    # These run until all that depends on them is submitted: else Slurm refuses that at once.
    "ends": ("-n2 -t 5", "sleep 8; exit 0"),
    "fails": ("-n 1 -t 1-01:00:00 --comment=why", "sleep 8; exit 3"),
    "signalled": ("-n 1 -t 10", "kill -KILL $$"),
    "late": ("-n1 -t 1", SLEEP),
    "held": ("-H -N2 -n4 -t 90 -A phys", "exit 0"),
    "released": ("-H -n1 -t 15", SLEEP),
    "runs": ("-n3 -c2 -t 2:00:00 --mem=100M", SLEEP),
    "percpu": ("-n2 -t 20 --mem-per-cpu=50M --nice=7", SLEEP),
    "twonodes": ("-N2 --ntasks-per-node=2 -t 30", SLEEP),
    "wrapped": ("-t 30 -o out.%x.%j -e err.%j", SLEEP),
    "lateyields": ("-n1 -t 1", YIELD),
    "gone": ("-n1 -t 0:30:00", SLEEP),
    "yields": ("-n1 -t 0:30:00", YIELD),
    "goneheld": ("-H -n1 -t 0:30:00", SLEEP),
    "waits": ("-n1 -t9 -d afterany:{runs}:{gone},singleton", "exit 0"),
    "either": ("-n1 -t9 -d afterany:{runs}?afterok:{percpu}", "exit 0"),
    "never": ("-n1 -t9 --dependency afterok:{fails}", "exit 0"),
    "notok": ("-n1 -t9 -d afternotok:{runs}", "exit 0"),
    "after": ("-n1 -t9 -d after:{held}", "exit 0"),
    "minutes": ("-n1 -t9 -d after:{runs}+30", "exit 0"),
    "heldwaits": ("-H -n1 -t9 -d afterok:{runs}", "exit 0"),
    "many": ("-n1 -t9 -a 0-5:5%1", SLEEP),
    "manydone": ("-n1 -t9 -a 1-3", "exit 0"),
    "manymixed": ("-n1 -t9 -a 1-3", "test $SLURM_ARRAY_TASK_ID != 2"),
    "manyheld": ("-H -n1 -t9 -a 2,4,7-9", "exit 0"),
    "manywait": ("-n1 -t9 -a 0-9%3 -d afterok:{runs}", "exit 0"),
    "manyrun": ("-n1 -t9 -a 0-1", SLEEP),
    "manycut": ("-n1 -t9 -a 0-3%1", SLEEP),
    "manygone": ("-n1 -t9 -a 0-2", SLEEP),
    "afterarray": ("-n1 -t9 -d afterok:{many}", "exit 0"),
    "aftertask": ("-n1 -t9 -d afterany:{many}_0", "exit 0"),
    "killed": ("-n1 -t9 -d afternotok:{ends} --kill-on-invalid-dep=yes", "exit 0"),
}
RUNNING = ("runs", "percpu", "twonodes", "wrapped", "gone", "yields")
ENDED = {"ends": "COMPLETED", "fails": "FAILED", "signalled": "FAILED"}
REASONS = {  # that both sides say before they are compared
    "waits": "Dependency", "either": "Dependency", "never": "DependencyNeverSatisfied",
    "notok": "Dependency", "after": "Dependency", "minutes": "Dependency",
    "heldwaits": "JobHeldUser", "afterarray": "Dependency", "aftertask": "Dependency",
}  # fmt: skip
QUERIES = [
    # Nextflow
    ("squeue", "--noheader", "-o", "%i %t", "-t", "all"),
    ("squeue", "--noheader", "-o", "%i %t", "-t", "all", "-p", "batch"),
    ("squeue", "--noheader", "-o", "%i %t", "-t", "all", "-u", "{user}"),
    # Snakemake
    ("squeue", "--format=%i|%T", "--states=all", "--noheader"),
    ("sinfo", "-h", "-o", "%P"),
    # PSI/J
    ("squeue", "-O", "JobArrayID,StateCompact,Reason", "-t", "all", "--me"),
    ("squeue", "--me", "-o", "%i", "-h", "-r", "-t", "all"),
    # Parsl
    ("squeue", "--noheader", "--format=%i %t", "--job", "{ids}"),
    # AiiDA
    ("squeue", "--noheader", "-o", "%i^^^%t^^^%r^^^%u^^^%D^^^%C^^^%P^^^%l^^^%j", "--jobs={ids}"),
    ("squeue", "--noheader", "-o", "%B^^^%R^^^%M^^^%S^^^%V", "-t", "all"),
    # people
    ("squeue",),
    ("squeue", "-l", "-h", "-t", "all"),
    ("squeue", "-t", "all", "-o", "%.10P|%9j|%.3u|%C|%D|%R|%l|%k|%N|%c|%m|%y|%v|%E|%f|%W|%Z"),
    ("squeue", "-t", "all", "-O", "name:.9,username:3|,numcpus:4,timelimit,comment:6"),
    ("squeue", "-h", "-r", "-t", "PD,R", "-o", "%F %K %T"),
]  # fmt: skip
SACCT = [  # where jobs are kept in a database
    # Snakemake, submitit, Parsl
    ("sacct", "-X", "--parsable2", "--clusters", "all", "--noheader", "--format=JobIdRaw,State",
     "--starttime", "now-2hours", "--endtime", "now", "--name", "{names}"),
    ("sacct", "-o", "JobID,State,NodeList", "--parsable2", "-j", "{ids}"),
    ("sacct", "-X", "--noheader", "--format=jobid,state%20", "--job", "{ids}"),
    # what people ask
    ("sacct", "-X", "-P", "-j", "{ids}", "-o",
     "jobid,partition,alloccpus,state,exitcode,reqcpus,nnodes,timelimit,timelimitraw,user"),
    ("sacct", "-n", "-j", "{ids}", "-o", "jobid,state,exitcode,ncpus,allocnodes"),
]  # fmt: skip
ASIDE = {  # of `scontrol show job`: ids, times, and what a broker over several clusters has not
    "Priority", "AllocNode:Sid", "LastSchedEval", "Scheduler", "AccrueTime", "TRES", "ReqTRES",
    "AllocTRES", "Power", "SuspendTime", "SecsPreSuspend", "EligibleTime", "StartTime", "EndTime",
    "Requeue", "SubmitTime", "RunTime",
    "NodeList", "BatchHost", "SchedNodeList", "JOB_GRES", "Nodes",
}  # fmt: skip

KNOWN = {
    "goneheld": {"Reason"},  # Slurm goes on telling why it had not started
    "late": {"ExitCode"},  # 0:15 or 143:0, as its shell or Slurm was first
    "gone": {"ExitCode"},
    "manygone": {"ExitCode"},
}


_BATCH = r"(?m)(\.batch[ |]+)(FAILED(?=\|NODE)|FAILED +15:0|CANCELLED(?=\|NODE)|CANCELLED +0:15)"
"""A script that was told to end: as its shell or Slurm was first."""


class Side:
    """Slurm's own commands, or metabroker's, and the jobs that were submitted by them."""

    def __init__(self, told: Told, nodes: str) -> None:
        self.told = told
        self.ids: dict[str, str] = {}
        self.wrong: list[str] = []
        self._nodes = nodes

    def plain(self, text: str) -> str:
        """Without what differs: ids are their jobs' names, times are T, nodes are NODE."""
        for name, number in self.ids.items():
            text = re.sub(rf"(?m)(^ *|after[a-z]*:|Id=){number}(?![0-9])", rf"\1<{name}>", text)
        text = re.sub(r"(?m)^(\d+|<many\w*>)(?=\|[A-Z])", "RAW", text)  # of an array's task
        text = re.sub(rf"\b{self._nodes}n?\d+\b|\b{self._nodes}n?\[[\d,-]+\]", "NODE", text)
        text = re.sub(r"\d{4}-\d\d-\d\dT[\d:]{8}|\b\d{10}\b", "TIME", text)
        text = re.sub(_BATCH, r"\1ENDED", text)
        text = re.sub(r"(?<=[ |^])(\d+-)?(\d+:)?\d+:\d\d(?=[ |^])", "T", text)
        # Ids, times and names have other widths.
        return "\n".join(sorted(re.sub(r" +", " ", line).strip() for line in text.splitlines()))

    def submit(self, site: Site, mark: str) -> None:
        """All of them."""
        for name, (options, line) in JOBS.items():
            script = site.work / f"{name}.sh"
            script.write_text(f"#!/bin/sh\n{line}\n")
            words = options.format(**self.ids).split()
            output = [] if "-o" in words else ["-o", "/dev/null"]
            words = ["--parsable", "-J", f"{name}{mark}", *output, *words, str(script)]
            code, out = self.told("sbatch", *words)
            assert code == 0, f"{name}: {out} {words}"
            self.ids[name] = out.strip()

    def wait(self, name: str, wanted: str, form: str = "%T") -> None:
        """Until squeue says so of a job."""
        words = ("squeue", "-h", "-t", "all", "-r", "-o", form, "-j", self.ids[name])
        until = time.monotonic() + 150
        while sorted(found := self.told(*words)[1].split()) != sorted(wanted.split()):
            if time.monotonic() > until or self.wrong:
                self.wrong.append(f"{self._nodes} {name}: {wanted}, not {found}")
                return
            time.sleep(0.5)

    def bring_about(self) -> None:
        """The states that are compared."""
        for name, state in ENDED.items():
            self.wait(name, state)
        for name in RUNNING:
            self.wait(name, "RUNNING")
        self.wait("manyrun", "RUNNING RUNNING")
        self.wait("manygone", "RUNNING RUNNING RUNNING")
        self.wait("manydone", "COMPLETED COMPLETED COMPLETED")
        self.wait("manymixed", "COMPLETED FAILED COMPLETED")
        self.wait("many", "RUNNING PENDING")
        self.wait("manycut", "RUNNING PENDING PENDING PENDING")
        for name in ("gone", "goneheld", "manygone", "yields"):
            assert self.told("scancel", self.ids[name])[0] == 0
        assert self.told("scancel", f"{self.ids['manycut']}_[2]")[0] == 0
        self.wait("gone", "CANCELLED")
        self.wait("yields", "CANCELLED")
        self.wait("manygone", "CANCELLED CANCELLED CANCELLED")
        assert self.told("scontrol", "release", self.ids["released"])[0] == 0
        self.wait("released", "RUNNING")
        for name, reason in REASONS.items():
            self.wait(name, reason, "%r")
        self.wait("many", "None JobArrayTaskLimit", "%r")
        self.wait("late", "TIMEOUT")
        self.wait("lateyields", "TIMEOUT")


def fields(side: Side, name: str) -> dict[tuple[str, str], str]:
    """Of `scontrol show job`: by a task's number and the field's name."""
    told: dict[tuple[str, str], str] = {}
    for record in side.told("scontrol", "show", "job", side.ids[name])[1].split("\n\n"):
        plain = side.plain(record)
        found = dict(re.findall(r"(?:^|\s)([A-Za-z_:/]+)=(\S*)", plain))
        task = found.get("ArrayTaskId", "")
        aside = ASIDE | KNOWN.get(name, set()) | ({"JobId"} if task else set())
        told |= {(task, key): value for key, value in found.items() if key not in aside}
    return told


@pytest.fixture
def stack() -> Iterator[contextlib.ExitStack]:
    """What is to be put back at the end."""
    with contextlib.ExitStack() as made:
        yield made


@pytest.mark.skipif("METABROKER_TEST_SAME_BYTES" not in os.environ, reason="`make same-bytes`")
def test_in_thirty_states_they_print_what_slurms_own_print(
    clusters: dict[str, SlurmCluster],
    make_site: MakeSite,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    stack: contextlib.ExitStack,
) -> None:
    leiden, queries = clusters["leiden"], QUERIES
    try:
        stack.enter_context(accounted(leiden))
        queries = QUERIES + SACCT
        monkeypatch.setattr(sys.modules[__name__], "ASIDE", ASIDE | {"Account", "QOS"})
    except PackagesUnavailable as error:
        print(f"sacct is left out: {error}", file=sys.__stderr__)
    site = make_site(Slurm(clusters))
    with site.changing() as text:
        lab = text["clusters"]["lab"]
        text["clusters"] = {"lab": {**lab, "partition": "batch", "names": {"account": "same"}}}
    site.start_and_look()
    monkeypatch.setenv("METABROKER_SOCKET", str(site.socket))
    monkeypatch.chdir(site.work)
    mark = "x" + "".join(chr(97 + int(digit)) for digit in str(time.time_ns() // 10**6 % 10**4))

    def native(*words: str) -> tuple[int, str]:
        done = leiden.run(*words, cwd=site.work)
        return done.returncode, done.stdout

    def own(*words: str) -> tuple[int, str]:
        code, out, err = ask(*words)
        return code, out + (err if words[0] == "sbatch" else "")

    theirs, ours = Side(native, "leiden"), Side(own, "lab")
    request.addfinalizer(lambda: [side.told("scancel", "--me") for side in (theirs, ours)])
    for side in (theirs, ours):
        side.submit(site, mark)
    for side in (theirs, ours):
        side.bring_about()
    names = ",".join(f"{name}{mark}" for name in JOBS if name not in ("killed", "goneheld"))
    wrong = [*theirs.wrong, *ours.wrong]
    for query in queries:
        found = []
        for side in (theirs, ours):
            ids = ",".join(side.ids.values())
            user = getpass.getuser()
            values = {"{ids}": ids, "{user}": user, "{names}": names}
            words = [values.get(word, word).replace("{ids}", ids) for word in query]
            words += ["-n", names] if query[0] == "squeue" else []
            code, out = side.told(*words)
            found.append((code, side.plain(out).splitlines()))
        if found[0] != found[1]:
            only = [[line for line in a[1] if line not in b[1]] for a, b in (found, found[::-1])]
            wrong.append(f"{query}\nreal {found[0][0]}: {only[0]}\nours {found[1][0]}: {only[1]}")
    for name in JOBS:
        one, other = fields(theirs, name), fields(ours, name)
        for key in sorted(one.keys() | other.keys()):
            if one.get(key) != other.get(key):
                wrong.append(f"scontrol {name} {key}: real {one.get(key)} ours {other.get(key)}")
    assert not wrong, "\n\n".join(wrong)
