"""What a user asks for: one submission, as the command line makes it and the daemon checks it.

Everything here is plain data, and the one description of a job: its JSON on the way to the daemon
and in the store is made from these fields (`metabroker.submission.wire`). The daemon trusts none of
it: `metabroker.submission.checks` is run on its side too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from metabroker.submission.chunks import NodeRange
from metabroker.submission.dependency import Dependency, parse_dependency
from metabroker.submission.inputs import Inputs, inputs_of
from metabroker.submission.shape import ANY_PROCESSORS, Shape
from metabroker.submission.tasks import ArraySpec, parse_array


@dataclass(frozen=True)
class Processors:
    """How many tasks, in exactly one of four forms (contract C2). A task is one processor, unless
    the submission's shape says otherwise.

    `single`: one component of N tasks, on `cluster` if that is given.
    `components`: an unordered request; the broker chooses the clusters.
    `on`: an ordered request; pairs of cluster name and tasks.
    `total`: a flexible request; the broker splits it by the limits.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    single: int | None = None
    cluster: str | None = None
    components: tuple[int, ...] | None = None
    on: tuple[tuple[str, int], ...] | None = None
    total: int | None = None


@dataclass(frozen=True)
class AskedOption:
    """What a user asks of the job's cluster in the words of sbatch or qsub, by sbatch's name for it
    (`partition`; what sbatch has no name for by qsub's). `where` it stands (`job.sh:3`; empty: on a
    command line), and what it is `called` there, if that is another word."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    option: str
    value: str | None = None
    where: str = ""
    called: str = ""


@dataclass(frozen=True)
class Submission:
    """One job as its user described it. Times in seconds, sizes in tasks; `shape`: what each of
    them needs.

    `stage_in` are files below `submit_dir`, an absolute path of the submitting host; what
    `stage_out` matches comes back there. `asked`: options of sbatch and qsub that are its cluster's
    matter. `speaks`: it was submitted by the commands of this system ("slurm", "pbs"), and is told
    by that system's variables which job of metabroker it is. `dependency`: the jobs that it waits
    for, as sbatch says it; `kill_on_invalid_dep`: it ends once that can never be. `array`: it is
    one of many tasks, as sbatch says it. `max_latency`: milliseconds between its clusters, at most.
    `input_at`: files that lie in clusters, as `--input-at` says it, and `only_at_input`: it runs
    nowhere else. `staged_bytes`: of `stage_in`. `joins`: the job whose optional component it is.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    script: bytes
    script_name: str
    processors: Processors
    chdir: str
    args: tuple[str, ...] = ()
    shape: Shape = ANY_PROCESSORS
    name: str | None = None
    time_limit: int | None = None
    output: str | None = None
    error: str | None = None
    environment: dict[str, str] = field(default_factory=dict)
    native: dict[str, tuple[str, ...]] = field(default_factory=dict)
    hold: bool = False
    request_id: str | None = None
    stage_in: tuple[str, ...] = ()
    stage_out: tuple[str, ...] = ()
    submit_dir: str | None = None
    asked: tuple[AskedOption, ...] = ()
    speaks: str | None = None
    dependency: str | None = None
    kill_on_invalid_dep: bool = False
    array: str | None = None
    max_latency: float | None = None
    input_at: tuple[str, ...] = ()
    only_at_input: bool = False
    staged_bytes: int = 0
    joins: int | None = None

    @property
    def after(self) -> Dependency | None:
        """What it waits for. Raises `SubmissionError`."""
        if self.dependency is None:
            return None
        return parse_dependency(self.dependency, kill=self.kill_on_invalid_dep)

    @property
    def array_spec(self) -> ArraySpec | None:
        """Its tasks, if it is an array. Raises `SubmissionError`."""
        return None if self.array is None else parse_array(self.array)

    @property
    def nodes(self) -> NodeRange:
        """On how many nodes it wants the tasks of its one component."""
        words = (f"--{each.option}={each.value}" for each in self.asked)
        return NodeRange.of(words, self.processors.single or 1)

    @property
    def inputs(self) -> Inputs:
        """What it reads, and where that lies. Raises `SubmissionError`."""
        return inputs_of(self.input_at, self.staged_bytes)

    @property
    def stages(self) -> bool:
        """Whether it has files that are sent or brought back."""
        return bool(self.stage_in or self.stage_out)


@dataclass(frozen=True)
class Caller:
    """Who asks, as the kernel says (SO_PEERCRED) or as the token they hold was made for, never as
    the request says. `token`: its id."""

    uid: int
    user: str
    token: str | None = None
