"""A Slurm controller that answers commands in text, over a pure model of a cluster.

Only what the adapter asks of a real one; the forms of the answers are those that the recorded
outputs in `tests/data/slurm` show.
"""

from __future__ import annotations

from collections.abc import Callable

from metabroker.clusters.simulated.model import Denied, Model, SimulatedJob, State
from metabroker.clusters.slurm.parsing import (
    JOB_COLUMNS,
    JOB_FORMAT,
    MARKED_COLUMNS,
    NODE_FORMAT,
    SEPARATOR,
    UNTIL_FORMAT,
    USE_COLUMNS,
    USE_FORMAT,
    WAITING_FORMAT,
)
from metabroker.clusters.slurm.states import RESERVATION_GONE
from metabroker.clusters.transports.base import Command, Completed

from .suspending import is_suspended

_NODES = 4
FOREIGN = "mb-ffffffff-1-1"


class Meddling(Exception):
    """The broker has touched what is not its own."""


def is_ours(name: str) -> bool:
    """Whether a name is one of the tokens of the broker under test."""
    return name.startswith("mb-") and not name.startswith(FOREIGN)


def of_the_account(job: SimulatedJob) -> bool:
    """Whether a job is of the account that the brokers run under."""
    return job.name.startswith("mb-") or "account" in job.extra


def owner(job: SimulatedJob) -> str:
    """The account that a job is of."""
    return str(job.extra.get("owner", "root" if of_the_account(job) else "someone"))


def shown(job: SimulatedJob) -> str:
    """The name that the controller shows: somebody may have renamed the job."""
    return str(job.extra.get("renamed", job.name))


