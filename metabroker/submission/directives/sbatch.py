"""sbatch's options, one row each (those of Slurm 22.05 to 26.05), and what becomes of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from metabroker.submission.dependency import parse_dependency, parse_yes
from metabroker.submission.errors import SubmissionError
from metabroker.submission.model import AskedOption
from metabroker.submission.requests import LARGEST, parse_count, parse_memory
from metabroker.submission.tasks import parse_array
from metabroker.submission.text import shown
from metabroker.submission.times import parse_time

from .getopt import Given, scan
from .rows import Asked, Command, Counted, Kept, Own, Refused, Row, row
from .words import Word, sbatch_words

Options = dict[str, Any]

_LATER = "it is not supported yet"
_NODES = re.compile(r"([0-9]{1,9})([kK]?)(?:-([0-9]{1,9})([kK]?))?")
_MORE = "it could give the job other processors than it asks metabroker for"
_LAYOUT = Refused(_MORE, "ask with --ntasks, --cpus-per-task and --nodes")

ROWS: tuple[Row, ...] = (
    row("account A =", Asked()),
    row("acctg-freq =", Asked()),
    row("array a =", Own("array", lambda text: str(parse_array(text)))),
    row("batch =", Refused("it chooses the node of the batch script")),
    row("bb =", Asked()),
    row("bbf =", Refused("the file is not sent to the cluster", "write it as --bb")),
    row("begin b =", Refused(_LATER, "submit it later, or with --hold")),
    row("chdir D =", Own("chdir")),
    row("cluster-constraint =", Refused("it is for federations of Slurm", "use --clusters")),
    row("clusters|cluster M =", Counted()),
    row("comment =", Asked()),
    row("constraint C =", Asked()),
    row("container =", Asked()),
    row("container-id =", Asked()),
    row("runtime =", Asked()),
    row("context =", Refused("it is a label of SELinux")),
    row("contiguous", Asked()),
    row("core-spec S =", _LAYOUT),
    row("cores-per-socket =", _LAYOUT),
    row("consolidate-segments", Asked()),
    row("cpu-freq =", Asked()),
    row("cpus-per-gpu =", Refused(_MORE, "ask with --cpus-per-task")),
    row("cpus-per-task c =", Counted()),
    row("deadline =", Refused("no deadline is kept", "ask for less with --time")),
    row("delay-boot =", Asked()),
    row("dependency d =", Own("dependency", lambda text: str(parse_dependency(text)))),
    row("distribution m =", Asked()),
    row("error e =", Own("error")),
    row("exclude x =", Asked()),
    row("exclusive [=]", Counted()),
    row("export =", Own("export")),
    row("export-file =", Refused("variables are not read from files", "use --export")),
    row("external", Refused("it makes a job without a script", never=True)),
    row("extra =", Asked()),
    row("extra-node-info B =", _LAYOUT),
    row("get-user-env [=]", Refused("no login environment is made", "use --export")),
    row("gid =", Refused("jobs are their submitters'", never=True)),
    row("gpu-bind =", Asked()),
    row("gpu-freq =", Asked()),
    row("gpus G =", Counted()),
    row("gpus-per-node =", Counted()),
    row("gpus-per-socket =", Refused(_MORE, "ask with --gpus or --gpus-per-task")),
    row("gpus-per-task =", Counted()),
    row("gres =", Counted()),
    row("gres-flags =", Asked()),
    row("help h", Command()),
    row("hint =", _LAYOUT),
    row("hold H", Own("hold", lambda _: True)),
    row("ignore-pbs", Command()),
    row("input i =", Kept(("/dev/null", "none"))),
    row("job-name J =", Own("name")),
    row("kill-on-invalid-dep =", Own("kill_on_invalid_dep", parse_yes)),
    row("licenses L =", Asked()),
    row("mail-type =", Asked()),
    row("mail-user =", Asked()),
    row("mcs-label =", Asked()),
    row("mem =", Counted()),
    row("mem-bind =", Asked()),
    row("mem-per-cpu =", Counted()),
    row("mem-per-gpu =", Refused("memory is counted by nodes and processors",
        "ask with --mem or --mem-per-cpu")),
    row("mem-update =", Asked()),
    row("mincpus =", _LAYOUT),
    row("network =", Asked()),
    row("nice [=]", Asked()),
    row("no-kill k [=]", Asked()),
    row("no-requeue", Kept()),
    row("nodefile F =", Refused("the file is not read", "use --nodelist")),
    row("nodelist w =", Asked()),
    row("nodes N =", Counted()),
    row("ntasks n =", Counted()),
    row("ntasks-per-core =", _LAYOUT),
    row("ntasks-per-gpu =", _LAYOUT),
    row("ntasks-per-node|tasks-per-node =", Counted()),
    row("ntasks-per-socket =", _LAYOUT),
    row("ntasks-per-tres =", _LAYOUT),
    row("oom-kill-step [=]", Asked()),
    # The output is appended to: a job that the cluster starts twice must not empty the file.
    row("open-mode =", Kept(("a", "append"))),
    row("output o =", Own("output")),
    row("overcommit O", Asked()),
    row("oversubscribe s", Asked()),
    row("parsable", Command()),
    row("partition p =", Asked()),
    row("power =", Refused("Slurm has it no more")),
    row("prefer =", Asked()),
    row("priority =", Asked()),
    row("profile =", Asked()),
    row("propagate [=]", Asked()),
    row("qos q =", Asked()),
    row("quiet Q", Command()),
    row("reboot", Asked()),
    row("requeue [=]", Refused("metabroker repeats jobs by its own rule (`retries`)")),
    row("reservation =", Refused("metabroker makes the reservations of its jobs itself")),
    row("resources =", Asked()),
    row("resv-ports [=]", Asked()),
    row("segment =", Asked()),
    row("signal =", Asked()),
    row("sockets-per-node =", _LAYOUT),
    row("spread-job", _LAYOUT),
    row("spread-segments", Asked()),
    row("stepmgr", Asked()),
    row("switches =", Asked()),
    row("test-only", Command()),
    row("thread-spec =", _LAYOUT),
    row("threads-per-core =", _LAYOUT),
    row("time t =", Own("time", parse_time)),
    row("time-min =", Refused("a time limit is not shortened")),
    row("tmp =", Asked()),
    row("tres-bind =", Asked()),
    row("tres-per-task =", _LAYOUT),
    row("uid =", Refused("jobs are their submitters'", never=True)),
    row("usage", Command()),
    row("use-min-nodes", Asked()),
    row("verbose v", Command()),
    row("version V", Command()),
    row("wait W", Own("wait", lambda _: True)),
    row("wait-all-nodes =", Asked()),
    row("wckey =", Asked()),
    row("wrap =", Command()),
    row("x11 [=]", Refused("batch jobs have no display")),
)  # fmt: skip
BY_NAME: Mapping[str, Row] = {name: each for each in ROWS for name in each.names}


def of_script(script: bytes, file: str) -> list[Given]:
    """What the `#SBATCH` lines of a script give, in their order.

    Raises:
        SubmissionError: sbatch could not read them, with file and line.
    """
    given, rest = scan(sbatch_words(script, file), ROWS, "sbatch")
    if rest:
        what = f"{rest[0].place}{shown(rest[0].text)} is not an option"
        raise SubmissionError(what, "write options as on the command line, each with its value")
    return given


def of_command_line(words: Iterable[str]) -> tuple[list[Given], list[str]]:
    """The options of a command line, and what follows them: the script and its arguments.

    Raises:
        SubmissionError: sbatch could not read it.
    """
    given, rest = scan([Word(word) for word in words], ROWS, "sbatch")
    return given, [word.text for word in rest]


def translate(given: Iterable[Given]) -> Options:
    """metabroker's own options for what was given to sbatch; of one that is given twice the last
    counts. `asked`: what goes to the job's cluster (`model.AskedOption`).

    Raises:
        SubmissionError: an option that nothing can become of, by its name and place.
    """
    last = {each.name: each for each in given}
    options: Options = {}
    asked: list[AskedOption] = []
    for each in last.values():
        becomes = BY_NAME[each.name].becomes
        if isinstance(becomes, Own):
            options[becomes.key] = _parsed(each, becomes)
        elif isinstance(becomes, Asked) or _refused(each):
            asked.append(_ask(each))
    counts = _Counts(last)
    options |= counts.options()
    return {**options, "asked": (*asked, *counts.asked)}


def _parsed(given: Given, own: Own) -> Any:
    try:
        return own.parse(given.value or "")
    except SubmissionError as error:
        raise SubmissionError(f"{given.shown}: {error.message}", error.advice) from error


def _refused(given: Given) -> bool:
    """Whether nothing becomes of it here. The daemon refuses it, unless its site drops it."""
    becomes = BY_NAME[given.name].becomes
    if isinstance(becomes, Kept):
        return bool(becomes.values) and given.value not in becomes.values
    if isinstance(becomes, Refused) and becomes.never:
        raise SubmissionError(f"{given.shown}: {becomes.why}", becomes.advice)
    return isinstance(becomes, Refused)


def _ask(given: Given, value: str | None = None, name: str = "") -> AskedOption:
    text = given.value if value is None else value
    return AskedOption(name or given.name, text, given.where)


def layout(words: Mapping[str, str]) -> Options:
    """What `nodes`, `ntasks-per-node` and `ntasks` of a command line mean together.

    Raises:
        SubmissionError: they cannot be understood.
    """
    counts = _Counts({name: Given(name, value) for name, value in words.items()})
    found = counts.options()
    return {**found, "asked": tuple(counts.asked)}


class _Counts:
    """How many tasks a job has, what each of them needs, and on how many nodes they are.

    As in sbatch: `--nodes` alone is a task on each, `--ntasks-per-node` multiplies it, and no job
    has more nodes than tasks.
    """

    def __init__(self, given: Mapping[str, Given]) -> None:
        self._given = given
        self.asked: list[AskedOption] = []

    def options(self) -> Options:
        """metabroker's own; what is left is in `asked` then."""
        per_node, nodes = self._count("ntasks-per-node", "tasks"), self._nodes()
        tasks = self._count("ntasks", "tasks")
        if tasks is None:
            tasks = self._implied(nodes, per_node)
        if nodes is not None:  # no more of them than there are tasks
            nodes = min(nodes[0], tasks), min(nodes[1], tasks)
        cpus = self._count("cpus-per-task", "processors")
        options: Options = {"single": tasks} | ({} if cpus is None else {"cpus_per_task": cpus})
        options |= self._memory()
        options |= self._gpus(nodes[0] if nodes and nodes[0] == nodes[1] else None, tasks)
        if tasks > 1:
            self._ask_layout(nodes, per_node)
        return options | self._exclusive() | self._clusters()

    def _implied(self, nodes: tuple[int, int] | None, per_node: int | None) -> int:
        """How many tasks there are where it is not said."""
        least, most = nodes or (1, 1)
        tasks = least * (per_node or 1)
        if least != most:
            raise self._wrong("nodes", "does not say how many tasks there are", "add --ntasks")
        if tasks > LARGEST:
            raise self._wrong("nodes", f"is {tasks} tasks", f"ask for at most {LARGEST}")
        return tasks

    def _ask_layout(self, nodes: tuple[int, int] | None, per_node: int | None) -> None:
        if nodes is not None:
            least, most = nodes
            text = str(least) if least == most else f"{least}-{most}"
            self.asked.append(_ask(self._given["nodes"], text))
        if per_node is not None:
            self.asked.append(_ask(self._given["ntasks-per-node"], str(per_node)))

    def _count(self, name: str, what: str) -> int | None:
        given = self._given.get(name)
        if given is None:
            return None
        try:
            return parse_count(given.value or "", what)
        except SubmissionError as error:
            raise SubmissionError(f"{given.shown}: {error.message}", error.advice) from error

    def _nodes(self) -> tuple[int, int] | None:
        """At least, and at most so many; None: it is not said."""
        given = self._given.get("nodes")
        if given is None:
            return None
        found = _NODES.fullmatch((given.value or "").strip())
        if found is None:
            raise self._wrong("nodes", "is not a number of nodes", "write N or N-M")
        least = int(found[1]) * (1024 if found[2] else 1)
        most = least if found[3] is None else int(found[3]) * (1024 if found[4] else 1)
        if not 0 < least <= most:
            raise self._wrong("nodes", "is not a number of nodes", "write N or N-M, N at least 1")
        return least, most

    def _memory(self) -> Options:
        found: Options = {}
        for name, key in (("mem", "memory"), ("mem-per-cpu", "memory_per_cpu")):
            given = self._given.get(name)
            if given is not None:
                found[key] = _parsed(given, Own(key, parse_memory))
        return found

    def _gpus(self, nodes: int | None, tasks: int) -> Options:
        """`nodes`: how many there are; None: that is not known."""
        found: Options = {}
        for name, key in (("gpus", "gpus"), ("gpus-per-task", "gpus_per_task")):
            given = self._given.get(name)
            if given is not None:
                found[key] = self._plain_gpus(name, given.value or "")
        per_node = self._gpus_per_node()
        if per_node is not None:
            name, each = per_node
            nodes = 1 if tasks == 1 else nodes
            if nodes is None:
                raise self._wrong(name, "is for each node", "say how many with --nodes")
            total = each * nodes
            if found.setdefault("gpus", total) != total:
                raise self._wrong(name, f"is {total} GPUs in all", "let --gpus say the same")
            if nodes > 1:
                self.asked.append(_ask(self._given[name], str(each), "gpus-per-node"))
        return found

    def _gpus_per_node(self) -> tuple[str, int] | None:
        """By which option, and how many; what `--gres` has besides is asked of the cluster."""
        found = None
        if "gpus-per-node" in self._given:
            text = self._given["gpus-per-node"].value or ""
            found = "gpus-per-node", self._plain_gpus("gpus-per-node", text)
        given = self._given.get("gres")
        if given is None:
            return found
        others = []
        for part in (given.value or "").split(","):
            kind = part.removeprefix("gres/").removeprefix("gres:")
            if kind.partition(":")[0].partition("=")[0] == "gpu":
                count = kind.removeprefix("gpu")[1:] or "1"
                found = "gres", self._plain_gpus("gres", count)
            else:
                others.append(part)
        if others and others != ["none"]:
            self.asked.append(_ask(given, ",".join(others)))
        return found

    def _plain_gpus(self, name: str, text: str) -> int:
        kind, colon, _count = text.partition(":")
        if colon or (text and not text.isdigit()):
            what = f"names a kind of GPU ({shown(kind)}), which metabroker does not tell apart"
            raise self._wrong(name, what, "ask for a number alone, and with -C for nodes of a kind")
        return _parsed(self._given[name], Own("", lambda _: parse_count(text, "GPUs")))  # type: ignore[no-any-return]

    def _exclusive(self) -> Options:
        given = self._given.get("exclusive")
        if given is None:
            return {}
        if given.value is not None and given.value != "exclusive":
            raise self._wrong("exclusive", "is not supported", "write --exclusive without a value")
        return {"exclusive": True}

    def _clusters(self) -> Options:
        given = self._given.get("clusters")
        if given is None or given.value == "all":
            return {}
        if "," in (given.value or ""):
            self.asked.append(_ask(given))
            return {}
        return {"cluster": given.value}

    def _wrong(self, name: str, what: str, advice: str) -> SubmissionError:
        return SubmissionError(f"{self._given[name].shown} {what}", advice)
