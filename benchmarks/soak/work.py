"""What is submitted: jobs of all kinds, drawn from a seed, whose scripts write down what they did.

A script appends a line to `runs` when it starts and, as its last deed, one to `ends.CODE`: the
truth that the daemon's word is held against, whoever was killed in between.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from metabroker.submission.model import Processors

INPUT = "input.txt"
CODES = (0, 3)  # with which scripts end by themselves
LIMIT = 120  # seconds; nothing but an overtime script comes near it
SHORTEST = 60  # seconds: the shortest limit that Slurm knows

_SCRIPT = """#!/bin/sh
echo "$METABROKER_PEERS_FILE $(date +%s.%N)" >> {folder}/runs
{body}
echo "$METABROKER_PEERS_FILE $(date +%s.%N)" >> {folder}/ends.{code}
exit {code}
"""
_STAGED = f'cat {INPUT} > "result.$METABROKER_COMPONENT"'


@dataclass(frozen=True, slots=True)
class Plan:
    """One job: what it asks for, what its script does, and what its user does meanwhile."""

    number: int
    kind: str  # single, ordered, unordered, flexible
    processors: Processors
    fate: str  # ends, fails, overtime, staged
    seconds: float  # that its script sleeps
    deed: str | None  # cancel, hold (and release); None: nothing
    after: float  # seconds after the submission when that is done
    twice: bool  # submitted twice at once, with one request id
    by_command: bool  # by `metabroker submit`, else by the API

    @property
    def code(self) -> int:
        """The exit code of its script."""
        return CODES[1] if self.fate == "fails" else CODES[0]

    @property
    def limit(self) -> int:
        """Its time limit in seconds."""
        return SHORTEST if self.fate == "overtime" else LIMIT

    def script(self, folder: Path) -> str:
        """What it runs; `folder` is where the truth is written."""
        staged = [_STAGED] if self.fate == "staged" else []
        seconds = 10 * SHORTEST if self.fate == "overtime" else self.seconds
        body = "\n".join([*staged, f"sleep {seconds:.2f}"])
        return _SCRIPT.format(folder=folder, body=body, code=self.code)


def plans(seed: int, clusters: dict[str, int], *, overtime: bool = True) -> Iterator[Plan]:
    """Jobs without an end; `clusters`: processors by name. Without `overtime` all are short."""
    draw = random.Random(f"jobs {seed}")
    number = 0
    while True:
        number += 1
        kind = draw.choices(("single", "ordered", "unordered", "flexible"), (50, 15, 25, 10))[0]
        fates = {"ends": 76, "fails": 10, "staged": 12, "overtime": 2 if overtime else 0}
        deed = draw.choices((None, "cancel", "hold"), (82, 10, 8))[0]
        yield Plan(
            number,
            kind,
            _processors(draw, kind, clusters),
            draw.choices(tuple(fates), tuple(fates.values()))[0],
            draw.choice((0.0, 0.5, 1.0, 2.0, 5.0)),
            deed,
            draw.uniform(0.0, 4.0),
            draw.random() < 0.1,
            draw.random() < 0.03,
        )


def _processors(draw: random.Random, kind: str, clusters: dict[str, int]) -> Processors:
    sizes = [draw.randint(1, 6) for _ in clusters]
    if kind == "single":
        where = draw.choice([None, None, *clusters])
        return Processors(single=draw.randint(1, 8), cluster=where)
    if kind == "flexible":
        return Processors(total=draw.randint(4, 24))
    parts = draw.randint(2, len(clusters))
    if kind == "unordered":
        return Processors(components=tuple(sizes[:parts]))
    return Processors(on=tuple(zip(draw.sample(sorted(clusters), parts), sizes, strict=False)))
