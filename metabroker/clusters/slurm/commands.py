"""The argument vectors of Slurm's commands. No text of a user is ever read by a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from metabroker.clusters.port import ComponentRequest
from metabroker.clusters.transports.base import Command
from metabroker.submission.shape import Shape

from .parsing import (
    JOB_FORMAT,
    NODE_FORMAT,
    UNTIL_FORMAT,
    USE_FORMAT,
    WAITING_FORMAT,
    marked_format,
)

# A line break or a separator in a job's text would break what squeue prints.
_UNPLAIN = re.compile(r"[^A-Za-z0-9_.=-]")
_LONGEST_NAME = 64
_WHATEVER_RUNS = "Flags+=IGNORE_JOBS"


@dataclass(frozen=True, slots=True)
class SlurmIdentity:
    """Under whose name, and where, jobs go. `acting`: it is another one than that which commands
    run under, and jobs are submitted and cancelled as it."""

    user: str
    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    unit: int = 1  # processors of a node, where only whole nodes are given
    native: tuple[str, ...] = ()  # options of sbatch that every job is given
    acting: bool = False

    @property
    def acting_for(self) -> str | None:
        """The account that commands on jobs run as, if that is another one."""
        return self.user if self.acting else None


# Of all partitions: an account's own jobs in one that is hidden from it are left out without that.
# And of this cluster alone, where a federation's are shown together.
_SQUEUE = ("squeue", "-h", "-a", "--local")
_HOLD = "R,S,CG,CF"
"""The states in which a job holds processors; CF: its nodes are being made ready."""


def _read(argv: tuple[str, ...]) -> Command:
    """A command whose output is parsed: times in Unix seconds."""
    return Command(argv, env=(("SLURM_TIME_FORMAT", "%s"),))


def list_jobs(user: str) -> Command:
    """All of the broker's jobs, ended ones too, as long as the controller remembers them."""
    return _read((*_SQUEUE, "-r", "-t", "all", "-u", user, "-o", JOB_FORMAT))


def list_jobs_of(accounts: Sequence[str], mark: str) -> Command:
    """The same of several accounts at once, or of all; each line begins with the mark."""
    whose = ("-u", ",".join(accounts)) if accounts else ()
    return _read((*_SQUEUE, "-r", "-t", "all", *whose, "-o", marked_format(mark)))


def find_jobs(user: str, token: str) -> Command:
    """The jobs of one token."""
    return _read((*_SQUEUE, "-r", "-t", "all", "-u", user, "-n", token, "-o", JOB_FORMAT))


def find_job(user: str, native_id: str) -> Command:
    """The job of one id, if it is this account's."""
    return _read((*_SQUEUE, "-r", "-t", "all", "-u", user, "-j", native_id, "-o", JOB_FORMAT))


def list_jobs_in(reservations: Sequence[str]) -> Command:
    """Running jobs inside reservations, of anybody."""
    names = ",".join(reservations)
    return _read((*_SQUEUE, "-r", "-t", _HOLD, "-R", names, "-o", USE_FORMAT))


def list_waiting(partition: str) -> Command:
    """Jobs of anybody in a partition that are pending, arrays as one, or hold processors."""
    return _read((*_SQUEUE, "-t", f"PD,{_HOLD}", "-p", partition, "-o", WAITING_FORMAT))


def list_jobs_on(nodes: str) -> Command:
    """Jobs of anybody that hold processors on these nodes."""
    return _read((*_SQUEUE, "-t", _HOLD, "-w", nodes, "-o", UNTIL_FORMAT))


def show_processors(number: str) -> Command:
    """One job, with the processors that it has on each node."""
    return _read(("scontrol", "-o", "-d", "show", "job", number))


def list_nodes() -> Command:
    """All nodes in all partitions."""
    return _read(("sinfo", "-h", "-a", "--local", "-N", "-o", NODE_FORMAT))


def show_partition(name: str) -> Command:
    """One partition."""
    return _read(("scontrol", "-a", "-o", "show", "partition", name))


def show_nodes(names: str) -> Command:
    """Nodes, by a list as Slurm writes it."""
    return _read(("scontrol", "-a", "-o", "show", "node", names))


def list_reservations() -> Command:
    """All reservations, of anybody."""
    return _read(("scontrol", "-o", "show", "reservation"))


def show_reservation(token: str) -> Command:
    """One reservation."""
    return _read(("scontrol", "-o", "show", "reservation", token))


def show_settings() -> Command:
    """The controller's settings; the first line tells its time."""
    return _read(("scontrol", "show", "config"))


def version() -> Command:
    """Which release the commands are."""
    return _read(("sinfo", "--version"))


def create_reservation(
    who: SlurmIdentity,
    token: str,
    seconds: int,
    nodes: int | None,
    cores: int | None,
    start: str = "now",
    end: float | None = None,
) -> Command:
    """A reservation of so many cores, on so many nodes if that is given, from `start` on, until
    `end` (Unix seconds) if that is given; without a number of cores, of whole nodes."""
    words = [
        "scontrol",
        "create",
        "reservation",
        f"ReservationName={token}",
        f"StartTime={start}",
        f"Duration={minutes(seconds)}" if end is None else f"EndTime={moment(end)}",
        f"Users={who.user}",
    ]
    if cores is not None:
        words.append(f"CoreCnt={cores}")
    if nodes is not None:
        words.append(f"NodeCnt={nodes}")
    if who.partition is not None:
        words.append(f"PartitionName={who.partition}")
    return Command(tuple(words))


