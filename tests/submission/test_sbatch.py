"""`#SBATCH` lines and sbatch's command line: each option has a row, and something becomes of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.submission.build import foreign_options, merged
from metabroker.submission.directives import sbatch
from metabroker.submission.directives.rows import Asked, Kept, Own, Refused
from metabroker.submission.directives.words import sbatch_words
from metabroker.submission.errors import SubmissionError
from metabroker.submission.model import AskedOption
from metabroker.submission.native.asked import refused


def options(line: str) -> dict[str, Any]:
    """What one line gives."""
    return foreign_options(f"#!/bin/sh\n#SBATCH {line}\n".encode(), "job.sh")


def asked(line: str) -> dict[str, str | None]:
    """What of it goes to the cluster."""
    return {each.option: each.value for each in options(line)["asked"]}


def words(script: str) -> list[str]:
    return [word.text for word in sbatch_words(script.encode(), "job.sh")]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("#SBATCH -n 4\n#SBATCH -c 2\n", ["-n", "4", "-c", "2"]),
        ("#SBATCH -n\n#SBATCH 4\n", ["-n", "4"]),
        ("#SBATCH--hold\n", ["--hold"]),
        ("\n  \n# text\n #SBATCH -a\n\t# x\n#SBATCH -n4\ntrue\n#SBATCH -c9\n", ["-n4"]),
        ("#SBATCH -J 'two words' # why\n", ["-J", "two words"]),
        ("#SBATCH -J a#b -n 2\n", ["-J", "a"]),
        ('#SBATCH --comment="a # \\"b\\" c"d\\ e\n', ['--comment=a # "b" cd e']),
        ("# SBATCH -n4\n##SBATCH -n4\n#sbatch -n4\n", []),
    ],
)
def test_words_are_read_as_sbatch_reads_them(script: str, expected: list[str]) -> None:
    assert words(f"#!/bin/sh\n{script}") == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("-n4", {"single": 4}),
        ("-N4", {"single": 4}),
        ("--nodes=2 --ntasks-per-node=8", {"single": 16}),
        ("--tasks-per-node 8", {"single": 8}),
        ("-N 3 -n 2", {"single": 2}),
        ("-N 2-4 -n 8", {"single": 8}),
        ("-N1k -n 2048", {"single": 2048}),
        ("-Hn2 -c 3", {"single": 2, "cpus_per_task": 3, "hold": True}),
        ("--mem 4G", {"single": 1, "memory": 4096}),
        ("--mem-per-c=500", {"single": 1, "memory_per_cpu": 500}),
        ("-t 1-12:30:00", {"single": 1, "time": 131400}),
        ("-t 90:30", {"single": 1, "time": 5430}),
        ("-G 3", {"single": 1, "gpus": 3}),
        ("--gpus-per-task=2 -n 2", {"single": 2, "gpus_per_task": 2}),
        ("--gres=gpu:2", {"single": 1, "gpus": 2}),
        ("--gpus-per-node=2 -N 3", {"single": 3, "gpus": 6}),
        ("--gpus=0", {"single": 1}),
        ("--gres=gpu:0", {"single": 1}),
        ("--gres=gpu:0 --gpus-per-node=2", {"single": 1, "gpus": 2}),
        ("--gpus-per-node=0 -n 4", {"single": 4}),
        ("--gpus-per-task=0 -n 2", {"single": 2}),
        ("--gpus=2 --gpus=0", {"single": 1}),
        ("--exclusive", {"single": 1, "exclusive": True}),
        ("-J a -J b -o o.%j -e e -D /x", {"single": 1, "name": "b", "output": "o.%j",
                                         "error": "e", "chdir": "/x"}),
        ("--export=ALL,A=1 --wait", {"single": 1, "export": "ALL,A=1", "wait": True}),
        ("-M delft", {"single": 1, "cluster": "delft"}),
        ("-M all", {"single": 1}),
        ("--no-requeue --open-mode=append -i /dev/null --parsable -Q", {"single": 1}),
    ],
)  # fmt: skip
def test_options_of_our_own(line: str, expected: dict[str, Any]) -> None:
    found = options(line)
    kept = {key: value for key, value in found.items() if key not in ("asked", "native")}
    assert kept == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("-p a,b -A x -q high -C 'fast&big'",
         {"partition": "a,b", "account": "x", "qos": "high", "constraint": "fast&big"}),
        ("-N 2 -n 8 --ntasks-per-node=4", {"nodes": "2", "ntasks-per-node": "4"}),
        ("-N 2-9 -n 4", {"nodes": "2-4"}),
        ("-N 1 -n 1 --ntasks-per-node=1", {}),
        ("--gpus-per-node=2 -N 3", {"nodes": "3", "gpus-per-node": "2"}),
        ("--gres=gpu:1,craynetwork:2", {"gres": "craynetwork:2"}),
        ("--gres=gpu:0,tmp:10G", {"gres": "tmp:10G"}),
        ("--signal=B:USR2@30 --comment='x y'", {"signal": "B:USR2@30", "comment": "x y"}),
        ("--nice", {"nice": None}),
        ("--requeue --open-mode=truncate", {"requeue": None, "open-mode": "truncate"}),
        ("-M delft,leiden", {"clusters": "delft,leiden"}),
    ],
)  # fmt: skip
def test_what_is_the_clusters_matter(line: str, expected: dict[str, str | None]) -> None:
    assert asked(line) == expected


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("--array=9-0", "--array=9-0: '9-0' has no tasks in it"),
        ("--dependency afterok:x", "is not a job to depend on"),
        ("--kill-on-invalid-dep=maybe", "neither yes nor no"),
        ("-n 0", "'0' tasks cannot be requested"),
        ("-N 2-4", "--nodes=2-4 does not say how many tasks there are"),
        ("-N 4-2", "is not a number of nodes"),
        ("-N two", "is not a number of nodes"),
        ("-n", "'-n' needs a value"),
        ("--ntask 2", "'--ntask' may be --ntasks or "),
        ("--hold=1", "--hold takes no value"),
        ("--mem=lots", "--mem=lots: 'lots' is not an amount of memory"),
        ("--gres=gpu:a100:2", "names a kind of GPU ('a100')"),
        ("--gpus-per-node=2 -n 4", "say how many with --nodes"),
        ("--exclusive=user", "--exclusive=user is not supported"),
        ("-Z", "'-Z' is no option of sbatch"),
        ("hetjob", "heterogeneous jobs are not supported"),
        ("--uid=root", "jobs are their submitters'"),
        ('--comment ""', "an empty word"),
    ],
)
def test_what_is_refused_is_named_with_file_and_line(line: str, what: str) -> None:
    with pytest.raises(SubmissionError) as caught:
        options(line)
    assert caught.value.message.startswith("job.sh:2: ")
    assert what in str(caught.value)
    assert caught.value.advice


NAMED = [row for row in sbatch.ROWS if row.names]


@pytest.mark.parametrize("row", NAMED, ids=lambda row: row.names[0])
def test_something_becomes_of_every_option(row: Any) -> None:
    """It is ours, or the cluster's, or asks for what is so, or is refused: never forgotten."""
    name, becomes = row.names[0], row.becomes
    value = "yes" if name == "kill-on-invalid-dep" else "7"
    line = f"--{name}={value}" if "VALUE" in row.takes.name else f"--{name}"
    if isinstance(becomes, Refused) and becomes.never:
        with pytest.raises(SubmissionError):
            options(line)
        return
    found = options(line)
    if isinstance(becomes, Own):
        assert becomes.key in found
    elif isinstance(becomes, Asked | Refused) or (isinstance(becomes, Kept) and becomes.values):
        assert name in [each.option for each in found["asked"]]