class Controller:
    """One cluster's controller. `taken` is told of each job whose submission it takes; `sized`
    says how many processors a reservation gets for those that were asked for."""

    def __init__(
        self,
        name: str,
        model: Model,
        taken: Callable[[SimulatedJob, Command], None],
        sized: Callable[[int], int],
    ) -> None:
        self.name = name
        self.model = model
        self._taken = taken
        self._sized = sized
        self.unsettled_until = 0.0
        self.unknown: Callable[[str], bool] = lambda _account: False  # on the commands' host
        self.cancels: Callable[[SimulatedJob], None] = lambda _job: None  # is told of each
        self.laid_out: dict[str, tuple[str, str]] = {}  # reservations on nodes: which, their cores
        self.unseen: set[int] = set()  # jobs that listings leave out
        self.gone: set[int] = set()  # ended jobs that it tells only of that their reservation is
        # Of a core: as 22.05, it counts both for a reservation where only one is a processor.
        self._threads = 1 + model.processors % 2
        self._kept = model.processors // 2 % 2  # processors of each node that no job gets

    def started_again(self) -> None:
        """What a controller makes of its own records when it starts."""
        self.gone |= {
            job.id
            for job in self.model.jobs.values()
            if job.state.ended
            and job.reservation
            and job.reservation not in self.model.reservations
        }

    def execute(self, command: Command, now: float) -> Completed:
        """Carry out one command."""
        program = command.argv[0]
        if program == "squeue":
            return self._squeue(command.argv)
        if program == "sinfo":
            return self._sinfo(command.argv, now)
        if program == "sbatch":
            return self._sbatch(command, now)
        if program == "scancel":
            return self._scancel(command, now)
        assert program == "scontrol", program
        words = dict(w.split("=", 1) for w in command.argv if "=" in w)
        if "create" in command.argv:
            return self._create(words, now)
        if "update" in command.argv:
            return self._move(words, now)
        if "delete" in command.argv:
            return self._delete(words["ReservationName"])
        if "partition" in command.argv or "node" in command.argv:
            return self._kept_for_the_system("node" in command.argv)
        if command.argv[2] == "config":
            return _said(f"Configuration data as of {int(now)}\n")
        return self._show(command.argv)

    # --- reading ------------------------------------------------------------------------------

    def _squeue(self, argv: tuple[str, ...]) -> Completed:
        form = argv[argv.index("-o") + 1]
        if form == WAITING_FORMAT:
            return self._waiting_or_running()
        if form == UNTIL_FORMAT:
            return self._until()
        mark = form.removesuffix(SEPARATOR + SEPARATOR.join(MARKED_COLUMNS))
        assert form in (JOB_FORMAT, USE_FORMAT) or mark != form
        accounts = argv[argv.index("-u") + 1].split(",") if "-u" in argv else None
        nobody = next((name for name in accounts or () if self.unknown(name)), None)
        if nobody is not None:
            return _failed(f"squeue: error: Invalid user: {nobody}")
        name = argv[argv.index("-n") + 1] if "-n" in argv else None
        inside = argv[argv.index("-R") + 1].split(",") if "-R" in argv else None
        native_id = argv[argv.index("-j") + 1] if "-j" in argv else None
        if native_id is not None and int(native_id) not in self.model.jobs:
            return _failed("slurm_load_jobs error: Invalid job id specified")
        lines = []
        for job in self.model.jobs.values():
            if accounts is not None and owner(job) not in accounts:
                continue
            if name is None and native_id is None and job.id in self.unseen:
                continue
            if native_id is not None and str(job.id) != native_id:
                continue
            if (name is not None and shown(job) != name) or (
                inside is not None and job.reservation not in inside
            ):
                continue
            columns = self._job_line(job)
            if form == USE_FORMAT:
                columns = tuple(columns[JOB_COLUMNS.index(c)] for c in USE_COLUMNS)
            if mark != form:
                columns = (mark, owner(job), columns[0], *columns[2:], columns[1])
            lines.append(SEPARATOR.join(columns))
        return _said("\n".join(lines) + "\n" if lines else "")

    def _waiting_or_running(self) -> Completed:
        rows = []
        seen = (j for j in self.model.jobs.values() if j.id not in self.unseen)
        for place, job in enumerate(j for j in seen if not j.state.ended):
            pending = job.state is State.PENDING
            limit = "UNLIMITED" if job.limit >= 1e9 else f"{int(job.limit / 60)}:00"
            ends = None if job.start_time is None else job.start_time + job.limit
            rows.append(
                (
                    *(str(job.id), str(job.processors), str(1000 - place)),
                    *("Resources" if pending else "None", job.state.value, limit),
                    *(_time(ends if job.limit < 1e9 else None), job.reservation or "(null)"),
                    _time(job.submit_time),
                )
            )
        return _said("".join(f"{SEPARATOR.join(row)}\n" for row in rows))

    def _until(self) -> Completed:
        """Of jobs on some nodes; here none may have a reservation's processors that is no model's
        matter (see `Model.move`)."""
        return _said("")

    def _job_line(self, job: SimulatedJob) -> tuple[str, ...]:
        word = "COMPLETING" if job.extra.get("ending") and not job.state.ended else job.state.value
        if job.extra.get("ending") and job.state is State.PENDING:
            word = "PENDING"
        if is_suspended(job):
            word = "SUSPENDED"
        if job.id in self.gone:
            word = RESERVATION_GONE
        return (
            str(job.id), shown(job), word, str(job.processors),
            f"{self.name}n1" if job.state is State.RUNNING else "",
            "Resources" if job.state is State.PENDING else "None",
            str(int(job.submit_time)), _time(job.start_time), _time(job.end_time),
            job.reservation or "(null)",
        )  # fmt: skip

    def _sinfo(self, argv: tuple[str, ...], now: float) -> Completed:
        if "--version" in argv:
            return _said("slurm 22.05.8\n")
        assert argv[argv.index("-o") + 1] == NODE_FORMAT
        size = self.model.processors // _NODES
        busy = self.model.held_by_jobs()
        down = self.model.down
        lines = []
        for index in range(_NODES):
            total = size if index else self.model.processors - size * (_NODES - 1)
            other = min(total, down)
            down -= other
            used = min(total - other, busy)
            busy -= used
            state = "drained" if other == total else "mixed" if used else "idle"
            if now < self.unsettled_until:
                state = "unknown"
            kept, out = self._kept, other == total
            idle, other = total - used - other + kept * (not out), other + kept * out
            counts = f"{used}/{idle}/{other}/{total + kept}"
            columns = (f"{self.name}n{index}", state, counts, "batch*", "up")
            cores = (str(total + kept), "1", str(total + kept), str(self._threads))
            lines.append(SEPARATOR.join((*columns, *cores, "65536", "(null)")))
        return _said("\n".join(lines) + "\n")

    def _kept_for_the_system(self, of_nodes: bool) -> Completed:
        size, kept = self.model.processors // _NODES, self._kept
        if not of_nodes:
            sizes = f"TotalCPUs={self.model.processors + kept * _NODES} TotalNodes={_NODES}"
            tres = f"TRES=cpu={self.model.processors},node={_NODES}"
            return _said(f"PartitionName=batch x=y Nodes={self.name}n[0-3] {sizes} {tres}\n")
        totals = [self.model.processors - size * (_NODES - 1)] + [size] * (_NODES - 1)
        return _said(
            "".join(
                f"NodeName={self.name}n{n} CPUAlloc=0 CPUEfctv={total} CPUTot={total + kept} x=y\n"
                for n, total in enumerate(totals)
            )
        )

    def _show(self, argv: tuple[str, ...]) -> Completed:
        wanted = argv[4] if len(argv) > 4 else None
        lines = []
        for name, reservation in self.model.reservations.items():
            if wanted not in (None, name):
                continue
            nodes, cores = self.laid_out.get(name, (f"{self.name}n[0-3]", ""))
            each = zip(nodes.split(","), cores.split(","), strict=True) if cores else ()
            told = " ".join(f"NodeName={node} CoreIDs=0-{int(n) - 1}" for node, n in each)
            lines.append(
                f"ReservationName={name} StartTime={int(reservation.start)} "
                f"EndTime={int(reservation.end)} Duration=00:05:00 Nodes={nodes} "
                f"NodeCnt=4 CoreCnt={reservation.processors} Features=(null) PartitionName=batch "
                f"Flags={'MAINT' if name.startswith('maintenance') else ''} {told} "
                f"TRES=cpu={reservation.processors * self._threads} "
                "Users=root Groups=(null) Accounts=(null) Licenses=(null) "
                f"State={'INACTIVE' if reservation.ahead else 'ACTIVE'} "
                "BurstBuffer=(null)"
            )
        if wanted is not None and not lines:
            return Completed(1, f"Reservation {wanted} not found\n", "")
        return _said("\n".join(lines) + "\n" if lines else "No reservations in the system\n")

    # --- writing ------------------------------------------------------------------------------

    def _sbatch(self, command: Command, now: float) -> Completed:
        words = dict(w.split("=", 1) for w in command.argv if "=" in w)
        try:
            job = self.model.submit(
                words["--job-name"],
                int(words["--ntasks"]) * int(words.get("--cpus-per-task", 1)),
                int(words["--time"]) * 60.0,
                now,
                reservation=words.get("--reservation"),
            )
        except Denied as denied:
            return _failed(f"sbatch: error: Batch job submission failed: {denied}")
        self._taken(job, command)
        return _said(f"{job.id}\n")

    def _scancel(self, command: Command, now: float) -> Completed:
        argv, account = command.argv, command.account
        if "-n" in argv:
            name = argv[argv.index("-n") + 1]
            jobs = [job for job in self.model.named(name) if shown(job) == name]
        else:
            jobs = [job for job in self.model.jobs.values() if str(job.id) == argv[-1]]
            name = jobs[0].name if jobs else "mb-"
        if not is_ours(name):
            raise Meddling(f"P4: cancels {name}, which is not its own")
        for job in jobs:
            if account is not None and owner(job) != account:
                continue
            self.cancels(job)
            if job.state is State.PENDING:
                self.model.end(job, State.CANCELLED, now)
            elif job.state is State.RUNNING and "ending" not in job.extra:
                job.extra["ending"] = (State.CANCELLED, now)
        return _said("")

    def _create(self, words: dict[str, str], now: float) -> Completed:
        name = words["ReservationName"]
        if self.unknown(words["Users"]):
            return _failed("Error creating the reservation: Invalid user id")
        if now < self.unsettled_until:
            return _failed("Error creating the reservation: Requested nodes are busy")
        if name in self.model.reservations:
            return _failed("Error creating the reservation: Duplicate reservation name")
        try:
            minutes = int(words.get("Duration", 0))
            asked = sum(int(count) for count in words["CoreCnt"].split(","))
            size = min(self._sized(asked), self.model.processors)
            if words["StartTime"] == "now":
                self.model.reserve(name, max(1, size), now, now + minutes * 60)
            else:
                start = float(words["StartTime"].removeprefix("uts"))
                end = float(words["EndTime"].removeprefix("uts"))
                self.model.promise(name, max(1, size), start, end, now)
        except Denied:
            return _failed("Error creating the reservation: Requested nodes are busy")
        if "Nodes" in words:
            self.laid_out[name] = words["Nodes"], words["CoreCnt"] if size == asked else ""
        return _said(f"Reservation created: {name}\n")

    def _move(self, words: dict[str, str], now: float) -> Completed:
        name = words["ReservationName"]
        start, end = (words.get(key, "").removeprefix("uts") for key in ("StartTime", "EndTime"))
        if not is_ours(name):
            raise Meddling(f"P4: moves {name}, which is not its own")
        try:
            if start:
                self.model.move(name, float(start), now)
            else:
                self.model.end_reservation(name, float(end), now)
        except Denied:
            return _failed("Error updating the reservation: Requested nodes are busy")
        return _said("Reservation updated.\n")

    def _delete(self, name: str) -> Completed:
        if not is_ours(name):
            raise Meddling(f"P4: deletes {name}, which is not its own")
        if name not in self.model.reservations:
            return _failed(
                f"delete_reservation ReservationName={name}: Requested reservation is invalid"
            )
        try:
            self.model.unreserve(name)
        except Denied:
            return _failed(
                f"delete_reservation ReservationName={name}: Requested reservation is in use"
            )
        return _said("")


