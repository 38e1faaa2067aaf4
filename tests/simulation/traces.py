"""Traces for tests: a small one of the repository, and large ones where they are there."""

import csv
import gzip
import os
from functools import cache
from pathlib import Path

import pytest

from metabroker.policy import Request
from metabroker.simulation import SimJob

SMALL = Path(__file__).parent / "data" / "kth-first.csv"
TRACES = Path(os.environ.get("METABROKER_SHARED", "../shared")) / "traces"
CTC = "CTC-SP2-1996-3.1-cln"
KTH = "KTH-SP2-1996-2.1-cln"


def small() -> tuple[list[SimJob], list[float]]:
    """The first jobs of the KTH log, and their waits under EASY in pyss order."""
    with SMALL.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    shapes = {row["processors"]: Request((int(row["processors"]),)) for row in rows}
    jobs = [
        SimJob(
            float(row["submit"]),
            shapes[row["processors"]],
            0,
            float(row["run"]),
            float(row["estimate"]),
        )
        for row in rows
    ]
    return jobs, [float(row["wait"]) for row in rows]


@cache
def trace(name: str) -> list[SimJob]:
    """All jobs of a trace; skips the test where it is absent."""
    jobs: list[SimJob] = []
    shapes: dict[int, Request] = {}
    for line in _lines(f"{name}.jobs.swf.gz", ";"):
        field = line.split()
        size = int(field[7])
        if size not in shapes:
            shapes[size] = Request((size,))
        jobs.append(SimJob(float(field[1]), shapes[size], 0, float(field[3]), float(field[8])))
    return jobs


def pyss_waits(name: str) -> list[float]:
    """The reference waits of a trace, job by job."""
    return [float(line.split()[1]) for line in _lines(f"{name}.pyss-easy-waits.txt.gz", "#")]


def _lines(name: str, comment: str) -> list[str]:
    path = TRACES / name
    if not path.exists():
        pytest.skip(f"{path} is not there (METABROKER_SHARED)")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [line for line in lines if not line.startswith(comment)]
