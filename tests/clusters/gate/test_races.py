"""Two processes at one gate: exactly one of two different moves succeeds."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from metabroker.clusters.gate import Gates
from metabroker.clusters.transports.local_files import LocalFiles

from .making import gates, order, positions

# Waits on its stdin for the start, tries its move on each of many gates, and says which it got.
MOVER = """
import os, sys
old, new, *gates = sys.argv[1:]
sys.stdout.write("ready\\n"); sys.stdout.flush()
sys.stdin.readline()
for gate in gates:
    try:
        os.rename(f"{gate}/{old}", f"{gate}/{new}")
    except FileNotFoundError:
        continue
    print(gate)
"""
SHELL = """
old=$1 new=$2; shift 2
echo ready; read -r _start
for gate do if mv "$gate/$old" "$gate/$new" 2>/dev/null; then echo "$gate"; fi; done
"""


def movers(commands: list[list[str]]) -> list[set[str]]:
    """Start them all, let them go at once; which gates each has moved."""
    running = [
        subprocess.Popen(c, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for c in commands
    ]
    for process in running:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return [set(process.communicate(timeout=150)[0].split()) for process in running]


def gates_in(folder: Path, count: int) -> list[str]:
    found = []
    for number in range(count):
        (folder / str(number)).mkdir()
        it = order(folder / str(number))
        gates().prepare(it)
        found.append(it.gate)
    return found


@pytest.mark.parametrize(
    "moves",
    [
        [("wait", "armed"), ("wait", "abort")],  # armed by the broker; gives up by itself
        [("wait", "run"), ("wait", "abort")],  # starts; is undone
        [("wait", "run"), ("wait", "run"), ("wait", "run")],  # twins
    ],
    ids=lambda moves: " ".join(f"{old}-{new}" for old, new in moves),
)
def test_exactly_one_wins(tmp_path: Path, moves: list[tuple[str, str]]) -> None:
    paths = gates_in(tmp_path, 150)
    won = movers([[sys.executable, "-c", MOVER, old, new, *paths] for old, new in moves])
    assert sorted(gate for mine in won for gate in mine) == sorted(paths)
    for (_old, new), mine in zip(moves, won, strict=True):
        assert all(new in positions(gate) for gate in mine)
    assert all(len(positions(gate)) == 1 for gate in paths)


def test_the_shells_mv_against_the_brokers_rename(tmp_path: Path) -> None:
    paths = gates_in(tmp_path, 60)
    won = movers(
        [
            ["/bin/sh", "-c", SHELL, "mover", "wait", "run", *paths],
            [sys.executable, "-c", MOVER, "wait", "abort", *reversed(paths)],
        ]
    )
    assert sorted(won[0] | won[1]) == sorted(paths)
    assert not won[0] & won[1]


class Delivering(LocalFiles):
    """What another component has put is laid into a gate just as that is being removed."""

    def __init__(self) -> None:
        super().__init__()
        self.laid = False

    def remove_tree(self, path: str) -> None:
        if not self.laid:
            self.laid = True
            self.write(f"{path}/in.0", b":key\n")
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
        super().remove_tree(path)


def test_what_is_delivered_while_a_gate_is_removed_is_removed_with_it(tmp_path: Path) -> None:
    it = order(tmp_path)
    broker = Gates(Delivering())
    broker.prepare(it)
    broker.remove(it.gate)
    assert not Path(it.gate).exists()
