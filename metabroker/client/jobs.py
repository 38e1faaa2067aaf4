"""Jobs as programs describe them: the options of `metabroker submit` as keyword arguments."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypedDict

from metabroker.cli.options import build, read_script, script_options
from metabroker.submission.build import merged
from metabroker.submission.dependency import parse_dependency
from metabroker.submission.model import Submission
from metabroker.submission.requests import parse_memory
from metabroker.submission.tasks import parse_array
from metabroker.submission.times import check_seconds, parse_time

Script = str | os.PathLike[str] | bytes
"""The path of a script, or its bytes."""

_NAMES = {"tasks": "single", "mem": "memory", "mem_per_cpu": "memory_per_cpu"}


class Options(TypedDict, total=False):
    """What `submit` takes besides the script. Of `tasks`, `components`, `on` and `total` exactly
    one says how many tasks; a task is one processor, or `cpus_per_task`.

    `on`: pairs of cluster and tasks. `mem`: MB on each node, or as on the command line ("4G");
    `time`: seconds, or "1:00:00". `environment`: the script's variables; without it `export` says
    which of this process's it gets. `native`: options for a cluster's own submit command, by
    cluster; `join`: the job that it joins. What is left out is as the script's own lines say, or
    the daemon's default.
    """

    tasks: int
    components: Sequence[int]
    on: Sequence[tuple[str, int]]
    total: int
    cluster: str
    cpus_per_task: int
    mem: int | str
    mem_per_cpu: int | str
    gpus: int
    gpus_per_task: int
    exclusive: bool
    time: float | str | timedelta
    name: str
    output: str
    error: str
    chdir: str | os.PathLike[str]
    export: str
    environment: Mapping[str, str]
    native: Mapping[str, Sequence[str]]
    stage_in: Sequence[str]
    stage_out: Sequence[str]
    input_at: Sequence[str]
    only_at_input: bool
    dependency: str
    kill_on_invalid_dep: bool
    array: str
    join: int
    hold: bool


_PARSED: Mapping[str, Callable[[str], object]] = {
    "memory": parse_memory,
    "memory_per_cpu": parse_memory,
    "dependency": lambda text: str(parse_dependency(text)),
    "array": lambda text: str(parse_array(text)),
}
_KNOWN = frozenset(Options.__annotations__)


def described(
    script: Script, args: Sequence[str], options: Options, request_id: str | None = None
) -> Submission:
    """The job, checked. The script's own lines count where the options say nothing.

    Raises:
        SubmissionError: it is not a sound one, or its script cannot be read.
        TypeError: there is no such option.
    """
    content, name = (script, "script") if isinstance(script, bytes) else read_script(script)
    found = merged(_as_submit_has_them(options), script_options(content, name))
    made = build(found, content, name, tuple(args), request_id=request_id)
    variables = options.get("environment")
    return made if variables is None else replace(made, environment=dict(variables))


def _as_submit_has_them(options: Options) -> dict[str, Any]:
    given: dict[str, Any] = {_NAMES.get(name, name): value for name, value in options.items()}
    unknown = options.keys() - _KNOWN
    if unknown:
        raise TypeError(f"submit() has no option {min(unknown)!r}")
    given.pop("environment", None)
    for name in ("components", "stage_in", "stage_out", "input_at"):
        if name in given:
            given[name] = tuple(given[name])
    for name, parse in _PARSED.items():
        if isinstance(given.get(name), str):
            given[name] = parse(given[name])
    if "on" in given:
        given["on"] = tuple((cluster, tasks) for cluster, tasks in given["on"])
    if "native" in given:
        given["native"] = {name: tuple(words) for name, words in given["native"].items()}
    if "chdir" in given:
        given["chdir"] = os.fspath(given["chdir"])
    if "time" in given:
        given["time"] = _seconds(given["time"])
    return given


def _seconds(time: float | str | timedelta) -> int:
    if isinstance(time, str):
        return parse_time(time)
    return check_seconds(int(time.total_seconds() if isinstance(time, timedelta) else time))
