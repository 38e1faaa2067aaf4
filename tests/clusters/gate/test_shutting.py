"""Shutting a gate that moves meanwhile, or cannot be seen."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.clusters.gate import Gates, Position
from metabroker.clusters.transports.base import FolderEntry
from metabroker.clusters.transports.local_files import LocalFiles

from .making import at, clean, gates, order, positions


class Interleaved(LocalFiles):
    """Files of which `meanwhile` is told before each step, and in the middle of each listing: that
    leaves out what is renamed then."""

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        self._meanwhile = meanwhile

    def rename(self, old: str, new: str) -> bool:
        self._meanwhile()
        return super().rename(old, new)

    def list(self, path: str) -> list[FolderEntry] | None:
        self._meanwhile()
        before = super().list(path)
        self._meanwhile()
        after = super().list(path)
        return None if before is None or after is None else [e for e in before if e in after]


# By brokers that were stopped when they were about to do so; the last one by the component.
ALONE = (".born", "go", "run")
TOGETHER = (".born", "wait", "armed", "go", "run")


def shut_meanwhile(gate: str, moves: list[tuple[str, str, int]]) -> bool:
    """Shut the gate, while each of these moves is made at its moment."""
    steps = itertools.count()

    def meanwhile() -> None:
        now = next(steps)
        while moves and moves[0][2] <= now:
            old, new, _ = moves.pop(0)
            with contextlib.suppress(FileNotFoundError):
                (Path(gate) / old).rename(Path(gate) / new)

    return Gates(Interleaved(meanwhile)).shut(clean(gate))


@pytest.mark.parametrize("way", [ALONE, TOGETHER, TOGETHER[2:], TOGETHER[3:]])
def test_who_shuts_a_gate_that_moves_shuts_it_or_learns_that_it_was_passed(
    tmp_path: Path, way: tuple[str, ...]
) -> None:
    """Whatever comes between which of its steps."""
    now = Path(at(gates(), tmp_path, Position.ABORT)) / "abort"
    gate = str(now.parent)
    for moments in itertools.combinations_with_replacement(range(7), len(way) - 1):
        now.rename(now.with_name(way[0]))
        moves = list(zip(way, way[1:], moments, strict=False))
        shut = shut_meanwhile(gate, moves)
        assert positions(gate) == ({"abort"} if shut else {"run"}), moments
        now = now.with_name("abort" if shut else "run")


@pytest.mark.parametrize("how", ["not mounted", "replaced", "a file in its place"])
def test_a_gate_that_cannot_be_seen_may_have_been_passed(tmp_path: Path, how: str) -> None:
    gate = Path(at(gates(), tmp_path, Position.RUN))
    gate.rename(tmp_path / "elsewhere")
    if how == "replaced":
        gate.symlink_to(tmp_path / "elsewhere")
    elif how != "not mounted":
        gate.write_text("")
    assert gates().shut(clean(str(gate))) is False


def test_a_submission_done_again_lays_no_second_token_into_a_gate_that_is_passed_just_then(
    tmp_path: Path,
) -> None:
    gate = at(gates(), tmp_path, Position.GO)
    steps = itertools.count()

    def meanwhile() -> None:
        if next(steps) == 1:
            (Path(gate) / "go").rename(Path(gate) / "run")

    Gates(Interleaved(meanwhile)).prepare(replace(order(tmp_path), again=True))
    assert positions(gate) == {"run"}


def test_a_component_on_its_way_to_run_has_passed_its_gate(tmp_path: Path) -> None:
    gate = Path(at(gates(), tmp_path, Position.GO))
    (gate / "go").rename(gate / "run.0123456789abcdef")
    assert gates().shut(clean(str(gate))) is False
    gates().prepare(order(tmp_path))
    gates().open(str(gate), ())
    assert {path.name for path in gate.iterdir()} == {"run.0123456789abcdef", "script"}
    assert gates().look([str(gate)])[str(gate)].begun


def test_a_gate_that_was_opened_without_an_answer_is_open(tmp_path: Path) -> None:
    class Lost(LocalFiles):
        def rename(self, old: str, new: str) -> bool:
            super().rename(old, new)
            return False  # NFS has asked again

    gate = at(gates(), tmp_path, Position.ARMED)
    Gates(Lost()).open(gate, ())
    assert positions(gate) == {"go"}
