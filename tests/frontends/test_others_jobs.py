"""What some user asked for is shown to all others, whatever it is."""

from __future__ import annotations

import io
import sys

import pytest

from metabroker.frontends.main import main
from metabroker.frontends.pbs import attributes
from metabroker.frontends.records import Record
from tests.frontends.conftest import Ask
from tests.frontends.stub import NOW, StubClient, job

SPEC = {"chdir": "/w", "output": None, "error": None, "script_name": "s.sh"}
WORDS = ["", "x", "TOP", "0", "-1", "+", "2-x", "\u00b2", "9" * 18, "9" * 5000, None]
COMMANDS = [
    ["squeue"], ["squeue", "-S", "D,c,y"], ["qstat"], ["qstat", "-a"],
    ["qstat", "-f"], ["qstat", "-f", "-F", "json"], ["qselect"], ["scontrol", "show", "job"],
    ["sacct", "-a", "-o", "jobid,nnodes,reqnodes,ncpus,alloccpus,partition,comment"],
]  # fmt: skip
OPTIONS = ("priority", "nodes", "ntasks-per-node", "nice", "comment", "partition", "mail-type")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_nothing_that_a_user_asked_for_keeps_others_jobs_from_being_shown(
    ask: Ask, command: list[str]
) -> None:
    specs = [
        {**SPEC, "asked": [{"option": option, "value": word}]}
        for option in OPTIONS
        for word in WORDS
    ]
    jobs = [
        job(3 * n + 10 + k, state, user="ben", spec=spec)
        for n, spec in enumerate(specs)
        for k, state in enumerate(("QUEUED", "HELD", "RUNNING"))
    ]
    code, out, told = ask(StubClient(*jobs, job(9999)), *command)
    assert (code, told) == (0, "")
    assert "9999" in out


def test_numbers_that_are_none_count_as_not_given(ask: Ask) -> None:
    def of(option: str, value: str) -> Record:
        asked = [{"option": option, "value": value}]
        spec = {**SPEC, "asked": asked}
        return Record(job(1, "QUEUED", start_time=None, spec=spec), "batch", NOW)

    assert [of("nodes", text).nodes for text in ("3", "2-4", "x", "0", "")] == [3, 2, 1, 1, 1]
    assert attributes(of("priority", "TOP"))["Priority"] == 0
    assert attributes(of("priority", "-5"))["Priority"] == -5
    chunks = [attributes(of("nodes", n))["schedselect"] for n in ("2", "0", "3", "2-4", "02")]
    assert chunks == ["2:ncpus=2:mpiprocs=2", *["4:ncpus=1"] * 4]


def test_names_that_a_terminal_cannot_show_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    daemon = StubClient(job(1), job(2, user="ben", name="r\u00fcn \U0001f600"))
    monkeypatch.setattr("metabroker.frontends.squeue.client", lambda: daemon)
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="latin-1"))
    with pytest.raises(SystemExit) as ended:
        main("squeue", ["-h", "-S", "i", "-o", "%i %j"])
    assert ended.value.code == 0
    assert written.getvalue() == b"1 job1\n2 r\xfcn \\U0001f600\n"
