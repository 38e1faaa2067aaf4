"""The files of an experiment: the data as CSV, the plot as PNG, SVG and PDF."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from . import figures, tables
from .claims import Decided, report
from .experiment import Result
from .scale import Scale


def write(result: Result, folder: Path) -> list[Path]:
    """Write NAME.csv, NAME.png, NAME.svg and NAME.pdf into `folder`, which is made. Raises
    OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / f"{result.name}.csv"
    tables.write(result, table)
    return [table, *figures.draw(result, folder)]


def write_claims(decided: Sequence[Decided], scale: Scale, folder: Path) -> list[Path]:
    """Write claims.csv (a line for each claim, with all evidence) and claims.md (a table for
    people) into `folder`, which is made. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "claims.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.write(f"# scale {scale.name}, seed {scale.seed}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("id", "where", "claim", "result", "evidence"))
        for claim, decision in decided:
            writer.writerow((*claim, decision.result, " | ".join(decision.evidence)))
    table = folder / "claims.md"
    head = f"Scale {scale.name}, seed {scale.seed}. "
    table.write_text(head + "\n".join(report(decided)) + "\n", encoding="utf-8")
    return [path, table]
