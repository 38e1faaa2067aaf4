"""The argument vectors of PBS's commands. No text of a user is ever read by a shell unquoted."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass

from metabroker.clusters.gate import is_signal
from metabroker.clusters.port import ComponentRequest, ReserveRequest
from metabroker.clusters.transports.base import Command
from metabroker.submission.chunks import Layout, is_layout
from metabroker.submission.shape import Shape

# Times are printed, and read, in the zone of the client.
_ENV = (("TZ", "UTC"), ("LC_ALL", "C"))


@dataclass(frozen=True, slots=True)
class PbsIdentity:
    """Under whose name, and where, jobs go. `chunk`: what each processor needs beside itself;
    `unit`: processors of a node, where only whole nodes are given; `native`: options of qsub that
    every job is given; `operator`: the account that commands run under and that reserves, if it is
    another one than `user`, as which jobs are submitted and deleted then."""

    user: str
    queue: str | None = None
    account: str | None = None
    project: str | None = None
    chunk: str | None = None
    unit: int = 1
    native: tuple[str, ...] = ()
    operator: str | None = None

    @property
    def owner(self) -> str:
        """The account that reserves."""
        return self.operator or self.user

    @property
    def acting_for(self) -> str | None:
        """The account that commands on jobs run as, if that is another one."""
        return self.user if self.operator is not None else None


_OF_NO_SERVER = frozenset({"sh", "date", "sudo"})


def _command(*argv: str, stdin: bytes = b"", account: str | None = None) -> Command:
    return Command(argv, stdin=stdin, env=_ENV, account=account)


def version() -> Command:
    """Which release the commands are."""
    return _command("qstat", "--version")


def tell_time() -> Command:
    """What time it is on the commands' host."""
    return _command("date", "+%s")


def show_server() -> Command:
    """The server's attributes; its JSON tells what time it is on the commands' host."""
    return _command("qstat", "-B", "-f", "-F", "json")


def show_clients_file() -> Command:
    """What the clients are told: the server's port, which it does not tell itself, and how they
    prove who asks."""
    return Command(("sh", "-c", 'cat -- "${PBS_CONF_FILE:-/etc/pbs.conf}"'))


def show_queue(name: str) -> Command:
    """One queue's attributes."""
    return _command("qstat", "-Q", "-f", "-F", "json", name)


def name_host() -> Command:
    """What the commands' host calls itself."""
    return _command("sh", "-c", "uname -n")


def select_live(user: str, token: str | None = None) -> Command:
    """Ids of an account's jobs that are not over; of one token's, if that is given."""
    return _command("qselect", "-u", user, *(("-N", token) if token else ()))


def select_waiting(queue: str | None) -> Command:
    """Ids of anybody's jobs that wait for processors in a queue, or in all."""
    return _command("qselect", "-s", "Q", *(("-q", queue) if queue else ()))


def show_queue_lines() -> Command:
    """A line for each job of anybody's that is not over; with it, how large it is and how long."""
    return _command("qstat", "-a")


def select_ended(user: str, since: float) -> Command:
    """Ids of an account's jobs that changed since then (Unix seconds), ended ones too."""
    return _command("qselect", "-x", "-u", user, "-t", f"m.gt.{_date(since)}")


def select_all(user: str, token: str) -> Command:
    """Ids of one token's jobs, ended ones too; none where the server keeps no history."""
    return _command("qselect", "-x", "-u", user, "-N", token)


def show_jobs(ids: Sequence[str], *, history: bool) -> Command:
    """Jobs by their ids. JSON would tell of the first one only (in builds after 23.06.06), or be
    made invalid by somebody else's job if all were asked for. `-x` shows nothing at all where the
    server keeps no history. `-E`: all over one connection; else each id takes one of its own and
    another to prove who asks, and after some 500 ids in a minute a host has no port left for that.
    """
    return _command("qstat", "-E", *(("-x",) if history else ()), "-f", "-F", "dsv", *ids)


def list_nodes(form: str) -> Command:
    """All vnodes, as `json` or `dsv`."""
    return _command("pbsnodes", "-a", "-v", "-F", form)


def list_reservation_ids() -> Command:
    """The ids of all reservations, of anybody, and nothing that a user can write."""
    return _command("pbs_rstat", "-B")


def list_reservations(identity: str | None = None) -> Command:
    """All reservations, of anybody; or one."""
    return _command("pbs_rstat", "-F", *((identity,) if identity else ()))


_EACH = 'read -r mark; for each; do echo "$mark $each"; pbs_rstat -F "$each" </dev/null; done'
_OF_EACH = ("sh", "-c", _EACH, "sh")


def show_reservations(ids: Sequence[str], mark: str) -> Command:
    """Reservations one by one, each below a line of the mark and its id. The mark is read: who can
    see the command's arguments does not see it."""
    return _command(*_OF_EACH, *ids, stdin=f"{mark}\n".encode())


def questions(asked: Command) -> int:
    """How many connections to the server the command makes."""
    if asked.argv[: len(_OF_EACH)] == _OF_EACH:
        return len(asked.argv) - len(_OF_EACH)
    return int(asked.argv[0] not in _OF_NO_SERVER)


def reserve(who: PbsIdentity, request: ReserveRequest, start: float, patience: int) -> Command:
    """A reservation from `start` (Unix seconds); it is given `patience` seconds to be confirmed,
    and is deleted if it is not by then (the minus)."""
    return _command(
        *("pbs_rsub", "-I", f"-{patience}", "-N", request.token),
        *("-R", _date(start), "-D", str(max(1, request.seconds))),
        *("-l", _select(who, request.tasks or request.processors, request.shape)),
        *("-l", _place(who, request.shape)),
        *(("-U", who.user) if who.operator is not None else ()),
    )


