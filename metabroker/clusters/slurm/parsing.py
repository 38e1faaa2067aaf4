"""From what Slurm's commands print to plain data. Never raises anything but `Garbled`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from math import inf

from metabroker.clusters.command_errors import Garbled

SEPARATOR = "\x1f"
JOB_COLUMNS = ("%i", "%j", "%T", "%C", "%N", "%r", "%V", "%S", "%e", "%v")
JOB_FORMAT = SEPARATOR.join(JOB_COLUMNS)
# Of other people's jobs nothing that they could have written themselves: no name, no reason.
USE_COLUMNS = ("%i", "%T", "%C", "%v")
USE_FORMAT = SEPARATOR.join(USE_COLUMNS)
WAITING_COLUMNS = ("%i", "%C", "%Q", "%r", "%T", "%l", "%e", "%v", "%V")
WAITING_FORMAT = SEPARATOR.join(WAITING_COLUMNS)
UNTIL_FORMAT = SEPARATOR.join(("%A", "%e", "%v"))
NODE_COLUMNS = ("%N", "%T", "%C", "%P", "%a", "%c", "%X", "%Y", "%Z", "%m", "%G")
NODE_FORMAT = SEPARATOR.join(NODE_COLUMNS)
_OURS = SEPARATOR + "mb-"
# Of several accounts at once: the name, in which anything may stand, comes last.
MARKED_COLUMNS = ("%u", *(column for column in JOB_COLUMNS if column != "%j"), "%j")


def marked_format(mark: str) -> str:
    """The format in which each job begins with `mark`, which nobody can have guessed."""
    return SEPARATOR.join((mark, *MARKED_COLUMNS))


@dataclass(frozen=True, slots=True)
class JobLine:
    """One line of squeue. Times in Unix seconds."""

    id: str
    name: str
    state: str
    processors: int
    nodes: str
    reason: str
    submit_time: float | None
    start_time: float | None
    end_time: float | None
    reservation: str
    user: str = ""


@dataclass(frozen=True, slots=True)
class Use:
    """What anybody's job holds, and in which reservation."""

    id: str
    state: str
    processors: int
    reservation: str


@dataclass(frozen=True, slots=True)
class WaitingLine:
    """A job of anybody's that runs in a partition, or a job or a whole array that is pending there.
    `limit` in seconds (None: it has none), `end_time` (at its limit) and `submit_time` in Unix
    seconds."""

    id: str
    processors: int
    priority: int
    reason: str
    state: str = "PENDING"
    limit: int | None = None
    end_time: float | None = None
    reservation: str = ""
    submit_time: float | None = None


@dataclass(frozen=True, slots=True)
class NodeLine:
    """One node in one partition: processors allocated, idle, otherwise unavailable, in all; those
    of a core; its memory in MB (None: not known) and GPUs, in use or not; a core's threads."""

    name: str
    state: str
    allocated: int
    idle: int
    other: int
    total: int
    partition: str
    default: bool
    up: bool
    processors_per_core: int
    memory: int | None = None
    gpus: int = 0
    threads: int = 1


@dataclass(frozen=True, slots=True)
class SlurmReservation:
    """One reservation. `cores` counts those of each node, where the output tells them; `core_ids`:
    which these are (`0-7,12`); `of_a_core`: processors, by node, where its nodes differ in that."""

    name: str
    start_time: float
    end_time: float
    nodes: str
    node_count: int
    core_count: int
    processors: int
    state: str
    flags: str
    users: str
    partition: str
    cores: dict[str, int] = field(default_factory=dict)
    core_ids: dict[str, str] = field(default_factory=dict)
    of_a_core: dict[str, int] = field(default_factory=dict)

    @property
    def of_each(self) -> dict[str, int]:
        """Its processors on each node; of none where it is not told how many cores they are."""
        scale = self.processors / max(1, sum(self.cores.values()))
        return {n: int(count * self.of_a_core.get(n, scale)) for n, count in self.cores.items()}


def jobs(text: str) -> list[JobLine]:
    """The lines of `squeue -h -o JOB_FORMAT`, of one account.

    A job that the account has beside the broker's may have a name with a line break or a
    separator in it: what is not of the form, and has nothing of ours in it, is passed over.

    Raises:
        Garbled: a line that speaks of a token has another number of columns, or a number that
            is none; or no line at all is of the form.
    """
    lines = _lines(text)
    found: list[JobLine] = []
    for line in lines:
        try:
            found.append(_job(line))
        except Garbled:
            if _OURS in line or len(lines) == 1:
                raise
    if lines and not found:
        raise Garbled(f"squeue: no line is of the form asked for: {lines[0][:200]!r}")
    return found


