"""What systemd is told after the files of its service have changed, or before."""

from __future__ import annotations

import shutil
import stat
import subprocess
from pathlib import Path

from .files import SYSUSERS, TMPFILES, UNIT

_BOOTED = Path("/run/systemd/system")  # sd_booted(3)


class HostError(Exception):
    """A tool of systemd has failed; the text says which, and what it said."""


def unreachable(program: Path) -> Path | None:
    """The folder, if any, that keeps other accounts than root from running the program."""
    for path in (program, program.resolve()):
        for folder in path.parents:
            if not folder.stat().st_mode & stat.S_IXOTH:
                return folder
    return None


def is_active() -> bool:
    """Whether the service runs."""
    if not _BOOTED.is_dir() or shutil.which("systemctl") is None:
        return False
    words = ["systemctl", "is-active", "--quiet", UNIT.name]
    return subprocess.run(words, check=False).returncode == 0


def prepare() -> list[str]:
    """Make the account and the folders, and have the unit read; what was run, in words."""
    return [
        done
        for words in (
            ["systemd-sysusers", str(SYSUSERS)],
            ["systemd-tmpfiles", "--create", str(TMPFILES)],
        )
        for done in _run(words)
    ] + reread()


def reread() -> list[str]:
    """Have systemd, if it runs, read its units again."""
    return _run(["systemctl", "daemon-reload"]) if _BOOTED.is_dir() else []


def _run(words: list[str]) -> list[str]:
    command = " ".join(words)
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise HostError(f"{words[0]} is not there, so `{command}` was not run") from None
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise HostError(f"`{command}` has failed: {said}")
    return [command]
