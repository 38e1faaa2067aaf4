"""Drives an operation with scripted answers: what it asks, word for word, and what it ends with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from metabroker.clusters.operation import Now, Operation, Pause
from metabroker.clusters.slurm.parsing import JOB_FORMAT, SEPARATOR
from metabroker.clusters.transports.base import Command, Completed

R = TypeVar("R")
TOKEN = "mb-abcdef01-1-1-0"
Answer = Completed | Exception


def said(stdout: str = "", stderr: str = "", rc: int = 0) -> Completed:
    """A command's answer."""
    return Completed(rc, stdout, stderr)


def failed(stderr: str, rc: int = 1, stdout: str = "") -> Completed:
    """A command's answer when it failed."""
    return Completed(rc, stdout, stderr)


def job(state: str, number: int = 7, name: str = TOKEN, submitted: int = 1795244532) -> str:
    """A line of squeue."""
    columns = (
        str(number), name, state, "16", "delft1", "None", str(submitted), "N/A", "N/A", "(null)",
    )  # fmt: skip
    return SEPARATOR.join(columns) + "\n"


class Told:
    """What an operation has asked: its commands, and how often it paused. `times`: what time it is
    each time that it asks; the last goes on."""

    def __init__(self, *times: float) -> None:
        self.times = list(times) or [0.0]
        self.commands: list[Command] = []
        self.pauses = 0

    @property
    def lines(self) -> list[str]:
        """The commands as one would write them, without the columns of squeue and sinfo."""
        short = (" ".join(c.argv).replace(JOB_FORMAT, "JOBS") for c in self.commands)
        return [line.partition("\x1f")[0] for line in short]


def _brief(listed: Answer) -> Completed | None:
    """What `pbs_rstat -B` answers where the next answer lists reservations: their ids."""
    text = listed.stdout if isinstance(listed, Completed) else ""
    heads = [line for line in text.splitlines() if line.startswith("Resv ID: ")]
    whole = "Reserve_Name" in text
    return said("".join(f"{line}\n" for line in heads)) if whole else None


def drive(operation: Operation[R], answers: Sequence[Answer], told: Told) -> R:
    """Run it to its end. All answers must be asked for, and no others. Which reservations there are
    is answered by what lists them next, or has just done so, and not told of: see
    `openpbs/test_listed.py`."""
    left = list(answers)
    answer: Completed | float | None = None
    error: Exception | None = None
    shown: Completed | None = None
    try:
        while True:
            step = operation.send(answer) if error is None else operation.throw(error)
            answer, error = None, None
            if isinstance(step, Pause):
                told.pauses += 1
                continue
            if isinstance(step, Now):
                answer = told.times.pop(0) if len(told.times) > 1 else told.times[0]
                continue
            assert left or shown is not None, f"not expected: {' '.join(step.argv)}"
            if step.argv == ("pbs_rstat", "-B"):
                answer = shown if shown is not None else _brief(left[0])
            if answer is not None:
                continue
            told.commands.append(step)
            given = left.pop(0)
            shown = _brief(given) if step.argv == ("pbs_rstat", "-F") else None
            if isinstance(given, Exception):
                error = given
            else:
                answer = given
    except StopIteration as end:
        assert not left, f"not asked for: {left}"
        result: R = end.value
        return result
