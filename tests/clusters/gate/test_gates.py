"""The broker's moves at a gate: each one that is allowed, and each that is refused."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.gate import Gates, Position, former_gate_path
from metabroker.clusters.port import (
    CleanupResult,
    ClusterRefusal,
    ComponentRecord,
    Peer,
    UnknownOutcome,
    Writer,
)
from metabroker.clusters.transports.local_files import LocalFiles
from metabroker.clusters.transports.trust import FOLDER
from tests.clusters.gate.making import at
from tests.clusters.refusals import refused

from .making import TOKEN, Stopped, clean, gates, order, positions

PEERS = (Peer("delft", 16, ("n1", "n2")), Peer("leiden", 8))


def arm(gate: str) -> None:
    gates().arm(gate)


def open_(gate: str) -> None:
    gates().open(gate, PEERS)


@pytest.mark.parametrize(
    ("move", "position", "after"),
    [
        (arm, Position.WAIT, "armed"),
        (arm, Position.ARMED, "armed"),
        (arm, Position.GO, "go"),
        (arm, Position.RUN, "run"),
        (open_, Position.ARMED, "go"),
        (open_, Position.GO, "go"),
        (open_, Position.RUN, "run"),
        # One that gave up cannot be armed, and only an armed one can be opened.
        (arm, Position.ABORT, Cause.GAVE_UP),
        (open_, Position.WAIT, Cause.LOST),
        (open_, Position.ABORT, Cause.LOST),
    ],
)
def test_arming_and_opening(
    tmp_path: Path, move: Callable[[str], None], position: Position, after: str | Cause
) -> None:
    gate = at(gates(), tmp_path, position)
    if isinstance(after, Cause):
        with refused(after):
            move(gate)
        after = position.value
    else:
        move(gate)
    assert positions(gate) == {after}


def test_shutting_too_late(tmp_path: Path) -> None:
    gate = at(gates(), tmp_path, Position.RUN)
    assert gates().shut(clean(gate)) is False
    assert positions(gate) == {"run"}


# --- making it --------------------------------------------------------------------------------


@pytest.mark.parametrize(("patience", "first"), [(60, "wait"), (0, "wait"), (None, "go")])
def test_where_a_gate_begins(tmp_path: Path, patience: int | None, first: str) -> None:
    it = order(tmp_path, patience=patience)
    gates().prepare(it)
    assert positions(it.gate) == {first}


def test_only_its_own_account_can_enter_and_run_it(tmp_path: Path) -> None:
    it = order(tmp_path, script=b"#!/bin/sh\n\xff\n")
    gates().prepare(it)
    gate = Path(it.gate)
    assert oct(gate.stat().st_mode & 0o777) == "0o700"
    assert oct((gate / "script").stat().st_mode & 0o777) == "0o700"
    assert (gate / "script").read_bytes() == b"#!/bin/sh\n\xff\n"
    assert {path.name for path in gate.iterdir()} == {"script", "wait"}


@pytest.mark.parametrize("position", list(Position))
def test_made_again_it_stays_as_it_is(tmp_path: Path, position: Position) -> None:
    gate = at(gates(), tmp_path, position)
    gates().prepare(order(tmp_path, script=b"another"))
    assert positions(gate) == {position.value}
    assert (Path(gate) / "script").read_bytes() == b"#!/bin/sh\n"


def test_half_made_it_is_finished(tmp_path: Path) -> None:
    it = order(tmp_path)
    Path(it.gate).mkdir(parents=True)
    (Path(it.gate) / "script").write_text("half")
    gates().prepare(it)
    assert positions(it.gate) == {"wait"}
    assert (Path(it.gate) / "script").read_bytes() == b"#!/bin/sh\n"


@pytest.mark.parametrize("steps", range(5))
@pytest.mark.parametrize("meanwhile", ["passed", "shut", "passed and removed"])
@pytest.mark.parametrize("patience", [None, 60])
def test_what_a_stopped_broker_does_too_late_opens_no_gate_again(
    tmp_path: Path, steps: int, meanwhile: str, patience: int | None
) -> None:
    """It is stopped in the middle of a step, another one takes over, and then that step is done."""
    it = order(tmp_path, patience=patience)
    files = Stopped(steps)
    with contextlib.suppress(Stopped.Now):
        Gates(files).prepare(it)
    if meanwhile == "shut":
        assert gates().shut(clean(it.gate)) is Path(it.gate).exists()
        expected = positions(it.gate) if Path(it.gate).exists() else set()
        assert expected <= {"abort"}
    else:
        gates().prepare(it)
        (first,) = positions(it.gate)
        (Path(it.gate) / first).rename(Path(it.gate) / "run")
        expected = {"run"}
    if meanwhile == "passed and removed":
        gates().remove(it.gate)
    with contextlib.suppress(OSError):
        files.late()
    if not Path(it.gate).exists():
        return
    assert positions(it.gate) <= {"run", "abort"}
    assert positions(it.gate) == expected or meanwhile == "passed and removed"


def test_it_is_shut_whole_though_a_stopped_broker_has_just_laid_another_token(
    tmp_path: Path,
) -> None:
    it = order(tmp_path)
    gates().prepare(it)
    (Path(it.gate) / ".born").touch()
    assert gates().shut(clean(it.gate))
    assert positions(it.gate) == {"abort"}


def test_removed_nothing_is_left_but_others_gates(tmp_path: Path) -> None:
    it = order(tmp_path)
    gates().prepare(it)
    other = Path(it.gate).with_name(f"{FOLDER}-mb-other")
    other.mkdir()
    gates().remove(it.gate)
    assert list(tmp_path.iterdir()) == [other]
    gates().remove(str(other))
    assert list(tmp_path.iterdir()) == []


def test_gates_of_a_release_of_before_are_found_and_removed_with_their_folder(
    tmp_path: Path,
) -> None:
    for account, folder in ((None, ".metabroker"), ("anna", ".metabroker-anna")):
        gate = former_gate_path(str(tmp_path), TOKEN, "secret", account)
        assert gate == f"{tmp_path}/{folder}/{TOKEN}-secret"
        gates().prepare(replace(order(tmp_path), gate=gate))
        assert oct(Path(gate).parent.stat().st_mode & 0o777) == "0o700"
        assert gates().look([gate]) == {gate: ComponentRecord()}
        assert gates().shut(clean(gate)) is True
        gates().remove(gate)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_plain_file_is_no_record(tmp_path: Path, kind: str) -> None:
    """A pipe would be waited for, and a link could lead anywhere."""
    gate = at(gates(), tmp_path, Position.RUN)
    (tmp_path / "private").write_text("77 \n")
    for name in ("ended", "arrived"):
        if kind == "link":
            (Path(gate) / name).symlink_to(tmp_path / "private")
        elif kind == "pipe":
            os.mkfifo(Path(gate) / name)
        else:
            (Path(gate) / name).mkdir()
    assert gates().look([gate])[gate] == ComponentRecord(begun=True)


# --- the peers file ---------------------------------------------------------------------------


def test_the_peers_file_is_there_before_the_gate_is_open(tmp_path: Path) -> None:
    gate = at(gates(), tmp_path, Position.ARMED)
    open_(gate)
    told = json.loads((Path(gate) / "peers.json").read_text())["components"]
    old = ("component", "cluster", "processors", "hosts")
    assert [[part[key] for key in old] for part in told] == [
        [0, "delft", 16, ["n1", "n2"]],
        [1, "leiden", 8, []],
    ]


def test_it_is_not_written_where_the_gate_stays_shut(tmp_path: Path) -> None:
    gate = at(gates(), tmp_path, Position.ABORT)
    with pytest.raises(ClusterRefusal):
        open_(gate)
    assert not (Path(gate) / "peers.json").exists()


# --- what components write down ---------------------------------------------------------------


def marks(gate: str, **files: str) -> ComponentRecord:
    for name, content in files.items():
        (Path(gate) / name).write_text(content)
        os.utime(Path(gate) / name, (1000.0, 1000.0))
    return gates().look([gate])[gate]


_ARRIVED = ComponentRecord(arrived=True, hosts=("n1",))


@pytest.mark.parametrize(
    ("position", "files", "found"),
    [
        pytest.param("wait", {}, ComponentRecord(), id="nothing yet"),
        pytest.param("wait", {"arrived": "n1\n"}, _ARRIVED, id="arrived"),
        pytest.param("abort", {"arrived": "n1\n"}, replace(_ARRIVED, gave_up=True), id="gave up"),
        pytest.param(
            *("run", {"arrived": "n1\n", "started": "n1\n"}),
            replace(_ARRIVED, begun=True, started=1000.0),
            id="started",
        ),
        pytest.param(
            *("go", {"started": "n1\n"}, ComponentRecord(hosts=("n1",))), id="started, not let in"
        ),
        # A note is whole once its line has ended.
        pytest.param("wait", {"arrived": ""}, ComponentRecord(), id="arrival, nothing written yet"),
        pytest.param("wait", {"arrived": "n1 n2"}, ComponentRecord(), id="arrival, half written"),
        pytest.param("run", {"started": ""}, ComponentRecord(begun=True), id="start, just made"),
        pytest.param(
            *("run", {"started": "n1 id=7"}, ComponentRecord(begun=True)), id="start, half written"
        ),
        pytest.param(
            *("run", {"started": "", "begun": ""}, ComponentRecord(begun=True, started=1000.0)),
            id="started on a full disk",
        ),
    ],
)
def test_what_a_component_has_written_down(
    tmp_path: Path, position: str, files: dict[str, str], found: ComponentRecord
) -> None:
    assert marks(at(gates(), tmp_path, Position(position)), **files) == found


def test_between_the_two_steps_of_a_start_its_time_is_not_known(tmp_path: Path) -> None:
    """The token file has the time when the gate was made."""
    gate = at(gates(), tmp_path, Position.RUN)
    os.utime(Path(gate) / "run", (900.0, 900.0))
    assert marks(gate) == ComponentRecord(begun=True)
    assert marks(gate, arrived="n1\n") == ComponentRecord(arrived=True, hosts=("n1",), begun=True)
    left = gates().remains(gate, Cause.NODE)
    assert (left.started, left.start_time) == (True, None)


@pytest.mark.parametrize("told", ["4711", "12.pbsa", "", "7 rm", "@far", "x" * 300])
def test_which_job_started_the_script(tmp_path: Path, told: str) -> None:
    gate = at(gates(), tmp_path, Position.RUN)
    os.utime(Path(gate) / "run", (900.0, 900.0))
    writer = marks(gate, started=f"n1 n2 id={told}\n").writer
    named = told in ("4711", "12.pbsa")
    assert writer == (Writer(told, made=900.0, started=1000.0) if named else None)


@pytest.mark.parametrize(
    ("content", "code", "signalled"),
    [
        ("0 \n", 0, False),
        ("255 \n", 255, False),
        ("143 signalled\n", 143, True),
        ("3\n", 3, False),
        # Not whole yet, or damaged: looked at again later.
        ("", None, False),
        ("14", None, False),
        ("143 signal", None, False),
        ("x 1\n", None, False),
        ("-1 \n", None, False),
        ("\n", None, False),
    ],
)
def test_ended(tmp_path: Path, content: str, code: int | None, signalled: bool) -> None:
    found = marks(at(gates(), tmp_path, Position.RUN), started="n1\n", ended=content)
    assert (found.exit_code, found.signalled) == (code, signalled)
    assert found.ended == (None if code is None else 1000.0)


def test_what_remains(tmp_path: Path) -> None:
    gate = at(gates(), tmp_path, Position.RUN)
    marks(gate, started="n1\n", ended="143 signalled\n")
    assert gates().remains(gate, Cause.OVERTIME) == CleanupResult(
        True, 1000.0, 1000.0, 143, Cause.OVERTIME, signalled=True
    )
    assert gates().remains(None, None) == CleanupResult()


def test_an_end_without_a_record_of_the_same_runs_start_is_doubtful(tmp_path: Path) -> None:
    gate = at(gates(), tmp_path, Position.RUN)
    assert gates().remains(gate, None).doubtful  # killed as it took the gate
    marks(gate, started="n1\n")
    assert not gates().remains(gate, None, 999.0).doubtful
    assert not gates().remains(gate, None, 1001.0).doubtful  # a clock that is a little ahead
    assert gates().remains(gate, None, 1010.0).doubtful
    marks(gate, ended="0 \n")  # its own record has the last word
    assert not gates().remains(gate, None, 1010.0).doubtful


@pytest.mark.parametrize("before", [Position.WAIT, Position.ARMED, Position.GO])
def test_a_gate_that_was_shut_in_time_says_so(tmp_path: Path, before: Position) -> None:
    gate = at(gates(), tmp_path, before)
    assert gates().shut(clean(gate))
    assert gates().remains(gate, None) == CleanupResult(shut=True)


def test_a_gate_that_was_shut_too_late_does_not_say_so(tmp_path: Path) -> None:
    gate = at(gates(), tmp_path, Position.RUN)
    assert not gates().shut(clean(gate))
    assert not gates().remains(gate, None).shut
    assert not gates().remains(str(tmp_path / "gone"), None).shut


def test_an_exit_of_its_own_is_not_a_kill_whatever_its_cluster_calls_it(tmp_path: Path) -> None:
    gate = at(gates(), tmp_path, Position.RUN)
    marks(gate, started="n1\n", ended="7 \n")
    assert gates().remains(gate, Cause.EXIT) == CleanupResult(True, 1000.0, 1000.0, 7, None)
    assert gates().remains(gate, Cause.KILLED).cause is Cause.KILLED
    marks(gate, ended="143 signalled\n")
    assert gates().remains(gate, Cause.EXIT).cause is Cause.KILLED
    assert gates().remains(None, Cause.EXIT).cause is Cause.KILLED


class FullDisk(LocalFiles):
    """Nothing more can be written."""

    def write(self, path: str, content: bytes, *, executable: bool = False) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_an_armed_one_can_be_opened_on_a_full_disk(tmp_path: Path) -> None:
    """What is done once a job is committed must not fail for one component of all."""
    gate = at(gates(), tmp_path, Position.WAIT)
    gates().introduce(gate, PEERS)
    full = Gates(FullDisk())
    full.arm(gate)
    full.open(gate, PEERS)
    assert positions(gate) == {"go"}
    told = json.loads((Path(gate) / "peers.json").read_text())["components"]
    assert [part["cluster"] for part in told] == ["delft", "leiden"]


def test_a_full_disk_is_a_refusal_before_the_gate_is_armed(tmp_path: Path) -> None:
    gate = at(gates(), tmp_path, Position.WAIT)
    with refused(Cause.REFUSED, "No space left") as caught:
        Gates(FullDisk()).introduce(gate, PEERS)
    assert gate not in caught.value.detail, "the gate's name is a secret"
    assert positions(gate) == {"wait"}


def test_a_gate_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    gate = at(gates(), tmp_path, Position.WAIT)
    gates().remove(gate)
    gates().introduce(gate, PEERS)
    assert not Path(gate).exists()


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
def test_what_the_broker_is_short_of_is_no_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def short(*_args: object, **_options: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(LocalFiles, "make_folder", short)
    with pytest.raises(UnknownOutcome, match="short of something now"):
        gates().prepare(order(tmp_path))
