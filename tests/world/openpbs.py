"""An OpenPBS server that answers commands in text, over a pure model of a cluster.

Only what the adapter asks of a real one; the forms of the answers are those that the recorded
outputs in `tests/data/openpbs` show. Reservations have ids here and their names are not unique: in
the model they are called `NAME#ID`.
"""

from __future__ import annotations

import calendar
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable

from metabroker.clusters.openpbs.commands import show_clients_file, tell_time, version
from metabroker.clusters.openpbs.parsing import NO_HISTORY
from metabroker.clusters.simulated.model import Denied, Model, SimulatedJob, State
from metabroker.clusters.transports.base import Command, Completed

from .controller import Meddling, is_ours, owner, shown
from .pbs_ralter import altered
from .pbs_rstat import listed, vnodes
from .pbs_states import state_of

_NODES = 4
OF_THE_CLIENT = (show_clients_file().argv, tell_time().argv, version().argv)
"""Commands that no server is asked for."""
UNREACHABLE = Completed(
    255, "", "Connection refused\nqstat: cannot connect to server (errno=15010)\n"
)
_REFUSALS = (
    (38, "would exceed complex's per-user limit"),
    (159, "Unauthorized Request"),
    (188, "Job violates queue and/or server resource limits"),
    (173, "Queue is not enabled"),
)