def reserve_nodes(
    who: SlurmIdentity,
    token: str,
    seconds: int,
    nodes: Sequence[str],
    cores: str | None,
) -> Command:
    """A reservation from now on of these nodes, with so many cores; None: of whole nodes."""
    words = [
        *("scontrol", "create", "reservation", f"ReservationName={token}", "StartTime=now"),
        *(f"Duration={minutes(seconds)}", f"Users={who.user}", f"Nodes={','.join(nodes)}"),
    ]
    if cores is not None:
        words.append(f"CoreCnt={cores}")
    if who.partition is not None:
        words.append(f"PartitionName={who.partition}")
    return Command(tuple(words))


def move_reservation(token: str, start: float, end: float) -> Command:
    """Let a reservation begin at another time, whatever runs on its nodes; it goes on until `end`,
    in Unix seconds."""
    times = f"StartTime={moment(start)}", f"EndTime={moment(end)}"
    return Command(("scontrol", "update", f"ReservationName={token}", *times, _WHATEVER_RUNS))


def end_reservation(token: str, end: float) -> Command:
    """Let a reservation go on until that moment, in Unix seconds."""
    words = f"ReservationName={token}", f"EndTime={moment(end)}", _WHATEVER_RUNS
    return Command(("scontrol", "update", *words))


def moment(time: float | None) -> str:
    """A time (Unix seconds) that no client takes for one of its own time zone; None: now."""
    return "now" if time is None else f"uts{int(time)}"


def delete_reservation(token: str) -> Command:
    """Delete a reservation by its name."""
    return Command(("scontrol", "delete", f"ReservationName={token}"))


def cancel(who: SlurmIdentity, token: str) -> Command:
    """Cancel all jobs of a token: by name, since a controller may issue an id again; as the user,
    who may always do that, where we act for one."""
    return Command(("scancel", "-u", who.user, "-n", token), account=who.acting_for)


def cancel_job(who: SlurmIdentity, native_id: str) -> Command:
    """Cancel a job that bears its token no more, and was just seen to be the one."""
    return Command(("scancel", "-u", who.user, native_id), account=who.acting_for)


def submit(who: SlurmIdentity, request: ComponentRequest, script: bytes) -> Command:
    """Submit a component's job; the user's own options come first, so that ours win."""
    words = [
        "sbatch",
        *request.native,
        "--parsable",
        f"--job-name={request.token}",
        f"--ntasks={request.tasks}",
        *_shape(request.shape),
        f"--time={minutes(request.seconds)}",
        f"--chdir={request.chdir}",
        f"--output={_pattern(request.output)}",
        "--no-requeue",
        "--open-mode=append",  # a twin of the job must not empty the file
    ]
    if request.error is not None:
        words.append(f"--error={_pattern(request.error)}")
    given = (("partition", who.partition), ("account", who.account), ("qos", who.qos))
    for option, value in given:
        if value is not None and not _given(request.native, option):
            words.append(f"--{option}={value}")
    if request.reservation:
        words.append(f"--reservation={request.token}")
    if not any(word.startswith("--comment") for word in request.native):
        words.append(f"--comment={comment(request)}")
    return Command(tuple(words), stdin=_with_names(request, script), account=who.acting_for)


def _shape(shape: Shape) -> list[str]:
    """What each task needs beside a processor, as sbatch's options."""
    given = (
        ("cpus-per-task", shape.cpus_per_task if shape.cpus_per_task > 1 else 0),
        ("mem", f"{shape.memory}M" if shape.memory else 0),
        ("mem-per-cpu", f"{shape.memory_per_cpu}M" if shape.memory_per_cpu else 0),
        ("gpus", shape.gpus),
        ("gpus-per-task", shape.gpus_per_task),
    )
    exclusive = ["--exclusive"] if shape.exclusive else []
    return [f"--{option}={value}" for option, value in given if value] + exclusive


def comment(request: ComponentRequest) -> str:
    """What people see of the job in squeue (`%k`): its number and name here. The native name is
    the token: by it alone a job can be found again, whoever else has jobs."""
    return f"metabroker:{request.job}:{_UNPLAIN.sub('_', request.name)[:_LONGEST_NAME]}"


def _with_names(request: ComponentRequest, script: bytes) -> bytes:
    """The script, after the variables that Slurm has set by our command and not by the user's."""
    head = (
        "#!/bin/sh\n"
        f"export SLURM_SUBMIT_DIR={shlex.quote(request.chdir)}\n"
        f"export SLURM_JOB_NAME={shlex.quote(request.name)}\n"
    )
    return head.encode() + script


def minutes(seconds: int) -> int:
    """Slurm counts in minutes: rounded up."""
    return max(1, -(-seconds // 60))


def _given(native: Sequence[str], option: str) -> bool:
    short = {"partition": "-p", "account": "-A", "qos": "-q"}[option]
    return any(word == f"--{option}" or word.startswith((f"--{option}=", short)) for word in native)


def _pattern(path: str) -> str:
    """A path as sbatch's file name pattern."""
    return path.replace("%", "%%")
