"""Submitting: one argument vector, never a shell; never twice without looking."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metabroker.broker.states import Cause
from metabroker.clusters.port import ComponentRequest, NativeSubmission, UnknownOutcome
from metabroker.clusters.slurm import operations
from metabroker.clusters.slurm.commands import SlurmIdentity
from metabroker.submission.shape import Shape
from tests.clusters.gate.making import order
from tests.clusters.refusals import refused

from . import recorded
from .drive import TOKEN, Answer, Told, drive, failed, job, said

WHO = SlurmIdentity("mbsvc", "batch", "physics", "normal")
ORDER = replace(order(Path("/home/anna"), name="a name", patience=None), seconds=601)
FIND = f"squeue -h -a --local -r -t all -u mbsvc -n {TOKEN} -o JOBS"


def submit(
    order: ComponentRequest, answers: list[Answer], who: SlurmIdentity = WHO
) -> tuple[NativeSubmission, Told]:
    told = Told()
    return drive(operations.submit(who, order, b"#!/bin/sh\nwrapper"), answers, told), told


def test_the_argument_vector() -> None:
    done, told = submit(ORDER, [said("77\n")])
    assert done == NativeSubmission("77")
    (command,) = told.commands
    assert command.argv == (
        "sbatch", "--parsable", f"--job-name={TOKEN}", "--ntasks=16", "--time=11",
        "--chdir=/home/anna", "--output=/home/anna/out", "--no-requeue", "--open-mode=append",
        "--partition=batch", "--account=physics", "--qos=normal",
        f"--comment=metabroker:{ORDER.job}:a_name",
    )  # fmt: skip
    head, _, wrapper = command.stdin.partition(b"#!/bin/sh\nwrapper")
    assert head.decode().splitlines() == [
        "#!/bin/sh",
        "export SLURM_SUBMIT_DIR=/home/anna",
        "export SLURM_JOB_NAME='a name'",
    ]
    assert wrapper == b""


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (Shape(8), ["--ntasks=2", "--cpus-per-task=8"]),
        (Shape(memory=4096, gpus=2), ["--ntasks=16", "--mem=4096M", "--gpus=2"]),
        (
            Shape(4, memory_per_cpu=500, gpus_per_task=1, exclusive=True),
            ["--ntasks=4", "--cpus-per-task=4", "--mem-per-cpu=500M", "--gpus-per-task=1",
             "--exclusive"],
        ),
    ],
)  # fmt: skip
def test_what_tasks_need_of_a_node(shape: Shape, words: list[str]) -> None:
    _done, told = submit(replace(ORDER, shape=shape), [said("77\n")])
    argv = list(told.commands[0].argv)
    begin = argv.index(words[0])
    assert argv[begin : argv.index("--time=11")] == words


def test_the_users_name_is_seen_in_the_comment_and_never_as_the_jobs_own_name() -> None:
    order = replace(ORDER, name="mb-forged-1-1-0 \n\x1fx" + "y" * 300)
    _done, told = submit(order, [said("77\n")])
    argv = told.commands[0].argv
    assert argv[1 + argv.index("--parsable")] == f"--job-name={TOKEN}"
    (shown,) = [word for word in argv if word.startswith("--comment=")]
    assert re.fullmatch(r"--comment=metabroker:\d+:mb-forged-1-1-0___xy{45}", shown), shown
    _done, told = submit(replace(ORDER, native=("--comment=mine",)), [said("77\n")])
    assert [w for w in told.commands[0].argv if w.startswith("--comment")] == ["--comment=mine"]


def test_a_reservation_and_an_error_file() -> None:
    order = replace(ORDER, reservation=True, error="/tmp/100%j")
    _done, told = submit(order, [said("77;delft\n")])
    assert f"--reservation={TOKEN}" in told.commands[0].argv
    assert "--error=/tmp/100%%j" in told.commands[0].argv


def test_users_own_options_come_first_so_that_ours_win() -> None:
    order = replace(ORDER, native=("--mem=4G", "--partition=long", "-qhigh"))
    _done, told = submit(order, [said("77\n")])
    argv = told.commands[0].argv
    assert argv[:5] == ("sbatch", "--mem=4G", "--partition=long", "-qhigh", "--parsable")
    assert "--account=physics" in argv
    assert not {"--partition=batch", "--qos=normal"} & set(argv)


def test_done_again_it_looks_first_and_adopts_what_it_finds() -> None:
    done, told = submit(replace(ORDER, again=True), [said(job("RUNNING", 42))])
    assert done == NativeSubmission("42", 1795244532.0)
    assert told.lines == [FIND]


def test_of_several_the_liveliest_is_adopted() -> None:
    lines = [
        job("CANCELLED", 1, submitted=30),
        job("PENDING", 2, submitted=20),
        job("RUNNING", 3, submitted=10),
        job("RUNNING", 4, submitted=5),
        job("RUNNING", 5, name="another"),
    ]
    done, _told = submit(replace(ORDER, again=True), [said("".join(lines))])
    assert done.native_id == "3"


def test_done_again_and_nothing_found_it_submits() -> None:
    done, told = submit(replace(ORDER, again=True), [said(""), said("78\n")])
    assert done == NativeSubmission("78")
    assert told.lines[0] == FIND and told.lines[1].startswith("sbatch ")


def test_done_again_and_no_answer_to_the_look_it_does_not_submit() -> None:
    frozen = recorded.cases("24.11")["squeue: controller frozen"].completed
    with pytest.raises(UnknownOutcome):
        submit(replace(ORDER, again=True), [frozen])
    down = recorded.cases("24.11")["squeue: controller down"].completed
    with refused(Cause.UNREACHABLE):
        submit(replace(ORDER, again=True), [down])


@pytest.mark.parametrize(
    "printed", ["", "Submitted batch job 77\n", "77 88\n", "-1\n", "٣\n", "²\n"]
)
def test_an_answer_without_a_number_is_a_doubt(printed: str) -> None:
    with pytest.raises(UnknownOutcome, match="no job number"):
        submit(ORDER, [said(printed)])


@pytest.mark.parametrize("release", recorded.RELEASES)
def test_no_answer_is_a_doubt_and_a_refusal_is_sure(release: str) -> None:
    cases = recorded.cases(release)
    with pytest.raises(UnknownOutcome):
        submit(ORDER, [cases["sbatch: controller frozen"].completed])
    for case, cause in (
        ("sbatch: controller down", Cause.UNREACHABLE),
        ("unknown partition", Cause.INVALID),
        ("another's reservation", Cause.DENIED),
        ("bad time", Cause.INVALID),
    ):
        with refused(cause):
            submit(ORDER, [cases[case].completed])


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)


@given(TEXT, TEXT, TEXT)
@example("it's $(here)", "`id`'", "")
def test_no_text_of_a_user_is_more_than_one_word_wherever_it_stands(
    name: str, chdir: str, output: str
) -> None:
    order = replace(ORDER, name=name, chdir=f"/{chdir}", output=f"/{output}")
    _done, told = submit(order, [said("77\n")])
    (command,) = told.commands
    assert len(command.argv) == 13
    assert command.argv[5] == f"--chdir=/{chdir}"
    assert command.argv[6] == f"--output=/{output.replace('%', '%%')}"
    plain = submit(ORDER, [said("77\n")])[1].commands[0]
    assert command.argv[:5] + command.argv[7:-1] == plain.argv[:5] + plain.argv[7:-1]
    assert re.fullmatch(r"--comment=metabroker:[0-9]+:[A-Za-z0-9_.=-]*", command.argv[-1])
    assert command.env == ()
    head = command.stdin.decode().removeprefix("#!/bin/sh\n").removesuffix("#!/bin/sh\nwrapper")
    names = f"SLURM_SUBMIT_DIR=/{chdir}", f"SLURM_JOB_NAME={name}"
    assert shlex.split(head) == ["export", names[0], "export", names[1]]


def test_options_of_the_cluster_come_before_the_users_own() -> None:
    who = replace(WHO, native=("--gres=gpu:1", "--constraint=ib"))
    told = Told()
    order = replace(ORDER, native=("--constraint=fast",))
    drive(operations.submit(who, order, b"#!/bin/sh\n"), [said("77\n")], told)
    words = told.commands[0].argv
    assert words[:4] == ("sbatch", "--gres=gpu:1", "--constraint=ib", "--constraint=fast")


@pytest.mark.parametrize(
    ("shape", "policy", "busy"),
    [
        (Shape(), Cause.DENIED, Cause.BUSY),
        (Shape(8), Cause.DENIED, Cause.BUSY),
        (Shape(gpus=8), Cause.INVALID, Cause.OWN),
        (Shape(memory=64), Cause.INVALID, Cause.OWN),
    ],
)
def test_what_is_refused_for_memory_or_gpus_closes_the_cluster_to_nobody_else(
    shape: Shape, policy: Cause, busy: Cause
) -> None:
    order = replace(ORDER, shape=shape)
    no = "sbatch: error: Batch job submission failed: "
    with refused(policy):
        submit(order, [failed(f"{no}Job violates accounting/QOS policy\n")])
    with refused(busy):
        submit(order, [failed(f"{no}Requested node configuration is not available now\n")])