@given(st.lists(st.sampled_from(NAMED), min_size=1, max_size=4))
def test_what_is_refused_is_told_beside_others(rows: list[Any]) -> None:
    line = " ".join(f"--{row.names[0]}=7" if "VALUE" in row.takes.name else f"--{row.names[0]}"
                    for row in rows)  # fmt: skip
    try:
        found = options(line)
    except SubmissionError as error:
        assert error.message.startswith("job.sh:2: ")
        return
    for row in rows:
        if isinstance(row.becomes, Refused):
            told = next((each for each in found["asked"] if each.option == row.names[0]), None)
            if told is None:  # with a number of GPUs these are counted
                assert row.names[0] in BY_GPU and "--gpus" in line
            else:
                assert refused(told) is row.becomes


def test_a_form_of_the_command_line_replaces_the_scripts_nodes() -> None:
    both = merged({"single": 3}, options("-N 2 --ntasks-per-node=4 -p short"))
    assert both["single"] == 3
    assert both["asked"] == (AskedOption("partition", "short", "job.sh:2"),)


def test_lines_of_qsub_come_after_those_of_sbatch() -> None:
    script = b"#!/bin/sh\n#SBATCH -n 2 -J slurm -p a\n#PBS -N pbs -q b\n"
    found = foreign_options(script, "job.sh")
    assert (found["name"], found["single"]) == ("pbs", 1)
    assert found["asked"] == (AskedOption("partition", "b", "job.sh:3", "-q"),)


