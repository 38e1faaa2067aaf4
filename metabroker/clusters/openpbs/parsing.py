"""From what PBS's commands print to plain data. Never raises anything but `Garbled`."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

from metabroker.clusters.command_errors import Garbled

from .entries import JOBS, NODES, entries

NO_HISTORY = "not configured to maintain job history"
"""What is said to `-x` where ended jobs are forgotten at once; nothing else is printed then."""

_JOB_ID = re.compile(r"[0-9]{1,18}\.[A-Za-z0-9_.-]+")
_ANY_JOB_ID = re.compile(r"[0-9]{1,18}(?:\[[0-9]*\])?\.[A-Za-z0-9_.-]+")
_RESERVATION_ID = re.compile(r"[RSM][0-9]{1,18}\.[A-Za-z0-9_.-]+")
_COUNT = re.compile(r"[0-9]{1,18}")
_SIZE = re.compile(r"([0-9]{1,15})([kmgtp]?)b", re.IGNORECASE)
_BYTES = {unit: 1 << (10 * power) for power, unit in enumerate(("", "k", "m", "g", "t", "p"))}
_WHOLE = re.compile(r"-?[0-9]{1,12}")
_SECONDS = re.compile(r"(?:(?:([0-9]{1,9}):)?([0-9]{1,9}):)?([0-9]{1,12})(?:\.[0-9]*)?")
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_LAST_YEAR = 9996  # a leap year; what is later, as anybody's reservation may be, is as far
_DATE = re.compile(
    r"\w{3} +(\w{3}) +([0-9]{1,2}) ([0-9]{2}):([0-9]{2}):([0-9]{2}) ([0-9]{4,12})", re.ASCII
)


@dataclass(frozen=True, slots=True)
class PbsJob:
    """One job. Times in Unix seconds, `limit` in seconds; `vnodes`: processors in each."""

    id: str
    name: str
    owner: str
    state: str
    substate: int | None
    processors: int
    vnodes: Mapping[str, int]
    hosts: tuple[str, ...]
    comment: str
    submit_time: float | None
    start_time: float | None
    end_time: float | None
    exit_status: int | None
    limit: float | None


@dataclass(frozen=True, slots=True)
class PbsNode:
    """One vnode: processors in all, and held by running jobs and by reservations that have begun.
    `states`: the words of its state; `queue`: the one it is kept for; `sharing`: whether a job has
    it for itself."""

    name: str
    states: tuple[str, ...]
    total: int
    assigned: int
    queue: str | None
    available: Mapping[str, str] = field(default_factory=dict)
    sharing: str = ""

    @property
    def memory(self) -> int | None:
        """In MB; None: not told."""
        found = _SIZE.fullmatch(self.available.get("mem", ""))
        return None if found is None else int(found[1]) * _BYTES[found[2].lower()] // (1 << 20)

    @property
    def gpus(self) -> int:
        """In use or not."""
        told = self.available.get("ngpus", "")
        return int(told) if _COUNT.fullmatch(told) else 0


@dataclass(frozen=True, slots=True)
class QueueLine:
    """A job of anybody's as `qstat -a` shows it: the first letters of its queue, its processors,
    its walltime (None: none) and for how long it runs, in seconds, each in whole minutes. `since`:
    it was not there before that moment (Unix seconds; 0: nobody knows)."""

    queue: str
    processors: int
    state: str
    limit: int | None
    elapsed: int | None
    id: str = ""
    since: float = 0.0
    exact: float | None = None
    began: float | None = None

    @property
    def seconds(self) -> float | None:
        """Its walltime, at most; None: it has none."""
        if self.exact is not None:
            return self.exact
        return None if self.limit is None else self.limit + 60.0

    def until(self, now: float) -> float:
        """Until when it may run, at most, which runs `now` (by the server's clock)."""
        seconds = self.seconds
        if seconds is None:
            return inf
        began = now - (self.elapsed or 0) if self.began is None else self.began
        return began + seconds


@dataclass(frozen=True, slots=True)
class PbsReservation:
    """One reservation. Times in Unix seconds; `created` by the server's clock; `vnodes`:
    processors in each; `queue`: where its jobs go."""

    id: str
    name: str
    owner: str
    state: str
    substate: int | None
    start_time: float
    end_time: float
    created: float | None
    queue: str
    processors: int
    vnodes: Mapping[str, int]


def ids(text: str) -> list[str]:
    """The lines of `qselect`, without arrays (the broker has none).

    Raises:
        Garbled: a line that is no job's id; or it is cut off.
    """
    to_its_end(text, "\n", "qselect")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    wrong = next((line for line in lines if _ANY_JOB_ID.fullmatch(line) is None), None)
    if wrong is not None:
        raise Garbled(f"qselect: not a job's id: {wrong[:100]!r}")
    return [line for line in lines if "[" not in line]


# What is too wide for its column is cut: `168:0` is 168 hours and some minutes, `1000:` and `10000`
# (of times, five signs) are hours, and `10*` begins a number of processors.
_TIME = r"\d{1,6}:\d{0,2}|\d{5}|--"
_QUEUE_LINE = re.compile(
    rf"(\S+) +\S+ +(\S+) .* (\d{{1,9}}\*?|--) +\S+ +({_TIME}) +([A-Z]) +({_TIME}) *"
)


def queue_lines(text: str) -> list[QueueLine]:
    """The lines of `qstat -a`: each is read from its end, so that no job's name can forge one. One
    that is of another form is left out: it is one job's.

    Raises:
        Garbled: all lines below the heading are of another form; or it is cut off.
    """
    to_its_end(text, "\n", "qstat")
    _, found, rest = text.rpartition("- -----\n")
    if not found and text.strip():
        raise Garbled(f"qstat: no heading in its answer: {text[:100]!r}")
    lines, told = [], rest.split("\n")[:-1]  # and at nothing else that a job's name may hold
    for match in filter(None, map(_QUEUE_LINE.fullmatch, told)):
        job, queue, tasks, limit, state, elapsed = match.groups()
        times = _shown(limit, most=True), _shown(elapsed, most=False)
        lines.append(QueueLine(queue, _whole(tasks), state, *times, job))
    if told and not lines:
        raise Garbled(f"qstat: not a job's line: {told[0][:200]!r}")
    return lines


_LETTERS = 8


def number(identity: str) -> str:
    """A job's number; "": it is an array, or none. (Where a server's name is long, the list of all
    jobs shows the rest of an id in part.)"""
    found = identity.partition(".")[0]
    return found if found.isascii() and found.isdigit() and len(found) <= 18 else ""


def _shown(text: str, *, most: bool) -> int | None:
    """Hours and minutes, as far as they are told: at `most`, or at least; None: there are none."""
    hours, _, minutes = text.partition(":")
    if not hours.isdigit():
        return None
    unit = (100, 10, 1)[len(minutes)]
    known = int(minutes or 0) * unit + (unit - 1 if most else 0)
    return int(hours) * 3600 + min(59, known) * 60


def _whole(text: str) -> int:
    """A number of processors; of one that is cut, more than it can be: two digits are missing at
    most, where a star is in the place of the first."""
    if text == "--":
        return 0
    return int(text.replace("*", "999"))


def is_queue(shown: str, name: str) -> bool:
    """Whether that is how a queue's name is shown, of which there is room for eight letters."""
    return shown == name[:_LETTERS] or (shown.endswith("*") and name.startswith(shown[:-1]))


def to_its_end(text: str, last: str, command: str) -> None:
    """Raises `Garbled` for a listing that does not end as all do: what is cut off may lack the
    maintenance that comes, or show an id that is another job's."""
    if text and not text.endswith(last):
        raise Garbled(f"{command}: its answer is cut off: {text[-100:]!r}")


def job_id(text: str) -> str:
    """What `qsub` prints.

    Raises:
        Garbled: it is no job's id.
    """
    if _JOB_ID.fullmatch(text.strip()) is None:
        raise Garbled(f"qsub: no job's id in its answer: {text[:100]!r}")
    return text.strip()


def version(text: str) -> str | None:
    """The release that `qstat --version` names; None: this is not PBS's."""
    found = re.search(r"^pbs_version = (\S{1,100})", text, re.MULTILINE)
    return found[1] if found else None


def time_told(text: str) -> int:
    """What `date` prints, in Unix seconds.

    Raises:
        Garbled: something else.
    """
    if re.fullmatch(r"[0-9]{9,11}", text.strip()) is None:
        raise Garbled(f"date: no time in its answer: {text[:100]!r}")
    return int(text)


def confirmation(text: str) -> tuple[str, str]:
    """What `pbs_rsub` and `pbs_ralter` print: the reservation's id, and what became of it
    (`CONFIRMED`, ...).

    Raises:
        Garbled: neither.
    """
    identity, _, rest = text.strip().removeprefix("pbs_ralter: ").partition(" ")
    if not is_reservation_id(identity) or not rest:
        raise Garbled(f"pbs_rsub: no reservation in its answer: {text[:100]!r}")
    return identity, rest.strip()


def jobs(text: str) -> list[PbsJob]:
    """The jobs of `qstat -f -F json` or `-F dsv`.

    Raises:
        Garbled: it is of neither form, or a job lacks what every job has.
    """
    return [_job(name, attributes) for name, attributes in entries(text, JOBS).items()]


def _job(name: str, has: Mapping[str, str]) -> PbsJob:
    try:
        return PbsJob(
            id=name,
            name=has["Job_Name"],
            owner=has["Job_Owner"].partition("@")[0],
            state=has["job_state"],
            substate=_integer(has.get("substate")),
            processors=_count(has.get("Resource_List.ncpus", "0")),
            vnodes=_vnodes(has.get("exec_vnode", "")),
            hosts=_hosts(has.get("exec_host", "")),
            comment=has.get("comment", ""),
            submit_time=_time(has.get("ctime", "")),
            start_time=_time(has.get("stime", "")),
            end_time=_time(has.get("obittime", "")) or _time(has.get("mtime", "")),
            exit_status=_integer(has.get("Exit_status")),
            limit=_seconds(has.get("Resource_List.walltime", "")),
        )
    except (KeyError, Garbled) as error:
        raise Garbled(f"qstat: job {name[:100]!r}: {error}") from error


def nodes(text: str) -> list[PbsNode]:
    """The vnodes of `pbsnodes -a -v -F json` or `-F dsv`.

    Raises:
        Garbled: as `jobs`.
    """
    return [_node(name, attributes) for name, attributes in entries(text, NODES).items()]


def _node(name: str, has: Mapping[str, str]) -> PbsNode:
    prefix = "resources_available."
    try:
        return PbsNode(
            name=name,
            states=tuple(word.strip().lower() for word in has["state"].split(",")),
            # One that has never been up has no processors yet.
            total=_count(has.get(f"{prefix}ncpus", "0")),
            assigned=_count(has.get("resources_assigned.ncpus", "0")),
            queue=has.get("queue"),
            available={k.removeprefix(prefix): v for k, v in has.items() if k.startswith(prefix)},
            sharing=has.get("sharing", ""),
        )
    except (KeyError, Garbled) as error:
        raise Garbled(f"pbsnodes: node {name[:100]!r}: {error}") from error


def is_reservation_id(text: str) -> bool:
    """Whether it has the form of one."""
    return _RESERVATION_ID.fullmatch(text) is not None


def reservation(name: str, has: Mapping[str, str]) -> PbsReservation:
    """The reservation of that id, by its attributes.

    Raises:
        Garbled: it lacks what every reservation has.
    """
    try:
        start, end = _time(has["reserve_start"]), _time(has["reserve_end"])
        if not is_reservation_id(name) or start is None or end is None:
            raise Garbled("no id, or no times")
        return PbsReservation(
            id=name,
            name=has["Reserve_Name"],
            owner=has["Reserve_Owner"].partition("@")[0],
            state=has["reserve_state"],
            substate=_integer(has.get("reserve_substate")),
            start_time=start,
            end_time=end,
            created=_time(has.get("ctime", "")),
            queue=has.get("queue", name.partition(".")[0]),
            processors=_count(has.get("Resource_List.ncpus", "0")),
            vnodes=_vnodes(has.get("resv_nodes", "")),
        )
    except (KeyError, Garbled) as error:
        raise Garbled(f"pbs_rstat: reservation {name[:100]!r}: {error}") from error


def _vnodes(text: str) -> dict[str, int]:
    """`(n02:ncpus=2:mem=1kb)+(n03[0]:ncpus=2+n03[1]:ncpus=2)`: processors in each vnode."""
    held: dict[str, int] = {}
    for part in text.translate({ord("("): None, ord(")"): None}).split("+"):
        name, *resources = part.split(":")
        for resource in resources:
            if resource.startswith("ncpus="):
                held[name] = held.get(name, 0) + _count(resource.removeprefix("ncpus="))
    return held


def _hosts(text: str) -> tuple[str, ...]:
    """`n02/0*2+n03/0*2`: the hosts' names, each once."""
    names = (part.partition("/")[0] for part in text.split("+"))
    return tuple(dict.fromkeys(name for name in names if name))


def _count(text: str) -> int:
    if _COUNT.fullmatch(text) is None:
        raise Garbled(f"not a count: {text[:100]!r}")
    return int(text)


def _integer(text: str | None) -> int | None:
    return int(text) if text is not None and _WHOLE.fullmatch(text) else None


def _seconds(text: str) -> float | None:
    """A duration in seconds, `HH:MM:SS` or seconds; None for what is none."""
    found = _SECONDS.fullmatch(text)
    if found is None:
        return None
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(hours * 3600 + minutes * 60 + seconds)


def _time(text: str) -> float | None:
    """A time in Unix seconds (`Sat Nov 21 06:57:00 2026`, with TZ=UTC); None for what is none."""
    found = _DATE.fullmatch(text.strip())
    if found is None or found[1] not in _MONTHS or int(found[6]) < 1970:
        return None
    day, hour, minute, second, year = (int(part) for part in found.groups()[1:])
    year = min(year, _LAST_YEAR)
    month = _MONTHS.index(found[1]) + 1
    if not 1 <= day <= calendar.monthrange(year, month)[1]:
        return None
    return float(calendar.timegm((year, month, day, hour, minute, second)))