def alter_reservation(
    identity: str, patience: int, *, start: float | None = None, end: float | None = None
) -> Command:
    """Another start, or another end, of a reservation (Unix seconds); what it has not been given
    after `patience` seconds is not known."""
    starts = () if start is None else ("-R", _date(start))
    ends = () if end is None else ("-E", _date(end))
    return _command("pbs_ralter", "-I", str(patience), *starts, *ends, identity)


def delete_reservations(ids: Sequence[str]) -> Command:
    """Delete reservations."""
    return _command("pbs_rdel", *ids)


def cancel(ids: Sequence[str], account: str | None = None) -> Command:
    """End jobs."""
    return _command("qdel", *ids, account=account)


def submit(
    who: PbsIdentity, request: ComponentRequest, script: bytes, queue: str | None
) -> Command:
    """Submit a component's job; the user's own options come first, so that ours win.

    `-f`: in this process, and not in one in the background that goes on when this one is killed.
    `-C ''`: the script's comments are not read for options.
    """
    native, layout = request.native, Layout.of(request.native)
    place = _place(who, request.shape, apart=layout is not None)
    words = [
        *("qsub", "-f", "-C", "", "-m", "n"),
        *who.native,
        *(word for word in native if not is_layout(word) and not is_signal(word)),
        *("-N", request.token, "-S", "/bin/sh", "-r", "n", "-o", "/dev/null", "-e", "/dev/null"),
        *("-l", _select(who, request.tasks, request.shape, layout), "-l", place),
        # Without one a job counts as five years long, and nothing is reserved in front of it.
        *("-l", f"walltime={max(1, request.seconds)}"),
    ]
    for option, value in (("-A", who.account), ("-P", who.project)):
        if value is not None and not _given(native, option):
            words += [option, value]
    if queue is not None and (request.reservation or not _given(native, "-q")):
        words += ["-q", queue]
    return _command(*words, stdin=_with_outputs(request, script), account=who.acting_for)


def _with_outputs(request: ComponentRequest, script: bytes) -> bytes:
    """The script, after the steps that PBS has no options for: a working folder, and outputs that
    are written where they belong while it runs (PBS would copy them there afterwards)."""
    error = "&1" if request.error is None else f">{shlex.quote(request.error)}"
    folder = shlex.quote(request.chdir)
    head = (
        "#!/bin/sh\n"
        f"exec >>{shlex.quote(request.output)} 2>{error}\n"
        f"cd {folder} || exit 75\n"
        f"export PBS_O_WORKDIR={folder}\n"
        f"export PBS_JOBNAME={shlex.quote(request.name)}\n"
    )
    return head.encode() + script


def _select(who: PbsIdentity, tasks: int, shape: Shape, layout: Layout | None = None) -> str:
    """A chunk for each task, anywhere: `ncpus=N` alone would be on one host. Of whole nodes one for
    each node, with as many places for processes as it has tasks: the last may have fewer; and so of
    any nodes, where the user's `layout` says on how many the tasks are."""
    if layout is not None:
        chunks = layout.chunks(tasks, shape, who.unit)
    else:
        per_chunk = max(1, who.unit // shape.cpus_per_task)
        full, rest = divmod(tasks, per_chunk)
        chunks = [(full, per_chunk), (int(rest > 0), rest)]
    gpus, more = divmod(shape.gpus, sum(count for count, _ in chunks))  # each has its part of them
    parts = []
    for count, used in chunks:
        for n, part in ((min(more, count), gpus + 1), (count - min(more, count), gpus)):
            if n:
                parts.append(f"{n}:{_chunk(who, used, shape, part, apart=layout is not None)}")
        more -= min(more, count)
    return f"select={'+'.join(parts)}"


def _chunk(who: PbsIdentity, tasks: int, shape: Shape, gpus: int, *, apart: bool) -> str:
    """What so many tasks need; `gpus`: beside those that each of them asks for; `apart`: it is all
    that the job has on its node."""
    whole = who.unit > 1
    words = [f"ncpus={who.unit if whole else tasks * shape.cpus_per_task}"]
    if whole or apart:
        words.append(f"mpiprocs={tasks}")
    memory = shape.memory or tasks * shape.memory_per_cpu * shape.cpus_per_task
    gpus += tasks * shape.gpus_per_task
    words += [f"mem={memory}mb"] * (memory > 0) + [f"ngpus={gpus}"] * (gpus > 0)
    named = {word.partition("=")[0] for word in words}
    others = who.chunk.split(":") if who.chunk else []
    return ":".join([*words, *(part for part in others if part.partition("=")[0] not in named)])


def _place(who: PbsIdentity, shape: Shape, *, apart: bool = False) -> str:
    """Whole nodes are wanted as such: what is free on one beside other jobs does not do. `apart`:
    each chunk is on a node of its own."""
    where = "scatter" if apart or who.unit > 1 else "free"
    return f"place={where}:excl" if shape.exclusive or who.unit > 1 else f"place={where}"


def _date(moment: float) -> str:
    """`CCYYMMDDhhmm.SS` (less is read as a time of tomorrow)."""
    return time.strftime("%Y%m%d%H%M.%S", time.gmtime(moment))


def _given(native: Sequence[str], option: str) -> bool:
    return any(word.startswith(option) for word in native)
