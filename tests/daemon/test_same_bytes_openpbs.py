"""`qstat`, `qselect` and the others beside a live OpenPBS's own, in the same states of jobs and
arrays: the same bytes; ids, times and what only one server can know aside.
"""

from __future__ import annotations

import getpass
import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site
from tests.daemon.pbs import OpenPBS, PbsServer, live, servers
from tests.daemon.test_front_ends import Ask
from tests.daemon.test_front_ends import ask as ask
from tests.testbed.processes import captured
from tests.testbed.testbed import SYSTEM_PATH

pytestmark = pytest.mark.parametrize("system", [live("openpbs")])
Told = Callable[..., "tuple[int, str, str]"]
"""Runs a command on one of both sides: its exit code, what it prints, its errors."""

SLEEP = "sleep 900"
JOBS: Mapping[str, tuple[str, str]] = {
    # name: options of qsub, and the script's last line, in the order of their submission
    "ends": ("-l select=1:ncpus=2 -l walltime=300", "exit 0"),
    "fails": ("-l walltime=1:00:00 -j oe", "exit 3"),
    "killed": ("-l walltime=600", "kill -KILL $$"),
    "held": (
        "-h -A phys -P proj -p 7 -l select=2:ncpus=2:mem=100mb -l walltime=25:00:00",
        "exit 0",
    ),
    "runs": ("-l select=2:ncpus=3 -l walltime=2:00:00", SLEEP),
    "written": ("-l walltime=600 -o out/ -e errors.txt", SLEEP),
    "gone": ("-l walltime=600", SLEEP),
    "gone-held": ("-h -l walltime=600", SLEEP),
    "waits": ("-l walltime=600 -W depend=afterok:{runs}", "exit 0"),
    "either": ("-l walltime=600 -W depend=afterany:{runs}:{written}", "exit 0"),
    "many": ("-l walltime=600 -J 0-5:5", SLEEP),
    "many-done": ("-l walltime=600 -J 1-3", "exit 0"),
    "many-mixed": ("-l walltime=600 -J 1-3", "test $PBS_ARRAY_INDEX != 2"),
    "many-held": ("-h -l walltime=600 -J 7-9", "exit 0"),
    "many-gone": ("-l walltime=600 -J 0-2", SLEEP),
    "a-very-long-name-of-a-job": ("-h -l walltime=600", "exit 0"),
}
ENDED = ("ends", "fails", "killed", "many-done", "many-mixed")
RUNNING = {"runs": "R", "written": "R", "gone": "R", "many": "B", "many-gone": "B"}
QUERIES = [
    ("qstat",),
    ("qstat", "-t"),
    ("qstat", "-x"),
    ("qstat", "-x", "-t"),
    ("qstat", "-H"),
    ("qstat", "-u", "nobody"),
    ("qstat", "-u", "{user}"),
    ("qstat", "-a"),
    ("qstat", "{many}"),
    ("qstat", "{many-held}", "-t"),
    ("qstat", "{runs}", "{held}"),
    ("qstat", "{ends}"),
    ("qstat", "-x", "{ends}", "{fails}"),
    ("qstat", "999999"),
    ("qstat", "-f", "999999", "{ends}"),
    ("qselect",),
    ("qselect", "-T"),
    ("qselect", "-J"),
    ("qselect", "-x"),
    ("qselect", "-H"),
    ("qselect", "-x", "-T"),
    ("qselect", "-s", "H"),
    ("qselect", "-s", "RB"),
    ("qselect", "-x", "-s", "F"),
    ("qselect", "-N", "runs"),
    ("qselect", "-A", "phys"),
    ("qselect", "-P", "proj"),
    ("qselect", "-u", "nobody"),
    ("qdel", "999999"),
    ("qdel", "{ends}"),
    ("qhold", "999999"),
    ("qhold", "{ends}"),
    ("qrls", "999999"),
    ("qrls", "{ends}"),
]
ASIDE = {  # what only a server itself can know, or says of the one host on which it runs
    "ctime", "mtime", "qtime", "etime", "stime", "obittime", "eligible_time", "comment",
    "exec_host", "exec_vnode", "session_id", "jobdir", "egroup", "hashname", "queue_rank",
    "run_version", "Stageout_status", "history_timestamp", "Submit_arguments", "executable",
    "argument_list", "Mail_Points", "Rerunable", "resources_used", "Variable_List", "run_count",
    "estimated",
}  # fmt: skip

KNOWN = {
    ("<gone-held>", "Hold_Types"),  # it tells still that it was held
    ("<written>", "Output_Path"),  # the folder as it was given, and not the file in it
    # PBS says 271 or 0: whether its shell has seen the signal.
    ("<gone>", "Exit_status"),
    *((f"<many-gone>[{task}]", "Exit_status") for task in range(3)),
}