@given(st.binary() | st.text().map(lambda text: f"#SBATCH {text}".encode("utf-8", "replace")))
def test_any_script_is_read_or_refused(script: bytes) -> None:
    try:
        foreign_options(script, "job.sh")
    except SubmissionError as error:
        assert error.message.startswith("job.sh:")
        assert str(error).isprintable()


BY_GPU = ("ntasks-per-gpu", "cpus-per-gpu")


@pytest.mark.parametrize(
    ("line", "expected", "laid_out"),
    [
        # as Snakemake asks for each job with GPUs
        ("--gpus=1 --ntasks-per-gpu=1 --cpus-per-task=4",
         {"single": 1, "gpus": 1, "cpus_per_task": 4}, {}),
        ("--gpus=1 --ntasks-per-gpu=1 --cpus-per-gpu=4",
         {"single": 1, "gpus": 1, "cpus_per_task": 4}, {}),
        ("--gres=gpu:1 --ntasks-per-gpu=1 --cpus-per-gpu=4",
         {"single": 1, "gpus": 1, "cpus_per_task": 4}, {}),
        ("--gpus=4 --ntasks-per-gpu=1", {"single": 4, "gpus_per_task": 1}, {}),
        ("--gpus=4 --ntasks-per-gpu=1 -N 2", {"single": 4, "gpus_per_task": 1}, {"nodes": "2"}),
        ("--gpus=4 --ntasks-per-gpu=1 -n 4", {"single": 4, "gpus_per_task": 1}, {}),
        ("--gpus=2 --ntasks-per-gpu=4 --cpus-per-gpu=8",
         {"single": 8, "gpus": 2, "cpus_per_task": 2}, {}),
        ("--gres=gpu:2 --ntasks-per-gpu=1", {"single": 2, "gpus_per_task": 1}, {"nodes": "1"}),
        ("--gpus-per-node=2 -N 3 --ntasks-per-gpu=2", {"single": 12, "gpus": 6},
         {"nodes": "3", "ntasks-per-node": "4", "gpus-per-node": "2"}),
    ],
)  # fmt: skip
def test_tasks_are_counted_by_gpus_that_are_known(
    line: str, expected: dict[str, Any], laid_out: dict[str, str]
) -> None:
    found = options(line)
    assert {k: v for k, v in found.items() if k not in ("asked", "native")} == expected
    assert asked(line) == laid_out


@pytest.mark.parametrize(
    "line",
    [
        "--ntasks-per-gpu=1",
        "--ntasks-per-gpu=1 --gpus=0",
        "--ntasks-per-gpu=1 --gres=gpu:0",
        "--ntasks-per-gpu=1 -n 4",
        "--gpus=4 --ntasks-per-gpu=1 -n 2",
        "--gpus=4 --ntasks-per-gpu=2 --cpus-per-gpu=3",
        "--gpus=4 --ntasks-per-gpu=2 --cpus-per-gpu=4 --cpus-per-task=2",
        "--gpus-per-task=2 -n 2 --ntasks-per-gpu=1",
        "--gpus=2 --ntasks-per-gpu=1 --ntasks-per-node=2",
        "--gpus-per-node=2 -N 2-3 -n 6 --ntasks-per-gpu=1",
        "--gpus=4 --cpus-per-gpu=4",
        "--gpus=999999999 --ntasks-per-gpu=2",
    ],
)
def test_others_that_count_by_gpus_are_refused(line: str) -> None:
    try:
        found = asked(line)
    except SubmissionError:  # for the number of nodes
        return
    given = [name for name in BY_GPU if f"--{name}=" in line]
    assert given == [name for name in BY_GPU if name in found]