def marked_jobs(text: str, mark: str) -> list[JobLine]:
    """The jobs of `squeue -h -o marked_format(mark)`, of any accounts.

    What a user has written into a job's name can break lines, and look like other jobs' lines; but
    a line counts only if it begins with the mark, so of such a name only its first line is read.

    Raises:
        Garbled: a marked line has another number of columns, or a number that is none.
    """
    head = f"{mark}{SEPARATOR}"
    found = []
    for line in _lines(text):
        if line.startswith(head):
            columns = line.removeprefix(head).split(SEPARATOR, len(MARKED_COLUMNS) - 1)
            if len(columns) != len(MARKED_COLUMNS):
                raise Garbled(f"squeue: {len(columns)} columns instead of {len(MARKED_COLUMNS)}")
            user, identity, *others, name = columns
            job = _job(SEPARATOR.join((identity, name.replace(SEPARATOR, " "), *others)))
            found.append(replace(job, user=user))
    return found


def waiting(text: str) -> list[WaitingLine]:
    """The lines of `squeue -h -o WAITING_FORMAT`.

    Raises:
        Garbled: as `nodes`.
    """
    found = []
    for line in _lines(text):
        columns = _columns("squeue", line, len(WAITING_COLUMNS))
        identity, cpus, priority, reason, state, limit, end, reservation, since = columns
        numbers = _number("squeue", cpus), _number("squeue", priority)
        until = _limit(limit), _time(end)
        inside = _value(reservation)
        found.append(WaitingLine(identity, *numbers, reason, state, *until, inside, _time(since)))
    return found


def uses(text: str) -> list[Use]:
    """The lines of `squeue -h -o USE_FORMAT`.

    Raises:
        Garbled: as `nodes`.
    """
    found = []
    for line in _lines(text):
        identity, state, cpus, reservation = _columns("squeue", line, len(USE_COLUMNS))
        found.append(Use(identity, state, _number("squeue", cpus), _value(reservation)))
    return found


def _lines(text: str) -> list[str]:
    """What is cut off may show an id that is another job's, or a part of a name."""
    if text and not text.endswith("\n"):
        raise Garbled(f"an answer that is cut off: {text[-100:]!r}")
    return [line for line in text.split("\n") if line.strip()]


def _columns(command: str, line: str, count: int) -> list[str]:
    columns = line.split(SEPARATOR)
    if len(columns) != count:
        raise Garbled(f"{command}: {len(columns)} columns instead of {count}: {line[:200]!r}")
    return columns


def _job(line: str) -> JobLine:
    columns = _columns("squeue", line, len(JOB_COLUMNS))
    identity, name, state, cpus, nodes, reason, submit, start, end, reservation = columns
    return JobLine(
        identity,
        name,
        state,
        _number("squeue", cpus),
        nodes,
        reason,
        _time(submit),
        _time(start),
        _time(end),
        _value(reservation),
    )


_IN_BRACKETS, _DIGITS = re.compile(r"\([^)]*\)"), re.compile(r"[0-9]+")


def nodes(text: str) -> list[NodeLine]:
    """The lines of `sinfo -h -N -o NODE_FORMAT`.

    Raises:
        Garbled: a line has another number of columns, or a number that is none.
    """
    return [_node(line) for line in _lines(text)]


def _gpus(gres: str) -> int:
    """Of `gpu:2`, `gpu:3090:4(S:0-1)`, `gpu:a100:no_consume:4`, among other resources."""
    found = 0
    for part in _IN_BRACKETS.sub("", gres).split(","):
        name, *words = part.split(":")
        if name == "gpu":
            last = words[-1] if words else ""
            found += (int(last) if len(last) <= 6 else 0) if _DIGITS.fullmatch(last) else 1
    return found


