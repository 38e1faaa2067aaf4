"""Jobs as Slurm's commands speak of them, from what the daemon tells."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from metabroker.api.client import JOBS_AT_ONCE, Client
from metabroker.submission.patterns import expand

Json = dict[str, Any]
CLUSTER = DEFAULT_PARTITION = "metabroker"
"""What all clusters together are called, and a partition of all of them."""
KEPT = 86400.0
"""Seconds that ended jobs are shown, where Slurm has MinJobAge."""
_SIGNALS = (
    64  # how many there are; a shell adds 128 to one's number, and a script may end with more
)
# State: Slurm's word, its short form, and its place in Slurm's own order of states.
_STATES = {
    "QUEUED": ("PENDING", "PD", 0),
    "HELD": ("PENDING", "PD", 0),
    "RESERVING": ("PENDING", "PD", 0),
    "SUBMITTING": ("PENDING", "PD", 0),
    "WAITING": ("PENDING", "PD", 0),
    "RUNNING": ("RUNNING", "R", 1),
    "COMPLETED": ("COMPLETED", "CD", 3),
    "CANCELLED": ("CANCELLED", "CA", 4),
    "FAILED": ("FAILED", "F", 5),
    "TIMEOUT": ("TIMEOUT", "TO", 6),
}
_SHORT = {
    "PENDING": "PD", "RUNNING": "R", "SUSPENDED": "S", "COMPLETED": "CD", "CANCELLED": "CA",
    "FAILED": "F", "TIMEOUT": "TO", "NODE_FAIL": "NF", "PREEMPTED": "PR", "BOOT_FAIL": "BF",
    "DEADLINE": "DL", "OUT_OF_MEMORY": "OOM", "COMPLETING": "CG", "CONFIGURING": "CF",
    "RESIZING": "RS", "RESV_DEL_HOLD": "RD", "REQUEUED": "RQ", "REQUEUE_FED": "RF",
    "REQUEUE_HOLD": "RH", "REVOKED": "RV", "SIGNALING": "SI", "SPECIAL_EXIT": "SE",
    "STAGE_OUT": "SO", "STOPPED": "ST",
}  # fmt: skip


@dataclass(frozen=True)
class Record:
    """One job. Times in Unix seconds; `now`: by the daemon's clock; `others`: the jobs that it
    waits for (see `dependencies`)."""

    json: Mapping[str, Any]
    default_partition: str
    now: float
    others: Mapping[int, Record] = field(default_factory=dict)

    @property
    def id(self) -> int:
        return int(self.json["job"])

    @property
    def name(self) -> str:
        return str(self.json["name"])

    @property
    def user(self) -> str:
        return str(self.json["user"])

    @property
    def state(self) -> str:
        """Slurm's word for it."""
        return _STATES[self.json["state"]][0]

    @property
    def short_state(self) -> str:
        return _STATES[self.json["state"]][1]

    @property
    def rank(self) -> int:
        """Its place in Slurm's order of states."""
        return _STATES[self.json["state"]][2]

    @property
    def pending(self) -> bool:
        return self.rank == 0

    @property
    def ended(self) -> bool:
        return self.rank > 1

    @property
    def reason(self) -> str:
        """One of Slurm's words for why it waits, or how it failed."""
        state = self.json["state"]
        if state == "HELD":
            return "JobHeldUser"
        waits = self.json.get("dependency")
        if waits and (state == "QUEUED" or waits["never"]):
            return "DependencyNeverSatisfied" if waits["never"] else "Dependency"
        if state == "QUEUED" and self.json.get("limited"):
            return "JobArrayTaskLimit"
        if state == "QUEUED":
            position = self.json.get("position")  # None: for others' jobs it does not wait
            return "None" if position is None else "Priority" if position else "Resources"
        if self.pending:
            return "Resources"
        if state == "FAILED":
            if self.json["exit_code"] is None:  # no script of it has told of its end
                return "JobLaunchFailure" if self.json["start_time"] is None else "None"
            return "JobLaunchFailure" if self.exit_code[1] else "NonZeroExitCode"
        return "TimeLimit" if state == "TIMEOUT" else "None"

    def asked(self, option: str) -> str | None:
        """What its user asked for by an option of sbatch; None: nothing."""
        spec = self.json.get("spec") or {}
        given = [each["value"] for each in spec.get("asked") or () if each["option"] == option]
        return None if not given else str(given[-1] or "")

    def spec(self, key: str) -> str:
        return str((self.json.get("spec") or {}).get(key) or "")

    @property
    def partition(self) -> str:
        """As it was asked for: several, with commas, where any of them will do."""
        return self.asked("partition") or self.default_partition

    @property
    def processors(self) -> int:
        return int(self.json["processors"])

    @property
    def cpus_per_task(self) -> int:
        return int(self.json["shape"].get("cpus_per_task", 1))

    @property
    def tasks(self) -> int:
        return self.processors // self.cpus_per_task

    @property
    def hosts(self) -> list[str]:
        """Its nodes, once it runs."""
        return [host for part in self.json["components"] for host in part["hosts"]]

    @property
    def nodes(self) -> int:
        """How many it has, or needs at least as far as is known."""
        return len(self.hosts) or max(1, number_asked(self, "nodes"), len(self.json["components"]))

    @property
    def limit(self) -> int:
        """Seconds; Slurm counts in minutes."""
        return -(-int(self.json["time_limit"]) // 60) * 60

    @property
    def submitted(self) -> float:
        return float(self.json["submit_time"])

    @property
    def started(self) -> float | None:
        """When it started; of one that waits, when it is planned or expected to."""
        if self.json["start_time"] is not None or not self.pending:
            start = self.json["start_time"]
            return _time(self.json["end_time"] if start is None else start)
        if (plan := self.json.get("plan")) is not None:
            return float(plan["start"])
        expected = self.json.get("expected_start")
        return None if not expected else _time(expected["likely"])

    @property
    def ends(self) -> float | None:
        """When it ended, or will at the latest."""
        if self.json["end_time"] is not None:
            return float(self.json["end_time"])
        started = _time(self.json["start_time"])
        return None if started is None else started + self.limit

    @property
    def used(self) -> float:
        """For how long it has run."""
        started, ended = _time(self.json["start_time"]), _time(self.json["end_time"])
        if started is None:
            return 0.0
        return max(0.0, (self.now if ended is None else ended) - started)

    @property
    def exit_code(self) -> tuple[int, int]:
        """Its exit code and the signal that ended it, as Slurm has them."""
        if ended_well(self):
            return 0, 0
        code = self.json["exit_code"]
        if self.state == "TIMEOUT":
            return 0, 15
        if code is None:
            ran = self.json["start_time"] is not None
            return (0, 15) if ran and self.state == "CANCELLED" else (0, 0)
        return (0, code - 128) if 128 < code <= 128 + _SIGNALS else (code, 0)

    def path(self, key: str) -> str:
        """The file of its output, or of its errors, as it was named."""
        text = self.spec(key) or self.spec("output")
        folder = self.spec("chdir")
        array, task = self.json.get("array_job"), self.json.get("array_task")
        of = None if array is None else (int(array), int(task or 0))
        text = text or ("metabroker-%j.out" if of is None else "metabroker-%A_%a.out")
        text = expand(text, self.id, 0, self.name, self.user, of)
        return text if text.startswith("/") else f"{folder}/{text}"

    def in_one_of(self, clusters: str | None) -> bool:
        """Whether it is in one of these clusters (`all`, or None: any), as far as that is known."""
        if clusters in (None, "all"):
            return True
        names = (clusters or "").split(",")
        return any(part["cluster"] in names for part in self.json["components"])


def ended_well(job: Record) -> bool:
    """Whether its script ended with exit code 0, also where it was told to end."""
    parts = job.json["components"]
    return job.ended and bool(parts) and all(part.get("exit_code") == 0 for part in parts)


def in_a_partition(job: Record, names: str | None) -> bool:
    """Whether one of these (with commas between) is one that it may be in, or is."""
    wanted = set(filter(None, (names or "").split(",")))
    return not wanted.isdisjoint(job.partition.split(","))


def _time(value: Any) -> float | None:
    return None if value is None else float(value)


def records(
    client: Client,
    *,
    jobs: Sequence[int] | None = None,
    user: str | None = None,
    since: float | None = None,
) -> list[Record]:
    """These jobs, or those that have not ended or have since then, in the order of their numbers.

    Raises:
        ClientError: the daemon does not tell.
    """
    told: dict[int, Json] = {}  # a task is told of with its array, and where it is asked about
    for some in _pieces(jobs):
        answer = client.get("records", jobs=some, user=user, since=since)
        told |= {job["job"]: job for job in answer["jobs"]}
    partition = answer.get("partition") or DEFAULT_PARTITION
    found = [Record(job, partition, answer["time"]) for job in _with_limits([*told.values()])]
    return sorted(found, key=lambda each: each.id)


def _pieces(jobs: Sequence[int] | None) -> list[str | None]:
    """The jobs as the daemon is asked about them; None: any."""
    if jobs is None:
        return [None]
    numbers = list(dict.fromkeys(jobs))  # one array's, as often as its tasks are named
    firsts = range(0, max(1, len(numbers)), JOBS_AT_ONCE)
    return [",".join(map(str, numbers[first : first + JOBS_AT_ONCE])) for first in firsts]


def cpus_per_node(job: Record) -> int:
    """At least so many processors are needed on each of its nodes."""
    return job.cpus_per_task * max(1, number_asked(job, "ntasks-per-node"))


def number_asked(job: Record, option: str) -> int:
    """The number that its user's word for an option begins with; 0: with none. Words come from all
    users, and a cluster may not have judged them yet: none may keep others from being shown."""
    found = re.match(r"\s*([+-]?[0-9]{1,18})(?![0-9])", job.asked(option) or "", re.ASCII)
    return 0 if found is None else int(found[1])


def _with_limits(jobs: list[Json]) -> list[Json]:
    """Tasks know how many of their array are under way at once."""
    limits = {job["job"]: job["array"]["most"] for job in jobs if job.get("array")}
    if not any(limits.values()):
        return jobs
    return [{**job, "most": limits.get(job.get("array_job"), 0)} for job in jobs]


def state_word(text: str) -> str | None:
    """Slurm's full word for a state; None: it has no such."""
    word = text.strip().upper()
    if word in _SHORT:
        return word
    return next((full for full, short in _SHORT.items() if short == word), None)


def user_names(text: str) -> list[str]:
    """Users of a list, who may be given by number."""
    import pwd

    found = []
    for word in filter(None, text.split(",")):
        if word.isascii() and word.isdigit():
            try:
                word = pwd.getpwuid(int(word[:20])).pw_name
            except (KeyError, OverflowError):
                continue
        found.append(word)
    return found


def own_user(way: Client) -> str:
    """Whoever asks, as the daemon knows it: on another host that is whoever the token is for, and
    a user that this host has no name for may have one there. Raises `ClientError`."""
    here = [] if os.environ.get("METABROKER_URL") else user_names(str(os.geteuid()))
    return here[0] if here else str(way.get("whoami")["user"])


def uid_of(user: str) -> str:
    """A user's number; the name where this host does not know it."""
    import pwd

    try:
        return str(pwd.getpwnam(user).pw_uid)
    except KeyError:
        return user


def whose(names: Iterable[str] | None) -> str | None:
    """The one user whom the daemon can be asked about; None: all."""
    known = list(names or ())
    return known[0] if len(known) == 1 else None