class Side:
    """PBS's own commands, or metabroker's, and the jobs that were submitted by them."""

    def __init__(self, told: Told, server: str) -> None:
        self.told = told
        self.ids: dict[str, str] = {}
        self._server = server

    def plain(self, text: str) -> str:
        """Without what differs: jobs are called by their names, times are T, the server PBS."""
        for name, number in self.ids.items():
            own = number.partition(".")[0].removesuffix("[]")
            text = re.sub(rf"(?<![\w.\[]){own}(?=[.\[])|(?<=\.[oe]){own}\b", f"<{name}>", text)
        text = re.sub(r"\b\d\d:\d\d:\d\d\b|(?<= )0(?= [A-Z] )", "T", text)
        cut = rf"(?<=\.){re.escape(self._server[:1])}[\w.-]*\*"  # a long name, in a narrow column
        text = re.sub(cut, "PBS", text.replace(self._server, "PBS"))
        text = re.sub(r"(?<= )( *\d+|  +--)(?= +\d+ +\d+ )", "SESSION", text)
        # Ids, times and names have other widths. Other jobs are no matter of ours.
        lines = [re.sub(r" +", " ", line).strip() for line in text.splitlines()]
        return "\n".join(line for line in lines if re.match(r"\d+(\[\d*\])?\.", line) is None)

    def submit(self, site: Site) -> None:
        """All of them."""
        for name, (options, line) in JOBS.items():
            script = site.work / f"{name}.sh"
            script.write_text(f"#!/bin/sh\n{line}\n")
            words = options.format(**self.ids).split()
            code, out, err = self.told("qsub", "-N", name, *words, str(script))
            assert code == 0, f"{name}: {err}"
            self.ids[name] = out.strip()

    def jobs(self, *words: str) -> dict[str, Any]:
        """Of `qstat -f -F json -x`: all attributes, by id."""
        code, out, err = self.told("qstat", "-f", "-F", "json", "-x", *words)
        assert code == 0, err
        found: dict[str, Any] = json.loads(out)["Jobs"]
        return found

    def wait(self, states: Mapping[str, str]) -> None:
        """Until all jobs are in these states."""
        until = time.monotonic() + 150
        while True:
            jobs = self.jobs()
            found = {name: jobs[self.ids[name]]["job_state"] for name in states}
            if found == states:
                return
            assert time.monotonic() < until, f"{self._server}: {found}"
            time.sleep(0.5)

    def bring_about(self) -> None:
        """The states that are compared."""
        self.wait({**dict.fromkeys(ENDED, "F"), **RUNNING})
        for name in ("gone", "gone-held", "many-gone"):
            assert self.told("qdel", self.ids[name])[0] == 0
        self.wait({"gone": "F", "gone-held": "F", "many-gone": "F"})


def attributes(side: Side) -> dict[tuple[str, str], str]:
    """By a job's name and the attribute's."""
    told = {}
    for number, job in side.jobs("-t").items():
        name = side.plain(number).removesuffix(".PBS")
        if not name or (job["job_state"] == "Q" and "[]" not in name):
            continue  # of tasks that wait it tells only what their array has
        for key, value in dict(job).items():
            if key in ("Output_Path", "Error_Path"):  # from the server's host or the user's
                job[key] = value.partition(":")[2]
            elif key == "Resource_List" and value["nodect"] == 1:
                value.pop("place")  # `pack` where `select` was not said: one chunk is one anyway
            elif key == "depend" and value.startswith("before"):
                del job[key]  # who waits for it
        found = {key: value for key, value in job.items() if key not in ASIDE}
        for key, value in found.items():
            if (name, key) not in KNOWN:
                told[name, key] = side.plain(json.dumps(value))
        told[name, "in order"] = " ".join(found)
    return told


def test_in_the_same_states_they_print_what_pbs_prints(
    system: str,
    make_site: MakeSite,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = servers()
    site = make_site(OpenPBS(found))
    with site.changing() as text:
        lab = text["clusters"]["lab"]
        names = {"account": "same", "project": "same"}
        text["clusters"] = {"lab": {**lab, "queue": "workq", "names": names}}
    site.start_and_look()
    monkeypatch.setenv("METABROKER_SOCKET", str(site.socket))
    monkeypatch.setenv("TZ", "UTC")
    (site.work / "out").mkdir()
    monkeypatch.chdir(site.work)
    name = re.findall(r"^Server: (\S+)$", found["leiden"].run("qstat", "-Bf"), re.MULTILINE)[0]
    theirs = Side(own_commands(found["leiden"], site), name)
    ours = Side(ask, "metabroker")
    try:
        for side in (theirs, ours):
            side.submit(site)
        for side in (theirs, ours):
            side.bring_about()
        wrong = [*differing(theirs, ours)]
        one, other = attributes(theirs), attributes(ours)
        for key in sorted(one.keys() | other.keys()):
            if one.get(key) != other.get(key):
                wrong.append(f"{key}: real {one.get(key)} ours {other.get(key)}")
    finally:
        for side in (theirs, ours):
            side.told("qdel", *side.told("qselect")[1].split())
    assert not wrong, "\n".join(wrong)


def own_commands(server: PbsServer, site: Site) -> Told:
    """PBS's."""

    def told(*words: str) -> tuple[int, str, str]:
        done = captured(
            [str(server.bin / words[0]), *(("-f",) if words[0] == "qsub" else ()), *words[1:]],
            cwd=str(site.work),
            env={"PATH": SYSTEM_PATH, "TZ": "UTC", **server.env},
        )
        return done.returncode, done.stdout, done.stderr

    return told


def differing(theirs: Side, ours: Side) -> list[str]:
    """The queries that are answered in another way."""
    wrong = []
    for query in QUERIES:
        told = []
        for side in (theirs, ours):
            code, out, err = side.told(
                *(word.format(**side.ids, user=getpass.getuser()) for word in query)
            )
            told.append((code, side.plain(out).splitlines(), side.plain(err).splitlines()))
        if told[0] != told[1]:
            only = [[x for x in a[1] + a[2] if x not in b[1] + b[2]] for a, b in (told, told[::-1])]
            wrong.append(f"{query}\nreal {told[0][0]}: {only[0]}\nours {told[1][0]}: {only[1]}")
    return wrong
