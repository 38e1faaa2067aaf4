"""Jobs as users see them (contract C2): from the store's rows, and from what the core knows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any

from metabroker.broker import tokens
from metabroker.broker.job import Job
from metabroker.broker.states import Cause, JobState, Phase, Step
from metabroker.broker.tokens import Ref
from metabroker.store.rows import (
    ClusterNames,
    array_columns,
    array_row,
    dependency_row,
    split_row,
    told_dependency,
)
from metabroker.submission.shape import Shape
from metabroker.submission.tasks import TaskSet

Json = dict[str, Any]
Row = Mapping[str, Any]

_encode = json.JSONEncoder(separators=(",", ":")).encode  # made once
_BEFORE_ITS_START = (
    JobState.RESERVING.value,
    JobState.SUBMITTING.value,
    JobState.WAITING.value,
)
_STEP_WORDS = {
    Step.RESERVE.value: "RESERVING",
    Step.SUBMIT.value: "SUBMITTING",
    Step.ARM.value: "WAITING",
    Step.OPEN.value: "WAITING",
}
_PHASE_WORDS = {
    Phase.PLACED.value: "RESERVING",
    Phase.RESERVED.value: "RESERVING",
    Phase.SUBMITTED.value: "SUBMITTING",
    Phase.ARRIVED.value: "WAITING",
    Phase.ARMED.value: "WAITING",
    Phase.STARTED.value: "RUNNING",
}


def job_view(row: Row, instance: str, reason: str | None = None) -> Json:
    """A job's object. `reason` replaces the stored one: why it waits, as of now."""
    of_attempt = [part for part in row["components"] if part["attempt"] == row["attempt"]]
    latest = [part for part in of_attempt if part["processors"]]
    in_queue = row["state"] in (JobState.QUEUED.value, JobState.HELD.value)
    line = [part for part in of_attempt if in_queue and _stands_in_line(part)]
    if in_queue or not latest:
        parts = _requested(row)
    else:
        parts = [_component(index, part, instance) for index, part in enumerate(latest)]
    return {
        "job": row["id"],
        **_same(row, "name", "user", "state"),
        "reason": row["reason"] if reason is None else reason,
        "queue": row["queue"] or "global",
        "processors": sum(row["sizes"]),
        "shape": row["shape"] or {},
        "ordered": row["clusters"] is not None,
        **_same(row, "time_limit", "submit_time", "start_time", "end_time", "exit_code"),
        "attempts": row["attempt"],
        **_same(row, "submission_failures", "completion_failures"),
        "components": parts,
        "line": [_in_line(part) for part in line],
        "plan": None if in_queue else plan_of(row),
        "dependency": told_dependency(row),
        "max_latency_ms": row["max_latency"],
        "split": _split_view(row["split"]),
        "inputs": row["inputs"],
        "joins": row["joins"],
        **_of_array(row),
        "left_behind": [
            _left(part, instance)
            for part in row["components"]
            if (part["phase"] != Phase.GONE.value or _written_off(part))
            and part not in line
            and (part["attempt"] != row["attempt"] or in_queue or JobState(row["state"]).ended)
        ],
    }


def _split_view(split: Row | None) -> Json | None:
    """How the policy may split the job: into so many `parts` at most, of `component` processors at
    most (null: of any number); `extra_time`: so many seconds beyond its limit may it run, since it
    is split. null: it may not be split."""
    if split is None:
        return None
    return {
        "parts": split["parts"],
        "component": split["component"],
        "extra_time": split["extra"],
    }


def _of_array(row: Row) -> Json:
    """The array that a job is a task of, and which; and of an array its tasks: all (`tasks`), those
    that are no jobs yet (`left`) or never will be (`cancelled`); `most` of them are under way at
    once (0: any number)."""
    array = row["array"]
    if array is not None:
        cancelled, tasks = TaskSet.read(array["cancelled"]), TaskSet.read(array["tasks"])
        left = tasks.from_(array["next"]) - cancelled.from_(array["next"])
        kept = {key: array[key] for key in ("tasks", "most", "cancelled")}
        array = {**kept, "left": str(left)}
    return {"array": array, "array_job": row["of"], "array_task": row["task"]}


def plan_of(row: Row) -> Json | None:
    """The time that a co-allocated job was given (see `broker.saga.plans`); null: it has none, or
    its script has started. `start` in Unix seconds; `held`: whether all its reservations are made.
    """
    waits = row["state"] in _BEFORE_ITS_START
    parts = [part for part in row["components"] if part["attempt"] == row["attempt"]]
    moments = [part["planned"] for part in parts if part["planned"] is not None]
    if not waits or not moments:
        return None
    return {
        "start": max(moments),
        "clusters": [part["cluster"] for part in parts],
        "held": all(part["reservation"] for part in parts),
    }


def joined_view(rows: Sequence[Row]) -> list[Json]:
    """Jobs that have joined another one, each with where its component is (null: nowhere yet)."""
    found = []
    for row in rows:
        parts = [p for p in row["components"] if p["attempt"] == row["attempt"] and p["processors"]]
        where = parts[0]["cluster"] if parts else None
        found.append({"job": row["id"], "state": row["state"], "cluster": where})
    return found


def start_view(start: Json | None) -> Json:
    """When a waiting job starts: an interval with its confidence, and where it begins."""
    return {
        "earliest_start": None if start is None else start["earliest"],
        "expected_start": start,
    }


