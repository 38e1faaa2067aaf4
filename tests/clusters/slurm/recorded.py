"""What real Slurm clusters printed (tests/data/slurm), as the adapter's own commands say it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from metabroker.clusters.slurm.parsing import JOB_COLUMNS, NODE_COLUMNS, SEPARATOR
from metabroker.clusters.transports.base import Completed

FOLDER = Path(__file__).parents[2] / "data" / "slurm"
RELEASES = ("22.05", "24.11", "26.05")
_SQUEUE = [f"%{letter}" for letter in "iATjuUPCDNrRSeVlvk"]
_OTHERS = {"%c": "48", "%X": "1", "%Y": "48", "%Z": "1", "%m": "65536", "%G": "(null)"}
_SINFO = [f"%{letter}" for letter in "NTCPaHE"]


@dataclass(frozen=True)
class Case:
    """One recorded command."""

    release: str
    case: str
    argv: tuple[str, ...]
    user: str
    rc: int | None
    stdout: str
    stderr: str

    @property
    def completed(self) -> Completed:
        """As a transport answers it."""
        assert self.rc is not None, "it hung"
        return Completed(self.rc, self.stdout, self.stderr)


@cache
def cases(release: str) -> dict[str, Case]:
    """The recorded commands of a release by their names."""
    found = {}
    for line in (FOLDER / release / "commands.jsonl").read_text().splitlines():
        data = json.loads(line)
        data.pop("seconds")
        data["argv"] = tuple(data["argv"])
        found[data["case"]] = Case(release, **data)
    return found


def text(release: str, state: str, query: str) -> str:
    """What a query printed in a state of the cluster."""
    return (FOLDER / release / f"{state}.{query}.txt").read_text()


def states(release: str, query: str) -> list[str]:
    """The states for which this query was recorded."""
    return sorted(p.name.split(".")[0] for p in (FOLDER / release).glob(f"*.{query}.txt"))


def squeue(release: str, state: str) -> str:
    """`squeue -h -o JOB_FORMAT`: the recorded columns, in our order."""
    return _columns(text(release, state, "squeue"), _SQUEUE, JOB_COLUMNS, {})


def sinfo(release: str, state: str) -> str:
    """`sinfo -h -N -o NODE_FORMAT` (nodes of the test-bed: 48 cores of one thread, and 64 GB)."""
    return _columns(text(release, state, "sinfo"), _SINFO, NODE_COLUMNS, _OTHERS)


def _columns(printed: str, have: list[str], want: tuple[str, ...], others: dict[str, str]) -> str:
    lines = []
    for line in printed.splitlines():
        values = dict(zip(have, line.split(SEPARATOR), strict=True)) | others
        lines.append(SEPARATOR.join(values[column] for column in want))
    return "\n".join(lines) + "\n" if lines else ""
