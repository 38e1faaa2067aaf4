"""What real OpenPBS servers printed (tests/data/openpbs)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from metabroker.clusters.openpbs import listed
from metabroker.clusters.openpbs.parsing import PbsReservation
from metabroker.clusters.transports.base import Completed

FOLDER = Path(__file__).parents[2] / "data" / "openpbs"


@dataclass(frozen=True)
class Case:
    """One recorded command."""

    id: str
    argv: tuple[str, ...]
    exit_status: int | None
    stdout: str
    stderr: str

    @property
    def completed(self) -> Completed:
        """As a transport answers it."""
        assert self.exit_status is not None, "it hung"
        return Completed(self.exit_status, self.stdout, self.stderr)

    def asks(self, program: str, *words: str) -> bool:
        """Whether it is this program, with these options."""
        return self.argv[0] == program and set(words) <= set(self.argv)


@cache
def cases() -> tuple[Case, ...]:
    """All recorded commands that came to an end."""
    found = []
    for path in sorted(FOLDER.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            data = json.loads(line)
            if data["exit_status"] is not None:
                found.append(Case(**data | {"argv": tuple(data["argv"])}))
    return tuple(found)


def case(name: str) -> Case:
    """The one whose id begins so (`40/10`)."""
    return next(found for found in cases() if found.id.startswith(f"{name}-"))


def asking(program: str, *words: str) -> list[Case]:
    """Those of a program with these options."""
    return [found for found in cases() if found.asks(program, *words)]


def reservations(text: str) -> list[PbsReservation]:
    """All that a listing shows, each of which is there."""
    heads = [line for line in text.split("\n") if line.startswith("Resv ID: ")]
    return listed.reservations(text, [head.removeprefix("Resv ID: ") for head in heads])[0]
