"""Orders and gates for tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from metabroker.clusters.gate import Gates, Position, gate_path
from metabroker.clusters.port import CleanRequest, ComponentRequest, Peer
from metabroker.clusters.transports.local_files import LocalFiles

TOKEN = "mb-abcdef01-1-1-0"


def order(
    folder: Path,
    *,
    script: bytes = b"#!/bin/sh\n",
    args: tuple[str, ...] = (),
    environment: dict[str, str] | None = None,
    name: str = "job",
    patience: int | None = 60,
) -> ComponentRequest:
    """A component's job whose gate is in `folder`."""
    return ComponentRequest(
        token=TOKEN,
        gate=gate_path(str(folder), TOKEN, "secret"),
        processors=16,
        seconds=600,
        job=17,
        name=name,
        component=0,
        peers=(Peer("delft", 16, ("n1",)), Peer("leiden", 8, ("m1", "m2"))),
        script=script,
        args=args,
        environment=environment or {},
        chdir=str(folder),
        output=str(folder / "out"),
        error=None,
        barrier_seconds=patience,
    )


def gates() -> Gates:
    """The broker's side."""
    return Gates(LocalFiles())


def positions(gate: str) -> set[str]:
    """The token files of a gate: one, always."""
    words = {"wait", "armed", "go", "run", "abort"}
    return {path.name for path in Path(gate).iterdir()} & words


def at(gates: Gates, folder: Path, position: Position) -> str:
    """A gate in that position."""
    it = order(folder)
    gates.prepare(it)
    (Path(it.gate) / "wait").rename(Path(it.gate) / position.value)
    return it.gate


def clean(gate: str | None) -> CleanRequest:
    """The order to clean it."""
    return CleanRequest(TOKEN, gate)


class Stopped(LocalFiles):
    """Files of a broker that is stopped when it is about to change something once more; `late`
    is what it does when it goes on."""

    class Now(BaseException):
        """It is stopped."""

    def __init__(self, changes: int) -> None:
        self._left = changes
        self.late: Callable[[], object] = lambda: None

    def make_folder(self, path: str) -> bool:
        return bool(self._change(lambda: LocalFiles.make_folder(self, path)))

    def write(self, path: str, content: bytes, *, executable: bool = False) -> None:
        self._change(lambda: LocalFiles.write(self, path, content, executable=executable))

    def rename(self, old: str, new: str) -> bool:
        return bool(self._change(lambda: LocalFiles.rename(self, old, new)))

    def _change(self, change: Callable[[], object]) -> object:
        if self._left == 0:
            self.late = change
            raise Stopped.Now
        self._left -= 1
        return change()
