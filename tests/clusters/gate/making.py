"""Orders and gates for tests."""

from __future__ import annotations

from pathlib import Path

from metabroker.clusters.gate import Gates, gate_path
from metabroker.clusters.port import CleanOrder, ComponentOrder, Peer
from metabroker.clusters.transports.local import LocalFiles

TOKEN = "mb-abcdef01-1-1-0"


def order(
    folder: Path,
    *,
    script: bytes = b"#!/bin/sh\n",
    args: tuple[str, ...] = (),
    environment: dict[str, str] | None = None,
    name: str = "job",
    patience: int | None = 60,
) -> ComponentOrder:
    """A component's job whose gate is in `folder`."""
    return ComponentOrder(
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


def clean(gate: str | None) -> CleanOrder:
    """The order to clean it."""
    return CleanOrder(TOKEN, gate)
