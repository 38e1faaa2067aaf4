"""`#PBS` lines: read as qsub reads them, and put into the words of both systems."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.submission.build import foreign_options
from metabroker.submission.errors import SubmissionError

ONE = {"single": 1, "cpus_per_task": 1}


def options(line: str) -> dict[str, Any]:
    """What one line gives."""
    return foreign_options(f"#!/bin/sh\n#PBS {line}\n".encode(), "job.sh")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("-l walltime=00:90:00", {**ONE, "time": 5400}),
        ("-l walltime=100:75", {**ONE, "time": 6075}),
        ("-l select=ncpus=8:mem=4gb", {"single": 1, "cpus_per_task": 8, "memory_per_cpu": 512}),
        ("-l select=ngpus=1", {"single": 1, "cpus_per_task": 1, "gpus_per_task": 1}),
        ("-l nodes=2:ppn=8,mem=16gb", {"single": 16, "cpus_per_task": 1, "memory_per_cpu": 1024}),
        ("-l nodes=1:ppn=8 -l mem=8gb", {"single": 8, "cpus_per_task": 1, "memory_per_cpu": 1024}),
        ("-l mem=4gb,ncpus=4", {**ONE, "cpus_per_task": 4, "memory_per_cpu": 1024}),
        ("-N job -h", {**ONE, "name": "job", "hold": True}),
        ("-l walltime=90", {**ONE, "time": 90}),
        ("-l walltime=1:30:00,ncpus=4", {"single": 1, "cpus_per_task": 4, "time": 5400}),
        ("-l select=3:ncpus=4:mem=8gb", {"single": 3, "cpus_per_task": 4, "memory_per_cpu": 2048}),
        ("-l select=2:ncpus=2:ngpus=1", {"single": 2, "cpus_per_task": 2, "gpus_per_task": 1}),
        ("-l select=2:ncpus=8:mpiprocs=4", {"single": 8, "cpus_per_task": 2}),
        ("-l nodes=2:ppn=4", {"single": 8, "cpus_per_task": 1}),
        ("-l select=1:ncpus=2:ompthreads=2 -V", {"single": 1, "cpus_per_task": 2,
                                                "export": "ALL,OMP_NUM_THREADS=2"}),
        ("-l place=scatter:excl", {**ONE, "exclusive": True}),
        ("-v 'A=1,B'", {**ONE, "export": "A=1,B"}),
        ("-o host:/a/o%1 -e /a/e", {**ONE, "output": "/a/o%%1", "error": "/a/e"}),
        ("-o /a/o -e /a/e -j oe", {**ONE, "output": "/a/o"}),
        ("-o /a/o -e /a/e -j eo", {**ONE, "output": "/a/e"}),
        ("-S /bin/sh -r n -Wblock=true", {**ONE, "wait": True}),
    ],
)  # fmt: skip
def test_options_of_our_own(line: str, expected: dict[str, Any]) -> None:
    found = options(line)
    assert {k: v for k, v in found.items() if k not in _OTHERS} == expected


_OTHERS = ("asked", "native", "stage_in", "stage_out", "input_at")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("-q fast -A x -P p", {"partition": "fast", "account": "x", "project": "p"}),
        ("-m abe -M a@b", {"mail-type": "FAIL,BEGIN,END", "mail-user": "a@b"}),
        ("-l software=matlab", {"resource": "software=matlab"}),
        ("-l select=2:ncpus=8:mpiprocs=4", {"nodes": "2", "ntasks-per-node": "4"}),
        ("-r y -a 1200 -S /bin/csh", {"r": "y", "a": "1200", "S": "/bin/csh"}),
        ("-Wumask=022", {"umask": "022"}),
        ("-l place=scatter", {}),
        ("-l select=4:ncpus=2 -l place=scatter", {"nodes": "4"}),
        ("-l select=4:ncpus=2:mpiprocs=2 -l place=pack", {"nodes": "1", "ntasks-per-node": "8"}),
        ("-l select=4 -l place=vscatter", {"place": "vscatter"}),
    ],
)
def test_what_is_the_clusters_matter(line: str, expected: dict[str, str]) -> None:
    assert {each.option: each.value for each in options(line)["asked"]} == expected


@pytest.mark.parametrize(
    "line",
    ["-J 9-0", "-J 0-100000000", "-Wdepend=on:1", "-Wdepend=afterok", "-I", "-N x # comment",
     "-N 'open", "-l x", "-l select=1+1", "-l select=1:vnode=a", "-m z",
     "-l select=1:ncpus=3:mpiprocs=2",
     "-l select=2:ncpus=4 -l mem=4gb", "-l nodes=2,ncpus=4", "-l nodes=n1:ppn=2",
     "-l walltime=1:00:00:00", "-l walltime=0:0:0", "-l select=ncpus=2+1", "-l select==1",
     "-Y", "--long", "-j x", "-l mem=lots", "-l walltime=soon", "-l select=2,ncpus=4"],
)  # fmt: skip
def test_what_is_refused_is_named_with_file_and_line(line: str) -> None:
    with pytest.raises(SubmissionError) as caught:
        options(line)
    assert caught.value.message.startswith("job.sh:2: ")
    assert caught.value.advice


def test_a_line_may_be_indented_and_stands_by_itself() -> None:
    assert foreign_options(b"#!/bin/sh\n  #PBS -N x\n", "job.sh")["name"] == "x"
    with pytest.raises(SubmissionError, match=r"job\.sh:1: '-N' needs a value"):
        foreign_options(b"#PBS -N\n#PBS x\n", "job.sh")


@given(st.text().map(lambda text: f"#PBS {text}".encode("utf-8", "replace")))
def test_any_script_is_read_or_refused(script: bytes) -> None:
    try:
        foreign_options(script, "job.sh")
    except SubmissionError as error:
        assert error.message.startswith("job.sh:")
        assert str(error).isprintable()