def waiting_text(
    job: Job, names: ClusterNames, position: int | None, reason: str, start: Json | None = None
) -> bytes:
    """The object of a job that waits and was in no attempt yet, as JSON: what encoding `job_view`
    gives, ten times as fast. `position`, `reason`, `start`: where and why it waits, how long."""
    request, where = job.request, job.request.clusters
    named = None if where is None else tuple(names.names[cluster] for cluster in where)
    text = (
        f'{{"job":{job.id},"name":{_quoted(job.name)},"user":{_quoted(job.user)},'
        f'"state":"{job.state._value_}","reason":{_quoted(reason)},'
        f'"queue":{_quoted(names.queue(job.queue) or "global")},'
        f'"processors":{request.total},"shape":{_shape_text(job.shape)},'
        f'"ordered":{"false" if where is None else "true"},'
        f'"time_limit":{job.time_limit},"submit_time":{job.submit_time!r},'
        '"start_time":null,"end_time":null,"exit_code":null,"attempts":0,'
        f'"submission_failures":{job.submission_failures},'
        f'"completion_failures":{job.completion_failures},'
        f'"components":{_components_text(tuple(request.sizes), named, job.state._value_)},'
        f'"line":[],"plan":null,"dependency":{_encode(_waits_for(job))},'
        f'"max_latency_ms":{_encode(job.max_latency)},'
        f'"split":{_encode(_split_view(split_row(job)))},'
        f'"inputs":{_encode(job.inputs.told())},'
        f'"joins":{job.joins or "null"},'
        f"{_encode(_of_array(array_columns(job)))[1:-1]},"
        '"left_behind":[],'
        f'"position":{"null" if position is None else position},' + _encode(start_view(start))[1:]
    )
    return text.encode("ascii")


def _waits_for(job: Job) -> Json | None:
    return told_dependency({"dependency": dependency_row(job), "array": array_row(job)})


@lru_cache(maxsize=4096)
def _shape_text(shape: Shape) -> str:
    return _encode(shape.given())


@lru_cache(maxsize=4096)
def _components_text(sizes: tuple[int, ...], named: tuple[str, ...] | None, state: str) -> str:
    return _encode(_components_of(sizes, named, state))


def _same(row: Row, *keys: str) -> Json:
    """What a row and its object call by the same names."""
    return {key: row[key] for key in keys}


def _requested(row: Row) -> list[Json]:
    """The components of a job that is in no attempt."""
    clusters = row["clusters"]
    shape = tuple(row["sizes"]), None if clusters is None else tuple(clusters)
    return [{**part} for part in _components_of(*shape, row["state"])]


@lru_cache(maxsize=4096)  # very many jobs have the same shape
def _components_of(
    sizes: tuple[int, ...], named: tuple[str, ...] | None, state: str
) -> Sequence[Json]:
    clusters = named or (None,) * len(sizes)
    return [
        {
            "index": index,
            "cluster": cluster,
            "processors": processors,
            "state": state,
            "native_id": None,
            "reservation": None,
            "hosts": [],
            **dict.fromkeys(("start_time", "end_time", "exit_code")),
            "detail": "",
        }
        for index, (processors, cluster) in enumerate(zip(sizes, clusters, strict=True))
    ]


def _stands_in_line(part: Row) -> bool:
    """Whether it waits for its job in its cluster's own queue."""
    under_way = part["step"] in ("", Step.STAGE.value, Step.SUBMIT.value)
    return not part["processors"] and under_way and part["phase"] != Phase.GONE.value


def _in_line(part: Row) -> Json:
    """One of the clusters' own queues in which a job stands."""
    return {
        **_same(part, "cluster", "native_id"),
        "since": part["submit_time"],
        "detail": part["detail"],
    }


def _component(index: int, part: Row, instance: str) -> Json:
    return {
        "index": index,
        **_same(part, "cluster", "processors"),
        "state": _word(part),
        "native_id": part["native_id"],
        "reservation": _token(part, instance) if part["reservation"] else None,
        "hosts": part["hosts"].split(),
        **_same(part, "start_time", "end_time", "exit_code", "detail"),
    }


def _word(part: Row) -> str:
    """A component's state in the words of contract C3."""
    over = part["phase"] in (Phase.ENDED.value, Phase.GONE.value)
    if not over:
        return _STEP_WORDS.get(part["step"]) or _PHASE_WORDS[part["phase"]]
    if part["exit_code"] == 0 and part["cause"] is None:
        return "COMPLETED"
    if part["cause"] == Cause.OVERTIME.value:
        return "TIMEOUT"
    if part["started"] and part["cause"] != Cause.KILLED.value:
        return "FAILED"
    return "CANCELLED"


def _written_off(part: Row) -> bool:
    """Whether an administrator has abandoned it, and it was not seen gone since."""
    return (part["cause"], part["step"]) == (Cause.ABANDONED.value, Step.CLEAN.value)


def _left(part: Row, instance: str) -> Json:
    """What a former attempt may have left in a cluster, and why it is not gone yet."""
    return {
        **_same(part, "attempt", "component", "cluster"),
        "name": _token(part, instance),
        "detail": part["detail"],
    }


def _token(part: Row, instance: str) -> str:
    ref = Ref(part["job"], part["attempt"], part["component"], part["term"])
    return tokens.make(instance, ref)
