"""The transport over a helper that dies, hangs, answers late or garbage, or does not fit."""

from __future__ import annotations

import os
import threading
import time

import pytest

from metabroker.clusters.operation import carry_out
from metabroker.clusters.port import CleanRequest, UnknownOutcome
from metabroker.clusters.slurm import SlurmCluster, SlurmOptions, commands
from metabroker.clusters.slurm.by_pyslurm import transport
from metabroker.clusters.transports.back_off import BackOff
from metabroker.clusters.transports.base import Command, CommandLost, Completed, Unreached
from tests.clusters.slurm.by_pyslurm.staging import (
    ANSWERED,
    BY_COMMANDS,
    FITS,
    READ,
    SOON,
    MakeStage,
    gone,
)

# --- asking -----------------------------------------------------------------------------------


def test_one_helper_answers_one_request_after_the_other(stage: MakeStage) -> None:
    it = stage()
    for _ in range(3):
        assert it.run() == ANSWERED
    assert it.run(commands.cancel(commands.SlurmIdentity("root"), "mb-1")) == ANSWERED
    assert len(it.starts) == 1
    assert it.asked == ["nodes"] * 3 + ["cancel"]
    assert it.beside.run_ == []


def test_what_it_does_not_answer_is_run_as_a_command(stage: MakeStage) -> None:
    it = stage()
    submit = Command(("sbatch", "--parsable"), stdin=b"#!/bin/sh\n")
    assert it.run(submit) == BY_COMMANDS
    assert it.beside.run_ == [submit.argv]
    assert it.starts == []


def test_a_refusal_comes_with_what_the_library_logged(stage: MakeStage) -> None:
    it = stage()
    it.plan("no well")
    done = it.run()
    assert (done.exit_status, done.stdout) == (1, "")
    assert done.stderr.startswith("slurm_load_jobs error: refused\n")
    assert it.run() == ANSWERED
    assert len(it.starts) == 1


def test_several_threads_are_answered_each_its_own(stage: MakeStage) -> None:
    it = stage()
    found: list[Completed] = []
    threads = [threading.Thread(target=lambda: found.append(it.run())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SOON)
    assert found == [ANSWERED] * 8
    assert len(it.starts) == 1


def test_closing_ends_it(stage: MakeStage) -> None:
    it = stage()
    it.run()
    it.transport.close()
    assert gone(it.starts[0])


def test_closing_waits_for_nobody(stage: MakeStage) -> None:
    it = stage(seconds=600.0)
    it.plan("hang")
    found: list[str] = []

    def ask() -> None:
        with pytest.raises(CommandLost, match=r"it ended \(-9\)"):
            it.run()
        found.append("lost")

    asking = threading.Thread(target=ask)
    asking.start()
    while not it.asked:
        time.sleep(0.01)
    it.transport.close()
    asking.join(SOON)
    assert found == ["lost"]


def test_it_says_which_pyslurm_it_is(stage: MakeStage) -> None:
    assert stage().transport.which() == "pyslurm 24.11.0, for Slurm 24.11"


# --- a helper in trouble ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("die", r"it ended \(-6\)"),
        ("half", r"it ended \(0\)"),
        ("huge", "garbage: it begins with b'HTTP'"),
        ("nothing", "garbage: no JSON"),
        ("deep", "garbage: no JSON"),
        ("list", "garbage: no message"),
        ("form", "garbage"),
        ("other", "an answer to another question"),
    ],
)
def test_one_that_dies_or_answers_garbage_leaves_the_outcome_unknown_and_is_replaced(
    stage: MakeStage, word: str, why: str
) -> None:
    it = stage()
    it.plan(f"well {word}")
    it.run()
    with pytest.raises(CommandLost, match=why):
        it.run(commands.delete_reservation("mb-1"))
    assert it.run() == ANSWERED
    first, second = it.starts
    assert gone(first) and first != second
    assert it.asked == ["nodes", "delete reservation", "nodes"], "nothing is asked twice"


@pytest.mark.parametrize("word", ["hang", "late", "chatter"])
def test_one_that_does_not_answer_in_time_is_killed(stage: MakeStage, word: str) -> None:
    it = stage()
    it.plan(f"well {word}")
    it.run()
    began = time.monotonic()
    with pytest.raises(CommandLost, match=r"no answer within 0.\d+ s"):
        it.run(Command(commands.cancel(commands.SlurmIdentity("root"), "mb-1").argv, seconds=0.3))
    assert time.monotonic() - began < SOON
    assert gone(it.starts[0])
    time.sleep(1.2 if word == "late" else 0)
    assert it.run() == ANSWERED, "a late answer is nobody's"


def test_a_helper_that_died_meanwhile_is_replaced_before_the_next_request(
    stage: MakeStage,
) -> None:
    it = stage()
    it.run()
    os.kill(it.starts[0], 9)
    time.sleep(0.1)
    assert it.run() == ANSWERED
    assert len(it.starts) == 2


def test_one_that_is_busy_is_not_asked(stage: MakeStage) -> None:
    it = stage()
    it.plan("well hang")
    it.run()

    def ask() -> None:
        with pytest.raises(CommandLost):
            it.run(Command(READ.argv, seconds=3.0))

    slow = threading.Thread(target=ask)
    slow.start()
    while len(it.asked) < 2:
        time.sleep(0.01)
    with pytest.raises(Unreached, match="busy with other requests"):
        it.run(Command(READ.argv, seconds=0.1))
    slow.join(SOON)


def test_one_that_does_not_start_is_not_tried_in_a_rush(
    stage: MakeStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "_PAUSE", 0.5)
    it = stage()
    it.hello("die")
    with pytest.raises(Unreached, match=r"does not start: it ended \(1\): fatal: no slurm.conf"):
        it.run()
    began = time.monotonic()
    tries = 0
    while time.monotonic() - began < 2.0:
        tries += 1
        with pytest.raises(Unreached, match=r"no slurm.conf"):
            it.run()
    assert len(it.starts) <= 5
    assert tries >= len(it.starts) - 1


def test_one_that_dies_when_it_imports_pyslurm_says_why(stage: MakeStage) -> None:
    it = stage()
    it.hello([FITS, "die"])
    with pytest.raises(Unreached, match=r"does not start: it ended .*failed to initialize auth"):
        it.run()


def test_one_that_hangs_at_its_start_is_killed(stage: MakeStage) -> None:
    it = stage(seconds=0.5)
    it.hello("hang")
    with pytest.raises(Unreached, match="does not start: no answer"):
        it.run()
    assert gone(it.starts[0])


# --- the port's words -------------------------------------------------------------------------


def test_a_lost_request_is_a_doubt_for_who_asked(stage: MakeStage) -> None:
    it = stage()
    it.plan("well die")
    it.run()
    cluster = SlurmCluster(SlurmOptions("root", name="delft", instance="abcdef01"), it.transport)
    with pytest.raises(UnknownOutcome, match="the pyslurm helper: jobs: it ended"):
        carry_out(cluster.observe(5.0), it.transport)
    it.plan("die")
    it.transport._pacing = BackOff(0.01)
    with pytest.raises(UnknownOutcome, match="the pyslurm helper: jobs: it ended"):
        carry_out(cluster.clean(CleanRequest("mb-abcdef01-1-1-0")), it.transport)


# --- a helper that does not fit ---------------------------------------------------------------