_FAILED = "sbatch: error: Batch job submission failed: "
_POLICY = f"{_FAILED}Job violates accounting/QOS policy"
DENIALS = {  # of a black hole, each with words that nothing else here says
    "policy": f"{_POLICY} (job submit limit, user's size and/or time limits)",
    "association": f"{_FAILED}Invalid account or account/partition combination specified",
    "unreachable": f"{_FAILED}Unable to contact slurm controller (connect failure)",
}
_REFUSALS = (
    _POLICY,
    f"sbatch: error: AssocMaxSubmitJobLimit\n{_POLICY}",
    "sbatch: error: Batch job submission failed: Requested partition configuration not available "
    "now",
    "sbatch: error: Batch job submission failed: Invalid qos specification",
)


def denial(command: Command, how: str) -> Completed | None:
    """A black hole's no to what would be submitted; also to reservations, if it is not reached."""
    if command.argv[0] == "sbatch" or ("create" in command.argv and how == "unreachable"):
        return _failed(DENIALS[how])
    return None


def refusal(command: Command) -> Completed | None:
    """A no to a command that would change something, for no reason of ours."""
    if command.argv[0] == "sbatch":
        # Which of them depends on the job's name alone, so that a seed replays.
        name = next(word for word in command.argv if word.startswith("--job-name="))
        return _failed(_REFUSALS[sum(name.encode()) % len(_REFUSALS)])
    if "create" in command.argv:
        return _failed("Error creating the reservation: Requested nodes are busy")
    if "delete" in command.argv:
        return _failed("delete_reservation: Requested reservation is in use")
    return None


def _said(text: str) -> Completed:
    return Completed(0, text, "")


def _failed(text: str) -> Completed:
    return Completed(1, "", text + "\n")


def _time(moment: float | None) -> str:
    return "N/A" if moment is None else str(int(moment))
