"""The native job of a component: a small POSIX shell script around the user's untouched one."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from metabroker.clusters.file_transfer import work_folder
from metabroker.clusters.port import ArrayTask, ComponentRequest

from .signals import forwarded, timer
from .spoken import spoken, spoken_as_pbs, spoken_elsewhere
from .tools import NAMED, bare, laying_tools, text

# What sudo tells a command about who called it: none of a job's business.
_OF_SUDO = "unset SUDO_COMMAND SUDO_USER SUDO_UID SUDO_GID"
_OWN = "mb__"
# What the peers file says, for programs that look for it in their environment.
_MET = """\
if [ -n "$mb__world" ]; then
    export METABROKER_MASTER_ADDR="$mb__leader" METABROKER_MASTER_PORT="$mb__port"
    export METABROKER_WORLD_SIZE="$mb__world" METABROKER_RANK_OFFSET="$mb__rank"
    export METABROKER_NNODES="$mb__nnodes" METABROKER_NODE_RANK="$mb__node"
fi
case $mb__gate in *:*) ;; *) export PATH="$mb__gate/bin:$PATH" ;; esac"""
_OF_SHELLS = frozenset({"BASHOPTS", "BASH_VERSINFO", "EUID", "OPTIND", "PPID", "SHELLOPTS", "UID"})


def wrapper(
    request: ComponentRequest, cluster: str, *, system: str = "slurm", acting: bool = False
) -> bytes:
    """The text of the native job. All that comes from the user goes in as quoted words, and what
    is exported for the user's script is set where nothing but that still comes. `system`:
    the cluster's; `acting`: it is submitted as another account."""
    peers = request.peers
    tools = len(peers) > 1 or request.joins > 0 or NAMED in request.script
    variables = {
        **_of_user(request.environment),
        "METABROKER_JOB_ID": str(request.job),
        "METABROKER_JOB_NAME": request.name,
        "METABROKER_COMPONENT": str(request.component),
        "METABROKER_COMPONENTS": str(len(peers)),
        "METABROKER_CLUSTER": cluster,
        "METABROKER_CLUSTERS": ",".join(peer.cluster for peer in peers),
        "METABROKER_PROCESSORS": str(request.processors),
        "METABROKER_TASKS": str(request.tasks),
        "METABROKER_CPUS_PER_TASK": str(request.shape.cpus_per_task),
        "METABROKER_PEERS_FILE": f"{request.gate}/peers.json",
    }
    if request.joins:
        variables["METABROKER_JOINED_JOB"] = str(request.joins)
    if request.of is not None:
        variables |= _of_array(request.of)
    if request.inputs:
        variables["METABROKER_INPUTS"] = "\n".join(request.inputs)
    if request.works:
        variables["METABROKER_WORK_DIR"] = work_folder(request.gate)
    settings = [
        f"set -- {_words(request.args)}",
        *((_OF_SUDO,) if acting else ()),
        f"mb__gate={shlex.quote(request.gate)}",
        f"mb__patience={request.barrier_seconds if request.barrier_seconds is not None else ''}",
        f"mb__work={'yes' if request.works else ''}",
        f"mb__cluster={shlex.quote(cluster)}",
        f"mb__processors={request.processors}",
        f"mb__component={request.component}",
        f"mb__tasks={request.tasks}",
        f"mb__tools={'yes' if tools else ''}",
    ]
    head, _, rest = text("wrapper.sh").partition("# SETTINGS\n")
    before, _, rest = rest.partition("# MEETING\n")
    body, _, tail = rest.partition("# EXPORTS\n")
    speaks = ("", "")
    if request.speaks == "slurm":
        native = system == "slurm"
        speaks = spoken(request.job) if native else ("", spoken_elsewhere(request, cluster))
    elif request.speaks == "pbs":
        job = request.job if request.of is None else f"{request.of.array}[{request.of.task}]"
        speaks = spoken_as_pbs(job, request.name, request.chdir)
    tail = forwarded(request.native, tail)
    if system != "slurm":
        before = timer(request.native, request.seconds) + before
    met = _MET if tools else ""
    exports = "\n".join(filter(None, (speaks[0], _exports(variables), met, speaks[1])))
    meeting = f"# MEETING\n{bare('meeting.sh')}\n{laying_tools()}# MET\n" if tools else ""
    parts = (head, "\n".join(settings), "\n", before, meeting, body, exports, "\n", tail)
    return "".join(parts).encode()


def _of_array(of: ArrayTask) -> dict[str, str]:
    """What a task is told of its array, in the words of each system."""
    first, last = of.tasks.ranges[0], of.tasks.ranges[-1]
    step = first.step if len(of.tasks.ranges) == 1 else 1
    return {
        "METABROKER_ARRAY_JOB_ID": str(of.array),
        "METABROKER_ARRAY_TASK_ID": str(of.task),
        "SLURM_ARRAY_JOB_ID": str(of.array),
        "SLURM_ARRAY_TASK_ID": str(of.task),
        "SLURM_ARRAY_TASK_COUNT": str(len(of.tasks)),
        "SLURM_ARRAY_TASK_MIN": str(first[0]),
        "SLURM_ARRAY_TASK_MAX": str(last[-1]),
        "SLURM_ARRAY_TASK_STEP": str(step),
        "PBS_ARRAY_INDEX": str(of.task),
        "PBS_ARRAY_ID": f"{of.array}[].metabroker",
    }


def _of_user(environment: Mapping[str, str]) -> dict[str, str]:
    """The user's variables, but those that no script can be given: the wrapper's own, and what a
    shell sets by itself and lets nobody set, which would end it."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(_OWN) and name not in _OF_SHELLS
    }


def _exports(variables: Mapping[str, str]) -> str:
    return "\n".join(f"export {name}={shlex.quote(value)}" for name, value in variables.items())


def _words(words: Sequence[str]) -> str:
    return " ".join(shlex.quote(word) for word in words)
