"""The transport over a helper that dies, hangs, answers late or garbage, or does not fit."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.operation import carry_out
from metabroker.clusters.port import CleanRequest, ClusterRefusal, UnknownOutcome
from metabroker.clusters.slurm import SlurmCluster, SlurmOptions, commands
from metabroker.clusters.slurm.by_pyslurm import PyslurmTransport, transport
from metabroker.clusters.transports.back_off import BackOff
from metabroker.clusters.transports.base import (
    Command,
    CommandLost,
    CommandMissing,
    Completed,
    Unreached,
)
from metabroker.clusters.transports.local_files import LocalFiles

STAND_IN = Path(__file__).with_name("stand_in.py")
FITS = {"pyslurm": "24.11.0", "slurm": "24.11"}
READ = commands.list_nodes()
ANSWERED = Completed(0, "answered\n", "")
BY_COMMANDS = Completed(0, "by the command\n", "")
SOON = 20.0  # seconds, for what is to come at once


class Beside:
    """The commands of a cluster of 24.11."""

    def __init__(self) -> None:
        self.files = LocalFiles()
        self.run_: list[tuple[str, ...]] = []
        self.version = "slurm-wlm 24.11.5\n"

    def run(self, command: Command) -> Completed:
        if command == commands.version():
            return Completed(0, self.version, "")
        self.run_.append(command.argv)
        return BY_COMMANDS

    def close(self) -> None:
        pass


class Stage:
    """A transport, its stand-in, and what that saw."""

    def __init__(self, folder: Path, *, falls_back: bool = False, seconds: float = SOON) -> None:
        self.folder = folder
        self.beside = Beside()
        self.hello(FITS)
        self.plan("")
        self.transport = PyslurmTransport(
            self.beside,
            {},
            name="delft",
            python=sys.executable,
            falls_back=falls_back,
            command_timeout=seconds,
            argv=(sys.executable, str(STAND_IN), str(folder)),
        )

    def hello(self, message: object) -> None:
        text = message if isinstance(message, str) else json.dumps(message)
        (self.folder / "hello").write_text(text)

    def plan(self, words: str) -> None:
        (self.folder / "plan").write_text(words)

    def run(self, command: Command = READ) -> Completed:
        return self.transport.run(command)

    @property
    def seen(self) -> list[str]:
        file = self.folder / "seen"
        return file.read_text().splitlines() if file.exists() else []

    @property
    def starts(self) -> list[int]:
        return [int(line.split()[1]) for line in self.seen if line.startswith("start")]

    @property
    def asked(self) -> list[str]:
        return [json.loads(line)["do"] for line in self.seen if not line.startswith("start")]


MakeStage = Callable[..., Stage]


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeStage]:
    monkeypatch.setattr(transport, "_PAUSE", 0.01)
    made: list[Stage] = []

    def make(**given: object) -> Stage:
        made.append(Stage(tmp_path, **given))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for each in made:
        each.transport.close()


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


# --- asking -----------------------------------------------------------------------------------


def test_one_helper_answers_one_request_after_the_other(stage: MakeStage) -> None:
    it = stage()
    for _ in range(3):
        assert it.run() == ANSWERED
    assert it.run(commands.cancel("root", "mb-1")) == ANSWERED
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
        it.run(Command(commands.cancel("root", "mb-1").argv, seconds=0.3))
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
    cluster = SlurmCluster(SlurmOptions("delft", "abcdef01", "root"), it.transport)
    with pytest.raises(UnknownOutcome, match="the pyslurm helper: jobs: it ended"):
        carry_out(cluster.observe(5.0), it.transport)
    it.plan("die")
    it.transport._pacing = BackOff(0.01)
    with pytest.raises(UnknownOutcome, match="the pyslurm helper: jobs: it ended"):
        carry_out(cluster.clean(CleanRequest("mb-abcdef01-1-1-0")), it.transport)


# --- a helper that does not fit ---------------------------------------------------------------

IMPORT = {"failed": "ModuleNotFoundError: No module named 'pyslurm'"}
LIBRARY = {"failed": "ImportError: libslurm.so.42: cannot open shared object file"}
OTHER = {"pyslurm": "22.5.3", "slurm": "22.05"}
UNKNOWN = {"pyslurm": "of unknown version"}


@pytest.mark.parametrize(
    ("hello", "words"),
    [
        (IMPORT, ("No module named 'pyslurm'", "docs/connect.md", sys.executable)),
        ([FITS, LIBRARY], ("libslurm.so.42", "docs/connect.md", sys.executable)),
        ([OTHER, "die"], ("pyslurm 22.5.3", "slurm-wlm 24.11.5", "install the pyslurm of 24.11")),
        ([UNKNOWN, OTHER], ("pyslurm 22.5.3", "slurm-wlm 24.11.5")),
        (OTHER, ("pyslurm 22.5.3", "slurm-wlm 24.11.5", "install the pyslurm of 24.11")),
    ],
)
def test_pyslurm_that_is_not_there_or_does_not_fit_is_refused_with_what_to_do(
    stage: MakeStage, hello: object, words: tuple[str, ...]
) -> None:
    it = stage()
    it.hello(hello)
    cluster = SlurmCluster(SlurmOptions("delft", "abcdef01", "root"), it.transport)
    with pytest.raises(ClusterRefusal) as caught:
        carry_out(cluster.observe(5.0), it.transport)
    assert caught.value.cause is Cause.UNREACHABLE
    for word in (*words, "`pyslurm_python`", "`access: commands`"):
        assert word in caught.value.detail
    it.transport._pacing = BackOff(0.01)
    with pytest.raises(Unreached, match="not asked: pyslurm"):
        it.transport.which()
    assert it.beside.run_ == [], "nothing was asked by other ways"
    assert it.asked == []


@pytest.mark.skipif(find_spec("pyslurm") is not None, reason="pyslurm is installed here")
def test_the_helper_itself_says_that_pyslurm_is_not_there() -> None:
    it = PyslurmTransport(Beside(), {}, name="delft", python=sys.executable, falls_back=False)
    with pytest.raises(Unreached, match=r"No module named 'pyslurm'\): install the pyslurm"):
        it.run(READ)
    it.close()


def test_an_interpreter_that_is_not_there(tmp_path: Path) -> None:
    lost = PyslurmTransport(Beside(), {}, name="delft", python="/nowhere/python", falls_back=False)
    with pytest.raises(Unreached, match=r"/nowhere/python cannot be run .*`pyslurm_python`"):
        lost.run(READ)


def test_commands_that_are_not_there_are_said_to_be(
    stage: MakeStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = stage()

    def missing(_command: Command) -> Completed:
        raise CommandMissing("sinfo: not found in /nowhere")

    monkeypatch.setattr(it.beside, "run", missing)
    with pytest.raises(CommandMissing, match="sinfo: not found"):
        it.run()
    assert gone(it.starts[0])


@pytest.mark.parametrize("hello", [IMPORT, OTHER, "die"])
def test_where_it_may_it_falls_back_to_the_commands_and_says_so_once(
    stage: MakeStage, hello: object, caplog: pytest.LogCaptureFixture
) -> None:
    it = stage(falls_back=True)
    it.hello(hello)
    with caplog.at_level(logging.WARNING):
        threads = [threading.Thread(target=it.run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SOON)
        assert it.run() == BY_COMMANDS
    assert it.beside.run_ == [READ.argv] * 5
    assert [r.getMessage().split(":")[0] for r in caplog.records] == ["delft"]
    assert len(it.starts) == 1


def test_where_it_may_it_falls_back_after_losing_several_in_a_row(
    stage: MakeStage, caplog: pytest.LogCaptureFixture
) -> None:
    it = stage(falls_back=True)
    it.plan("die die well die die die well")
    outcomes = []
    for _ in range(8):
        try:
            outcomes.append(it.run().stdout)
        except CommandLost:
            outcomes.append("lost")
        it.transport._pacing = BackOff(0.01)
    lost, by_command = "lost", BY_COMMANDS.stdout
    assert outcomes == [lost, lost, "answered\n", lost, lost, lost, by_command, by_command]
    assert "3 times in a row" in caplog.text
