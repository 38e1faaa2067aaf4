"""A transport over a helper that stands in for one with pyslurm, for tests."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from metabroker.clusters.slurm import commands
from metabroker.clusters.slurm.by_pyslurm import PyslurmTransport
from metabroker.clusters.transports.base import Command, Completed
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


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False
