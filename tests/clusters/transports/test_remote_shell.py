"""The line that a login shell is given, run by a shell of this host."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from metabroker.clusters.transports.base import Command, CommandMissing, Completed
from metabroker.clusters.transports.remote_shell import LINE, RemoteShell


def run(shell: RemoteShell, *argv: str) -> Completed:
    sent = shell.send(Command(argv), 20.0)
    done = subprocess.run(["sh", "-c", LINE], input=sent.stdin, capture_output=True, check=False)
    return sent.answer(done.stdout, done.stderr)


def test_a_folder_of_commands_is_the_only_place_they_come_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    for folder, name in ((own, "sinfo"), (other, "sinfo"), (other, "squeue")):
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(f"#!/bin/sh\necho {folder.name}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{other}:{os.defpath}")
    shell = RemoteShell({}, folder=str(own))
    assert run(shell, "sinfo").stdout == "own\n"
    with pytest.raises(CommandMissing, match=f"squeue: not found in {own}$"):
        run(shell, "squeue")
    assert run(shell, "sh", "-c", "echo $PATH").stdout.startswith(f"{own}:{other}:")
    with pytest.raises(CommandMissing, match=f"squeue: not found in {other}2$"):
        run(RemoteShell({"PATH": f"{other}2"}), "squeue")