class Server:
    """One cluster's server; see `controller.Controller`. `history`: whether it remembers jobs that
    have ended."""

    def __init__(
        self,
        name: str,
        model: Model,
        taken: Callable[[SimulatedJob, Command], None],
        sized: Callable[[int], int],
        *,
        history: bool,
    ) -> None:
        self.name = name
        self.model = model
        self._taken = taken
        self._sized = sized
        self._history = history
        self._going: set[str] = set()  # reservations that are being deleted
        self._forges = model.processors % 2 == 0  # somebody does, in all listings of reservations
        self._next = 1
        self.unsettled_until = 0.0
        self.unseen: set[int] = set()
        self.cancels: Callable[[SimulatedJob], None] = lambda _job: None  # is told of each

    def started_again(self) -> None:
        """See `Controller.started_again`: its records are a database's."""

    def execute(self, command: Command, now: float) -> Completed:
        """Carry out one command."""
        self._let_go()
        argv = command.argv
        program = argv[0]
        if argv == ("qstat", "--version"):
            return _said("pbs_version = 23.06.06\n")
        if program == "date":
            return _said(f"{int(now)}\n")
        if argv in OF_THE_CLIENT:
            return _said("PBS_AUTH_METHOD=munge\n")
        if program in ("sh", "pbs_rstat"):
            return listed(
                argv, command.stdin, self._reservations(now), self.name if self._forges else None
            )
        if program == "qselect":
            return self._select(argv)
        if program == "qstat":
            return self._show(argv, now)
        if program == "pbsnodes":
            return self._nodes(argv, now)
        if program == "pbs_rsub":
            return self._reserve(argv, now)
        if program == "pbs_ralter":
            return altered(self._named, self.model, argv, now)
        if program == "pbs_rdel":
            return self._delete(argv[1:], now)
        if program == "qdel":
            return self._cancel(argv[1:], now)
        assert program == "qsub", program
        return self._submit(command, now)

    # --- reading ------------------------------------------------------------------------------

    def _select(self, argv: tuple[str, ...]) -> Completed:
        ended = "-x" in argv
        if ended and not self._history:
            return Completed(0, "", f"qselect: Server is {NO_HISTORY}\n")
        if "-s" in argv:
            jobs = (job for job in self.model.jobs.values() if job.id not in self.unseen)
            waiting = [job for job in jobs if job.state is State.PENDING]
            return _said("".join(f"{self._id(job)}\n" for job in waiting))
        name = argv[argv.index("-N") + 1] if "-N" in argv else None
        accounts = argv[argv.index("-u") + 1].split(",")
        lines = (
            f"{self._id(job)}\n"
            for job in self.model.jobs.values()
            if (ended or not job.state.ended) and name in (None, shown(job))
            if owner(job) in accounts and (name is not None or job.id not in self.unseen)
        )
        return _said("".join(lines))

    def _lines(self, now: float) -> Completed:
        lines = []
        for job in self.model.jobs.values():
            if job.state.ended:
                continue
            queue = self._named(job.reservation)[1].partition(".")[0] if job.reservation else "q"
            runs = job.state is State.RUNNING and job.start_time is not None
            limit = "--" if job.limit >= 1e9 else _clock(job.limit)
            since = _clock(now - (job.start_time or now)) if runs else "-- "
            lines.append(
                f"{self._id(job):15} root     {queue:8} a job      --  1 {job.processors:3}    -- "
                f" {limit} {'R' if runs else 'Q'} {since}"
            )
        head = f"\n{self.name}: \n--------- - -----\n"
        return _said(head + "".join(f"{line}\n" for line in lines) if lines else "")

    def _show(self, argv: tuple[str, ...], now: float) -> Completed:
        if "-B" in argv:
            return _said(json.dumps({"Server": {self.name: {"server_host": self.name}}}))
        if argv == ("qstat", "-a"):
            return self._lines(now)
        ended = "-x" in argv and self._history
        ids = argv[argv.index("dsv") + 1 :]
        found = [
            job
            for job in self.model.jobs.values()
            if not {self._id(job), str(job.id)}.isdisjoint(ids) and (ended or not job.state.ended)
        ]
        held = self._laid()
        status = 0 if len(found) == len(ids) else 153
        return Completed(status, "".join(f"{self._line(job, held)}\n" for job in found), "")

    def _line(self, job: SimulatedJob, held: dict[str, dict[str, int]]) -> str:
        state, substate, exit_status = state_of(job)
        fields: dict[str, object] = {
            "Job_Name": shown(job),
            "Job_Owner": f"{owner(job)}@{self.name}",
            "job_state": state,
            "substate": substate,
            "ctime": _date(job.submit_time),
            "mtime": _date(job.end_time or job.start_time or job.submit_time),
            "Resource_List.ncpus": job.processors,
            "Resource_List.walltime": int(job.limit),
        }
        if job.start_time is not None:
            fields["stime"] = _date(job.start_time)
            if exit_status is not None:
                fields["Exit_status"] = job.exit_code if job.exit_code is not None else exit_status
        if job.end_time is not None:
            fields["obittime"] = _date(job.end_time)
        if job.state is State.RUNNING:
            where = held.get(job.reservation or "") or held.get(self._id(job), {})
            fields["exec_host"] = "+".join(f"{node}/0" for node in where)
            fields["exec_vnode"] = vnodes(_part(where, job.processors))
        return f"Job Id: {self._id(job)}|" + "|".join(f"{k}={v}" for k, v in fields.items())

    def _nodes(self, argv: tuple[str, ...], now: float) -> Completed:
        begun = {key for key, r in self.model.reservations.items() if r.start <= now}
        assigned = dict.fromkeys(self._sizes(), 0)
        for key, where in self._laid().items():
            if key in begun or key not in self.model.reservations:
                for node, count in where.items():
                    assigned[node] += count
        down = self.model.down
        nodes: dict[str, dict[str, object]] = {}
        for node, total in self._sizes().items():
            off = down >= total
            down -= min(down, total)
            state = "offline" if off else "free"
            if now < self.unsettled_until:
                state = "state-unknown,down"
            nodes[node] = {
                "state": state,
                "resources_available.ncpus": total,
                "resources_assigned.ncpus": min(total, assigned[node]),
            }
        if argv[-1] == "json":
            return _said(json.dumps({"timestamp": int(now), "nodes": nodes}))
        lines = (
            f"Name={node}|" + "|".join(f"{key}={value}" for key, value in has.items())
            for node, has in nodes.items()
        )
        return _said("".join(f"{line}\n" for line in lines))

    def _reservations(self, now: float) -> dict[str, str]:
        """The blocks of all reservations, by their ids."""
        held = self._laid()
        blocks = {}
        for key, r in self.model.reservations.items():
            name, identity = self._named(key)
            state, substate = ("RESV_CONFIRMED", 2) if r.start > now else ("RESV_RUNNING", 5)
            if key in self._going:
                state, substate = "RESV_BEING_DELETED", 7
            blocks[identity] = (
                f"Resv ID: {identity}\nReserve_Name = {name}\nReserve_Owner = root@{self.name}\n"
                f"reserve_state = {state}\nreserve_substate = {substate}\n"
                f"reserve_start = {_date(r.start)}\nreserve_end = {_date(r.end)}\n"
                f"queue = {identity.partition('.')[0]}\nResource_List.ncpus = {r.processors}\n"
                f"resv_nodes = {vnodes(held.get(key, {}))}\nctime = {_date(now)}\n\n"
            )
        return blocks

    # --- writing ------------------------------------------------------------------------------

    def _reserve(self, argv: tuple[str, ...], now: float) -> Completed:
        name = argv[argv.index("-N") + 1]
        text = argv[argv.index("-R") + 1]
        start = float(calendar.timegm(time.strptime(text, "%Y%m%d%H%M.%S")))
        if start < now:
            return Completed(238, "", "pbs_rsub: Bad time specification(s)\n")
        identity = f"R{self._next}"
        self._next += 1
        size = max(1, min(self._sized(_processors(argv)), self.model.processors))
        end = start + int(argv[argv.index("-D") + 1])
        try:
            if now < self.unsettled_until:
                raise Denied("the nodes are not known yet")
            if start > now + 60:
                self.model.promise(f"{name}#{identity}", size, start, end, now)
            else:
                self.model.reserve(f"{name}#{identity}", size, start, end)
        except Denied:
            return _said(f"{identity}.{self.name} DENIED\n")
        return _said(f"{identity}.{self.name} CONFIRMED\n")

    def _delete(self, ids: tuple[str, ...], now: float) -> Completed:
        keys = {self._named(key)[1]: key for key in self.model.reservations}
        if not any(identity in keys for identity in ids):
            return Completed(236, "", "pbs_rdel: Unknown Reservation Id\n")
        for key in [keys[identity] for identity in ids if identity in keys]:
            if not is_ours(key):
                raise Meddling(f"P4: deletes {key}, which is not its own")
            self._going.add(key)
            for job in self.model.jobs.values():
                if job.reservation == key:
                    self._end(job, now)
        self._let_go()
        return _said("")

    def _cancel(self, ids: tuple[str, ...], now: float) -> Completed:
        found = [job for job in self.model.jobs.values() if self._id(job) in ids]
        for job in found:
            if not is_ours(job.name):
                raise Meddling(f"P4: cancels {job.name}, which is not its own")
            self.cancels(job)
            self._end(job, now)
        return _said("") if found else Completed(153, "", "qdel: Unknown Job Id\n")

    def _submit(self, command: Command, now: float) -> Completed:
        argv = command.argv
        queue = argv[argv.index("-q") + 1] if "-q" in argv else None
        keys = {self._named(key)[1].partition(".")[0]: key for key in self.model.reservations}
        if queue is not None and (queue not in keys or keys[queue] in self._going):
            return Completed(170, "", "qsub: Unknown queue\n")
        limit = next(w for w in argv if w.startswith("walltime=")).partition("=")[2]
        try:
            job = self.model.submit(
                argv[argv.index("-N") + 1],
                _processors(argv),
                float(limit),
                now,
                reservation=None if queue is None else keys[queue],
            )
        except Denied:
            return Completed(188, "", "qsub: Job violates queue and/or server resource limits\n")
        self._taken(job, command)
        return _said(f"{self._id(job)}\n")

    # --- what it knows ------------------------------------------------------------------------

    def _end(self, job: SimulatedJob, now: float) -> None:
        if job.state is State.PENDING:
            self.model.end(job, State.CANCELLED, now)
        elif job.state is State.RUNNING and "ending" not in job.extra:
            job.extra["ending"] = (State.CANCELLED, now)

    def _let_go(self) -> None:
        """What is being deleted is gone once nothing runs in it."""
        for key in list(self._going):
            jobs = self.model.jobs.values()
            if not any(job.reservation == key and not job.state.ended for job in jobs):
                self.model.reservations.pop(key, None)
                self._going.discard(key)

    def _id(self, job: SimulatedJob) -> str:
        return f"{job.id}.{self.name}"

    def _named(self, key: str) -> tuple[str, str]:
        name, _, identity = key.partition("#")
        return name, f"{identity or 'R999999'}.{self.name}"

    def _sizes(self) -> dict[str, int]:
        size = self.model.processors // _NODES
        first = self.model.processors - size * (_NODES - 1)
        return {f"{self.name}n{i}": size if i else first for i in range(_NODES)}

    def _laid(self) -> dict[str, dict[str, int]]:
        """Where reservations and other jobs are, from the last node on: those that take no jobs are
        the first ones."""
        left = dict(reversed(self._sizes().items()))
        reservations = self.model.reservations
        holders = [(key, r.processors, r.end) for key, r in reservations.items() if not r.ahead]
        holders += [
            (self._id(job), job.processors, (job.start_time or 0.0) + job.limit)
            for job in self.model.jobs.values()
            if job.state is State.RUNNING and job.reservation not in reservations
        ]
        all_of_it, found = Counter(left), dict[str, dict[str, int]]()
        for key, wanted, _until in holders:
            found[key] = _part(left, wanted)
            for node, count in found[key].items():
                left[node] -= count
        for key, r in sorted(reservations.items(), key=lambda each: each[1].start):
            if r.ahead:  # where nobody is now, then where nobody is any more by then
                idle = Counter(_part(left, r.processors))
                then, left = all_of_it - idle, Counter(left) - idle
                for other, _, until in holders:
                    then.subtract(found[other] if until > r.start else {})
                found[key] = idle + Counter(_part(+then, r.processors - idle.total()))
        return found


