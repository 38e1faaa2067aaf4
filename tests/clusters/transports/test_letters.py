"""What components tell each other, over the files of every transport."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from metabroker.clusters.gate import Gates, Position
from metabroker.clusters.gate.letters import Letters
from metabroker.clusters.port import UnknownOutcome
from metabroker.clusters.transports.base import MOST_BYTES, Transport
from tests.clusters.gate.making import at

HELLO = ":greeting\n gr\u00fc\u00df Gott\n  $(touch ran) `id` '\"\\\n:==> x <==\n".encode()


@pytest.fixture
def letters(transport: Transport) -> Letters:
    return Letters(transport.files, lambda gate: gate)


@pytest.fixture
def gate(transport: Transport, place: Path) -> str:
    return at(Gates(transport.files), place, Position.RUN)


def test_what_is_put_is_read_and_laid_down(letters: Letters, gate: str, place: Path) -> None:
    (Path(gate) / "out.12").write_bytes(HELLO)
    assert letters.outbox(gate, 12) == HELLO
    assert letters.outbox(gate, 13) is None
    for _ in range(2):
        assert letters.deliver(gate, "3", HELLO)
    inbox = Path(gate) / "in.3"
    assert inbox.read_bytes() == HELLO and inbox.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in place.iterdir()] == [Path(gate).name]


def test_the_newest_version_is_seen_with_the_records(transport: Transport, gate: str) -> None:
    gates = Gates(transport.files)
    assert gates.look([gate])[gate].outbox == 0
    for name in ("out.9", "out.10", "out.x", "out.011", "out.", "out.12345678901234567"):
        (Path(gate) / name).touch()
    assert gates.look([gate])[gate].outbox == 10


@pytest.mark.parametrize("kind", ["folder", "link", "pipe"])
def test_who_spoils_its_gate_costs_only_itself(
    letters: Letters, gate: str, place: Path, kind: str
) -> None:
    (place / "private").write_text(":secret\n")
    for name in ("out.1", "in.0"):
        path = Path(gate) / name
        if kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to(place / "private")
    assert letters.outbox(gate, 1) is None
    if kind == "folder":  # over SFTP nothing tells that from a moment's fault
        with contextlib.suppress(UnknownOutcome):
            assert letters.deliver(gate, "0", HELLO) is False
    else:
        assert letters.deliver(gate, "0", HELLO), "it is replaced, not followed"
    assert (place / "private").read_text() == ":secret\n"


def test_a_gate_that_is_gone_is_not_made_again(
    letters: Letters, transport: Transport, gate: str
) -> None:
    Gates(transport.files).remove(gate)
    assert letters.outbox(gate, 1) is None
    assert letters.deliver(gate, "0", HELLO) is False
    assert not Path(gate).exists()


def test_very_much_is_read_up_to_a_bound(letters: Letters, gate: str) -> None:
    (Path(gate) / "out.1").write_bytes(b":k\n" + b" x\n" * MOST_BYTES)
    content = letters.outbox(gate, 1)
    assert content is not None and len(content) == MOST_BYTES
