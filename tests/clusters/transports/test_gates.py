"""The broker's moves at a gate, over the files of every transport; the component is here."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.gate import Gates, Position, gate_path
from metabroker.clusters.port import (
    CleanupResult,
    ClusterRefusal,
    ComponentRecord,
    Peer,
    UnknownOutcome,
)
from metabroker.clusters.transports.base import Command, Completed, Transport
from metabroker.clusters.transports.remote_files import CommandFiles
from tests.clusters.gate.making import TOKEN, at, clean, order, positions
from tests.clusters.refusals import refused
from tests.testbed.proxy import Proxy
from tests.testbed.sshd import Sshd

from .conftest import MakeFar, reach

PEERS = (Peer("delft", 16, ("n1", "n2")), Peer("leiden", 8))


@pytest.fixture
def gates(transport: Transport) -> Gates:
    return Gates(transport.files)


def put(gate: str, name: str, content: str = "", moment: float | None = None) -> None:
    """The component writes something down."""
    file = Path(gate) / name
    file.write_text(content)
    if moment is not None:
        os.utime(file, (moment, moment))


def test_the_whole_life_of_a_gate(gates: Gates, place: Path) -> None:
    it = order(place, script=b"#!/bin/sh\n\xff\n")
    gates.prepare(it)
    gate = Path(it.gate)
    assert (gate / "script").read_bytes() == b"#!/bin/sh\n\xff\n"
    for made in (gate, gate / "script"):
        assert oct(made.stat().st_mode & 0o777) == "0o700"
    assert {path.name for path in gate.iterdir()} == {"script", "wait"}
    gates.prepare(order(place, script=b"another"))
    assert (gate / "script").read_bytes().startswith(b"#!"), "made again it stays as it is"
    assert gates.look([it.gate]) == {it.gate: ComponentRecord()}
    put(it.gate, "arrived", "n1 n2\n")
    assert gates.look([it.gate]) == {it.gate: ComponentRecord(arrived=True, hosts=("n1", "n2"))}
    gates.introduce(it.gate, PEERS)
    gates.arm(it.gate)
    gates.arm(it.gate)
    assert not gates.ready(it.gate)
    (gate / "arrived").rename(gate / "ready")
    assert gates.ready(it.gate)
    gates.open(it.gate, PEERS)
    gates.open(it.gate, PEERS)
    assert positions(it.gate) == {"go"}
    (gate / "go").rename(gate / "run")
    put(it.gate, "started", "n1 n2\n", 1000.25)
    put(it.gate, "ended", "143 signalled\n", 1002.5)
    told = ComponentRecord(True, ("n1", "n2"), True, 1000.25, 1002.5, 143, signalled=True)
    assert gates.look([it.gate]) == {it.gate: told}
    assert gates.shut(clean(it.gate)) is False, "too late"
    assert gates.remains(it.gate, Cause.OVERTIME).exit_code == 143
    gates.remove(it.gate)
    gates.remove(it.gate)
    assert list(place.iterdir()) == []


def test_what_a_component_writes_next_is_seen_without_a_look(
    request: pytest.FixtureRequest, gates: Gates, place: Path
) -> None:
    it = order(place)
    gates.prepare(it)
    tells = request.node.callspec.params["transport"] == "ssh"
    moves = ("arrived", "run", "started", "out.1", "out.2", "ended")
    for name in moves:
        seen = gates.look([it.gate])
        assert not gates.has_more(seen), name
        if name == "run":
            os.rename(f"{it.gate}/wait", f"{it.gate}/run")
        else:
            put(it.gate, name, "0 \n" if name == "ended" else "n1\n")
        assert gates.has_more(seen) is tells, name
    gates.remove(it.gate)
    assert not gates.has_more(seen)


@pytest.mark.parametrize("position", [Position.WAIT, Position.ARMED, Position.GO, Position.ABORT])
def test_shutting(gates: Gates, place: Path, position: Position) -> None:
    gate = at(gates, place, position)
    assert gates.shut(clean(gate)) is True
    assert positions(gate) == {"abort"}
    assert gates.shut(clean(gate)) is True, "again"
    with pytest.raises(ClusterRefusal):
        gates.arm(gate)
    with pytest.raises(ClusterRefusal):
        gates.open(gate, PEERS)


def test_from_a_gate_that_is_gone_nothing_starts(gates: Gates, place: Path) -> None:
    gone = gate_path(str(place), TOKEN, "secret")
    with pytest.raises(ClusterRefusal):
        gates.arm(gone)
    with pytest.raises(ClusterRefusal):
        gates.open(gone, PEERS)
    assert gates.shut(clean(None)) is True
    assert gates.shut(clean(gone)) is False, "something may have started from there"
    assert gates.look([gone]) == {}
    assert gates.remains(gone, Cause.NODE) == CleanupResult(cause=Cause.NODE)
    gates.remove(gone)
    gates.introduce(gone, PEERS)
    assert not Path(gone).exists()


@pytest.mark.parametrize("content", ["", "14", "143 signal", "x 1\n"])
def test_a_record_that_is_not_whole_is_none(gates: Gates, place: Path, content: str) -> None:
    gate = at(gates, place, Position.RUN)
    put(gate, "started", "n1\n", 1000.5)
    put(gate, "ended", content)
    marks = gates.look([gate])[gate]
    assert (marks.started, marks.ended, marks.exit_code) == (1000.5, None, None)


def test_many_gates_in_one_look(gates: Gates, place: Path) -> None:
    """Each with what it says, whatever stands beside it or in it."""
    found = {}
    for number in range(12):
        folder = place / f"job {number}\n'x"
        folder.mkdir()
        if os.geteuid() == 0:
            os.chown(folder, place.stat().st_uid, place.stat().st_gid)
        gate = at(gates, folder, Position.RUN)
        put(gate, "strange\nE ==> x <==", "C 5 ended")
        put(gate, "started", f"n{number}\n==> {gate}/ended <==x\n", 1000.0 + number)
        found[gate] = 1000.0 + number
    seen = gates.look([*found, f"{place}/none"])
    assert {gate: marks.started for gate, marks in seen.items()} == found
    assert [marks.hosts[0] for marks in seen.values()] == [f"n{number}" for number in range(12)]


def test_a_folder_that_cannot_be_used_is_a_refusal(gates: Gates, place: Path) -> None:
    (place / "file").write_text("")
    for folder in (place / "nowhere", place / "file"):
        with refused(Cause.INVALID, str(folder)) as caught:
            gates.prepare(order(folder))
        assert "secret" not in caught.value.detail


def test_a_link_in_the_place_of_a_record_is_not_followed(gates: Gates, place: Path) -> None:
    gate = at(gates, place, Position.RUN)
    (place / "private").write_text("77 \n")
    (Path(gate) / "ended").symlink_to(place / "private")
    assert gates.look([gate]) == {gate: ComponentRecord(begun=True)}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a folder that the far account may not enter")
def test_a_folder_that_may_not_be_entered_is_not_taken_for_gone(
    far: MakeFar, sshd: Sshd, place: Path
) -> None:
    gates = Gates(far(reach(sshd)).files)
    gate = at(gates, place, Position.RUN)
    os.chown(gate, 0, 0)
    with pytest.raises(ClusterRefusal):
        gates.arm(gate)
    with pytest.raises(UnknownOutcome):
        gates.open(gate, PEERS)
    assert not gates.ready(gate) and gates.look([gate]) == {}
    assert not gates.shut(clean(gate)), "its script may run"


# --- far away ---------------------------------------------------------------------------------


@pytest.fixture
def broken(far: MakeFar, sshd: Sshd, way: Proxy) -> Iterator[tuple[Gates, Proxy]]:
    yield Gates(far(reach(sshd, way.port)).files), way


def test_what_cannot_be_asked_is_a_doubt_and_never_done(
    broken: tuple[Gates, Proxy], place: Path
) -> None:
    gates, way = broken
    gate = at(gates, place, Position.ARMED)
    way.refuse()
    way.cut()
    moves = (
        lambda: gates.prepare(order(place)),
        lambda: gates.introduce(gate, PEERS),
        lambda: gates.arm(gate),
        lambda: gates.ready(gate),
        lambda: gates.open(gate, PEERS),
        lambda: gates.shut(clean(gate)),
        lambda: gates.look([gate]),
        lambda: gates.remains(gate, None),
        lambda: gates.remove(gate),
    )
    for move in moves:
        with pytest.raises(UnknownOutcome) as caught:
            move()
        assert gate not in caught.value.detail, "the gate's name is a secret"
    assert positions(gate) == {"armed"}


def test_a_move_that_is_cut_at_any_byte_is_done_or_not_and_never_said_wrongly(
    broken: tuple[Gates, Proxy], place: Path
) -> None:
    gates, way = broken
    gate = at(gates, place, Position.WAIT)
    for after in (1, 60, 200, 900, 2500):
        way.cut_after(after)
        told = None
        try:
            gates.arm(gate)
            told = True
        except UnknownOutcome:
            pass
        way.heal()
        assert positions(gate) in ({"wait"}, {"armed"})
        assert told is None or positions(gate) == {"armed"}
        deadline = time.monotonic() + 20
        while told is None:
            try:
                gates.arm(gate)
                told = True
            except UnknownOutcome:
                assert time.monotonic() < deadline
        assert positions(gate) == {"armed"}
        (Path(gate) / "armed").rename(Path(gate) / "wait")


def counted(transport: Transport) -> tuple[Gates, list[Command]]:
    """Gates that are reached by commands, and these."""
    asked: list[Command] = []

    def run(command: Command) -> Completed:
        asked.append(command)
        return transport.run(command)

    return Gates(CommandFiles(run)), asked


def test_one_look_is_one_round_trip(far: MakeFar, sshd: Sshd, place: Path) -> None:
    gates, asked = counted(far(reach(sshd)))
    found = [at(gates, place, Position.RUN)]
    asked.clear()
    gates.look([*found, "/none/1", "/none/2"])
    assert len(asked) == 1


def test_many_gates_are_read_some_at_a_time(far: MakeFar, sshd: Sshd, place: Path) -> None:
    """A shell that is told all of them at once needs ever longer for each."""
    gates, asked = counted(far(reach(sshd)))
    last = at(gates, place, Position.RUN)
    asked.clear()
    found = gates.look([*(f"/none/{number}" for number in range(450)), last])
    assert found.keys() == {last}
    assert len(asked) == 3 and max(len(command.argv) for command in asked) < 220