def _node(line: str) -> NodeLine:
    columns = _columns("sinfo", line, len(NODE_COLUMNS))
    name, state, counts, partition, available, *cores, memory, gres = columns
    cpus, sockets, each, threads = (_with_unit(column) for column in cores)
    numbers = [_number("sinfo", part) for part in counts.split("/")]
    if len(numbers) != 4:
        raise Garbled(f"sinfo: not four processor counts: {counts[:100]!r}")
    allocated, idle, other, total = numbers
    return NodeLine(
        name,
        state,
        allocated,
        idle,
        other,
        total,
        partition=partition.rstrip("*"),
        default=partition.endswith("*"),
        up=available == "up",
        # A site may have Slurm use one thread of each core: then CPUs is the number of cores.
        processors_per_core=max(1, min(cpus // (sockets * each or 1), threads)),
        memory=_number("sinfo", memory),
        gpus=_gpus(gres),
        threads=max(1, threads),
    )


def _with_unit(text: str) -> int:
    """A count of processors or cores, of which sinfo prints 2048 as `2K`, and 2000 as it is."""
    number = text.removesuffix("K")
    return _number("sinfo", number) * (1 if number == text else 1024)


# Keys whose values may hold spaces would break a split at spaces; those read here never do.
_FIELD = re.compile(r"(?:^|\s)(\w+)=(\S*)")
_CORES = re.compile(r"NodeName=(\S+) CoreIDs=(\S+)")


def uses_until(text: str) -> list[tuple[str, float, str]]:
    """The lines of `squeue -h -o UNTIL_FORMAT`: each job's number, when it is over at the latest,
    in Unix seconds (inf: it has no limit), and its reservation.

    Raises:
        Garbled: as `nodes`.
    """
    found = []
    for line in _lines(text):
        number, end, reservation = _columns("squeue", line, 3)
        until = _time(end)
        job = str(_number("squeue", number))
        found.append((job, inf if until is None else until, _value(reservation)))
    return found


_NO_RESERVATIONS = "No reservations in the system"


def reservations(text: str) -> list[SlurmReservation]:
    """The lines of `scontrol -o show reservation`.

    Raises:
        Garbled: a line without the fields that every reservation has; or nothing at all, since
            where there are none it says so.
    """
    lines = _lines(text)
    if not lines:
        raise Garbled("scontrol has told nothing of reservations")
    return [_reservation(line) for line in lines if line.strip() != _NO_RESERVATIONS]


def _reservation(line: str) -> SlurmReservation:
    fields: dict[str, str] = {}
    for key, value in _FIELD.findall(line):
        fields.setdefault(key, value)
    try:
        threads = re.search(r"cpu=([0-9]+)", fields.get("TRES", ""))
        cores = _number("scontrol", fields.get("CoreCnt") or "0")
        return SlurmReservation(
            name=fields["ReservationName"],
            start_time=float(_number("scontrol", fields["StartTime"])),
            end_time=float(_number("scontrol", fields["EndTime"])),
            nodes=_value(fields.get("Nodes", "")),
            node_count=_number("scontrol", fields.get("NodeCnt") or "0"),
            core_count=cores,
            processors=_number("scontrol", threads[1]) if threads else cores,
            state=fields["State"],  # one of the last: a line that was cut off tells of no size
            flags=fields.get("Flags", ""),
            users=_value(fields.get("Users", "")),
            partition=_value(fields.get("PartitionName", "")),
            cores={n: _count(ids) for n, ids in _CORES.findall(line) if ids != "(null)"},
            core_ids={n: ids for n, ids in _CORES.findall(line) if ids != "(null)"},
        )
    except (KeyError, ValueError, Garbled) as error:
        raise Garbled(f"scontrol show reservation: {line[:300]!r}") from error


_LIMIT = re.compile(r"(?:(\d{1,5})-)?(?:(\d{1,7}):)?(\d{1,7}):(\d{2})")


def _limit(text: str) -> int | None:
    """A time limit in seconds (`3:00`, `1-00:00:00`); None for UNLIMITED and the like."""
    found = _LIMIT.fullmatch(text.strip())
    if found is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def _value(text: str) -> str:
    return "" if text == "(null)" else text


def _count(ids: str) -> int:
    """How many cores `0-7,12` are."""
    count = 0
    for part in ids.split(","):
        first, _, last = part.partition("-")
        low = _number("scontrol", first)
        count += max(0, _number("scontrol", last or first) - low + 1)
    return count


def ranges(ids: str) -> list[tuple[int, int]]:
    """The first and the last of each range of the cores `0-7,12`.

    Raises:
        Garbled: they are no numbers.
    """
    found = []
    for part in filter(None, ids.split(",")):
        first, _, last = part.partition("-")
        found.append((_number("scontrol", first), _number("scontrol", last or first)))
    return found


def _number(command: str, text: str) -> int:
    text = text.strip()
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise Garbled(f"{command}: not a count: {text[:100]!r}")
    return int(text)


def _time(text: str) -> float | None:
    """A time in Unix seconds (SLURM_TIME_FORMAT=%s); None for N/A, Unknown and the like."""
    return float(text) if text.isascii() and text.isdigit() and len(text) <= 12 else None
