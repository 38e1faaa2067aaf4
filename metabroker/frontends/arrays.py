"""Arrays of jobs as Slurm's commands speak of them: `17_3`, `17_[4-99%10]` for all that wait."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from metabroker.frontends.main import FrontEndError
from metabroker.frontends.records import Json, Record
from metabroker.submission.errors import SubmissionError
from metabroker.submission.tasks import TaskSet

_ID = re.compile(r"([0-9]{1,18})(?:_(?:([0-9]{1,9})|\[([0-9,:-]+)(?:%[0-9]+)?\]))?")


@dataclass(frozen=True)
class JobId:
    """A job, or tasks of an array."""

    number: int
    tasks: TaskSet | None = None

    def __str__(self) -> str:
        return str(self.number) if self.tasks is None else f"{self.number}_[{self.tasks}]"

    @property
    def asked(self) -> int | str:
        """As the daemon is asked about it."""
        return self.number if self.tasks is None else str(self)

    def means(self, job: Record) -> bool:
        """Whether a job is, or is one of, these."""
        array, task = job.json.get("array_job"), job.json.get("array_task")
        if self.tasks is None:
            return self.number in (job.id, array)
        if array is None:
            return job.id == self.number and bool(waiting(job) & self.tasks)
        return array == self.number and task in self.tasks


def job_id(word: str) -> JobId:
    """The job that a word names. Raises `FrontEndError`."""
    found = _ID.fullmatch(word)
    if found is None or not word.isascii():
        raise FrontEndError(f"Invalid job id: {ascii(word)[1:-1]:.60}")
    tasks = found[2] or found[3]
    try:
        return JobId(int(found[1]), None if tasks is None else TaskSet.parse(tasks))
    except SubmissionError as error:
        raise FrontEndError(f"Invalid job id: {ascii(word)[1:-1]:.60}") from error


def job_ids(text: str) -> list[JobId]:
    """The same of a list with commas, which may be in brackets, too."""
    return [job_id(word) for word in re.split(r",(?![^\[]*\])", text) if word]


def waiting(job: Record) -> TaskSet:
    """Tasks of an array that are no jobs yet."""
    array = job.json.get("array")
    return TaskSet() if not array or job.ended else TaskSet.read(array["left"])


def shown_id(job: Record) -> str:
    """A job's id."""
    task = task_id(job)
    if task is None:
        return str(job.id)
    array = array_id(job)
    plain = job.json.get("array_job") is not None or job.json.get("alone")
    return f"{array}_{task}" if plain else f"{array}_[{task}]"


def array_id(job: Record) -> int:
    """The number of its array; its own, if it has none."""
    return int(job.json.get("array_job") or job.id)


def task_id(job: Record) -> str | None:
    """Which task of its array it is, or which it stands for; None: it has none."""
    task = job.json.get("shown", job.json.get("array_task"))
    return None if task is None else str(task)


def throttle(job: Record) -> int:
    """How many of its array's tasks are under way at once; 0: any number, or not known."""
    array = job.json.get("array")
    return int(array["most"] if array else job.json.get("most", 0))


def rows(jobs: Sequence[Record], *, each: bool = False) -> list[Record]:
    """As Slurm lists them: one row for all tasks of an array that wait, or one for `each`; and one
    for those that were cancelled before, if no more were left."""
    arrays = {job.id: job for job in jobs if job.json.get("array")}
    if not arrays:
        return list(jobs)
    folded: dict[int, list[Record]] = {number: [] for number in arrays}
    running: dict[int, int] = dict.fromkeys(arrays, 0)
    found: list[Record] = []
    for job in jobs:
        of = job.json.get("array_job")
        if job.id in arrays:
            continue
        if of in arrays and job.pending and job.json["state"] != "HELD" and not each:
            folded[of].append(job)
            continue
        if of in arrays and job.state == "RUNNING":
            running[of] += 1
        found.append(job)
    for number, array in arrays.items():
        found += _rows_of(array, folded[number], running[number], each=each)
    return sorted(found, key=lambda job: job.id)


def _rows_of(
    array: Record, others: Sequence[Record], running: int, *, each: bool
) -> Iterable[Record]:
    told, left = array.json["array"], waiting(array)
    most = f"%{told['most']}" if told["most"] else ""
    limited = bool(told["most"]) and running >= told["most"]
    if each:
        one = {"array_job": array.id, "array": None, "limited": limited}
        for task in left:
            yield _row(array, {**one, "array_task": task})
    else:
        tasks = left | TaskSet.of(job.json["array_task"] for job in others)
        position = others[0].json.get("position") if others else array.json.get("position")
        if tasks:
            state = "QUEUED" if others else array.json["state"]
            alone = len(tasks) == 1 and str(tasks) != told["tasks"]  # the last one
            shown = {"shown": f"{tasks}{'' if alone else most}", "end_time": None, "state": state}
            shown["alone"] = alone
            yield _row(array, {**shown, "position": position, "limited": limited})
    ended = _last_cancelled(told, left)
    if ended:
        gone: Json = {"shown": str(ended), "state": "CANCELLED", "start_time": None}
        gone["end_time"] = array.json["end_time"]  # when they were cancelled is not kept
        reason = array.json["reason"] if array.ended else ""
        yield _row(array, {**gone, "reason": reason, "array": None})


def _last_cancelled(told: Json, left: TaskSet) -> TaskSet:
    """Those that were left when all that were left were cancelled: Slurm forgets others."""
    if left:
        return TaskSet()
    cancelled = TaskSet.read(told["cancelled"])
    made = max(TaskSet.read(told["tasks"]) - cancelled, default=-1)
    return cancelled.from_(made + 1)


def _row(array: Record, more: Json) -> Record:
    return replace(array, json={**array.json, **more})
