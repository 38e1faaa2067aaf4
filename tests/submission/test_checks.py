"""What can never be run is refused, and what only looks dangerous is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from metabroker.submission.checks import LARGEST_SCRIPT, check, check_script
from metabroker.submission.errors import SubmissionError
from metabroker.submission.model import Processors, Submission
from tests.submission.strategies import submissions

SOUND = Submission(
    script=b"#!/bin/sh\ntrue\n",
    script_name="job.sh",
    processors=Processors(single=1),
    chdir="/",
)


@given(submissions)
def test_sound_submissions_are_taken(submission: Submission) -> None:
    check(submission)


@pytest.mark.parametrize(
    "name",
    ["it's", '"q"', "$(reboot)", "`reboot`", "a;b|c&d", "é 漢字", "-x", "x" * 255, "%j", "../.."],
)
def test_names_are_data(name: str) -> None:
    check(replace(SOUND, name=name, args=(name, "new\nline", "")))


@pytest.mark.parametrize(
    ("script", "what"),
    [
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"\x7fELF\0\0", "is binary"),
        (b"#!/bin/sh\n\0", "is binary"),
        (b"echo hello\n", "no interpreter line"),
        (b"\n#!/bin/sh\n", "no interpreter line"),
        (b"#!\n", "no interpreter line"),
        (b"#!sh\n", "no interpreter line"),
        (b"\xef\xbb\xbf#!/bin/sh\n", "no interpreter line"),
        (b"#!/bin/sh\r\necho\r\n", "DOS line ends"),
        (b"#!/bin/sh\n" + b"#" * LARGEST_SCRIPT, "bytes"),
    ],
)
def test_scripts_that_cannot_run(script: bytes, what: str) -> None:
    with pytest.raises(SubmissionError, match=what):
        check_script(script, "job.sh")


@pytest.mark.parametrize(
    "script",
    [
        b"#!/bin/sh", b"#! /usr/bin/env python3 -u\n", b"#!/bin/sh\n\xff\xfe caf\xe9\n",
        b"#!/bin/sh\n" + b"#" * (LARGEST_SCRIPT - 10),
    ],
    ids=["line", "env", "latin", "large"],
)  # fmt: skip
def test_scripts_that_can(script: bytes) -> None:
    check_script(script, "job.sh")


@pytest.mark.parametrize(
    ("request_", "what"),
    [
        (Processors(), "does not say how many"),
        (Processors(single=1, total=2), "-n and --total are given"),
        (Processors(components=(1,), on=(("a", 1),)), "--components and --on"),
        (Processors(single=0), "0 processors"),
        (Processors(total=-4), "-4 processors"),
        (Processors(components=(4, 0)), "0 processors"),
        (Processors(components=()), "0 components"),
        (Processors(on=()), "0 components"),
        (Processors(on=(("no such", 4),)), "no cluster"),
        (Processors(components=(4,), cluster="a"), "--cluster can be used with -n"),
    ],
)
def test_requests_that_cannot_be(request_: Processors, what: str) -> None:
    with pytest.raises(SubmissionError, match=what):
        check(replace(SOUND, processors=request_))


@pytest.mark.parametrize("name", ["a", "a/b.nc", "it's $(x)", "..a", "a..", "*.nc", "**/x", "-n"])
def test_files_below_the_directory_are_taken(name: str) -> None:
    check(replace(SOUND, stage_in=(name,), stage_out=(name,), submit_dir="/home/anna"))


@pytest.mark.parametrize(
    "name", ["", "/etc/passwd", "..", "../a", "a/../../b", "a/./b", "a//b", "a/", ".", "a/.."]
)
@pytest.mark.parametrize("field", ["stage_in", "stage_out"])
def test_no_file_leads_out_of_the_directory(field: str, name: str) -> None:
    with pytest.raises(SubmissionError):
        changes: dict[str, Any] = {"submit_dir": "/home/anna", field: (name,)}
        check(replace(SOUND, **changes))


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"stage_in": ("a\0b",)}, "the file of --stage-in"),
        ({"stage_in": ("a",) * 1001}, "1001 times"),
        ({"stage_in": ("a",), "submit_dir": None}, "where its files are"),
        ({"stage_out": ("a",), "submit_dir": "here"}, "not absolute"),
    ],
)
def test_files_that_cannot_be_taken(changes: dict[str, Any], what: str) -> None:
    with pytest.raises(SubmissionError, match=what):
        check(replace(SOUND, **{"submit_dir": "/home/anna", **changes}))


def test_an_array_waits_for_the_tasks_of_few_others() -> None:
    array = replace(SOUND, array="0-99999", dependency="aftercorr:1:2")
    check(array)
    with pytest.raises(SubmissionError, match="100000 tasks wait for those of 3 other arrays"):
        check(replace(array, dependency="aftercorr:1:2:3"))


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"joins": 0}, "names no job"),
        ({"joins": 10**18}, "names no job"),
        ({"joins": 12, "processors": Processors(components=(1, 1))}, "has one component"),
        ({"joins": 12, "processors": Processors(total=4)}, "has one component"),
        ({"joins": 12, "array": "0-3"}, "--join and --array"),
        ({"joins": 12, "dependency": "afterok:1?afterok:2"}, "either of several"),
    ],
)
def test_what_cannot_join_another_job_is_refused(wrong: dict[str, Any], what: str) -> None:
    check(replace(SOUND, joins=12, dependency="afterok:1,afterok:2"))
    with pytest.raises(SubmissionError, match=what):
        check(replace(SOUND, **wrong))