DENIALS = {  # of a black hole, each with words that nothing else here says
    "policy": (159, "Unauthorized Request, says the site's hook"),
    "association": (197, "Bad GID for job execution"),
    "unreachable": (162, "cannot connect to the hole"),
}


def denial(command: Command, how: str) -> Completed | None:
    """See `controller.denial`."""
    status, text = DENIALS[how]
    if command.argv[0] == "qsub" or (command.argv[0] == "pbs_rsub" and how == "unreachable"):
        return Completed(status, "", f"{command.argv[0]}: {text}\n")
    return None


def refusal(command: Command) -> Completed | None:
    """A no to a command that would change something, for no reason of ours."""
    if command.argv[0] == "qsub":
        name = command.argv[command.argv.index("-N") + 1]
        status, text = _REFUSALS[sum(name.encode()) % len(_REFUSALS)]
        return Completed(status, "", f"qsub: {text}\n")
    return _said("R0.c DENIED\n") if command.argv[0] == "pbs_rsub" else None


def _part(where: dict[str, int], wanted: int) -> dict[str, int]:
    found = {}
    for node, count in where.items():
        taken = min(count, wanted)
        wanted -= taken
        if taken:
            found[node] = taken
    return found


def _processors(argv: Iterable[str]) -> int:
    """Of `select=2:ncpus=8:mpiprocs=8+1:ncpus=3:mpiprocs=3`."""
    (text,) = (word for word in argv if word.startswith("select="))
    total = 0
    for chunk in text.removeprefix("select=").split("+"):
        count, *resources = chunk.split(":")
        (each,) = (r.partition("=")[2] for r in resources if r.startswith("ncpus="))
        total += int(count) * int(each)
    return total


def _date(moment: float) -> str:
    return time.strftime("%a %b %d %H:%M:%S %Y", time.gmtime(moment))


def _said(text: str) -> Completed:
    return Completed(0, text, "")


def _clock(seconds: float) -> str:
    """As PBS shows a duration: hours and minutes."""
    minutes = int(max(0.0, seconds) // 60)
    return f"{minutes // 60:02}:{minutes % 60:02}"
