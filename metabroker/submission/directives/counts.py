"""How many tasks sbatch's options ask for, what each of them needs, and on how many nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from metabroker.submission.errors import SubmissionError
from metabroker.submission.model import AskedOption
from metabroker.submission.requests import LARGEST, parse_count, parse_memory
from metabroker.submission.text import shown

from .by_gpu import NOT_WITH_GPUS, ByGpu
from .getopt import Given
from .rows import Own

Options = dict[str, Any]
_NODES = re.compile(r"([0-9]{1,9})([kK]?)(?:-([0-9]{1,9})([kK]?))?")


def parsed(given: Given, own: Own) -> Any:
    """metabroker's own value for it. Raises `SubmissionError` with its place."""
    try:
        return own.parse(given.value or "")
    except SubmissionError as error:
        raise SubmissionError(f"{given.shown}: {error.message}", error.advice) from error


def ask(given: Given, value: str | None = None, name: str = "") -> AskedOption:
    """It as it is asked of a cluster, by another value or another name."""
    text = given.value if value is None else value
    return AskedOption(name or given.name, text, given.where)


class Counts:
    """How many tasks a job has, what each of them needs, and on how many nodes they are.

    As in sbatch: `--nodes` alone is a task on each, `--ntasks-per-node` multiplies it, and no job
    has more nodes than tasks. `by_gpu`: options that count by GPUs, where these are known.
    """

    def __init__(self, given: Mapping[str, Given]) -> None:
        self._given = given
        self.asked: list[AskedOption] = []
        self.by_gpu: tuple[str, ...] = ()

    def options(self) -> Options:
        """metabroker's own; what is left is in `asked` then."""
        per_node, nodes = self._count("ntasks-per-node", "tasks"), self._nodes()
        tasks, of_node = self._count("ntasks", "tasks"), self._gpus_per_node()
        by_gpu = self._tasks_by_gpu(nodes, tasks, of_node)
        if by_gpu is not None:
            nodes, per_node, tasks = by_gpu.nodes, by_gpu.per_node, by_gpu.tasks
        if tasks is None:
            tasks = self._implied(nodes, per_node)
        if nodes is not None:  # no more of them than there are tasks
            nodes = min(nodes[0], tasks), min(nodes[1], tasks)
        cpus = self._count("cpus-per-task", "processors") if by_gpu is None else by_gpu.cpus
        options: Options = {"single": tasks} | ({} if cpus is None else {"cpus_per_task": cpus})
        options |= self._memory()
        options |= self._gpus(nodes[0] if nodes and nodes[0] == nodes[1] else None, tasks, of_node)
        if by_gpu is not None and by_gpu.one_each:  # so each is on the node of its task
            options["gpus_per_task"] = options.pop("gpus") // tasks
        if tasks > 1:
            self._ask_layout(nodes, per_node)
        return options | self._exclusive() | self._clusters()

    def _tasks_by_gpu(
        self, nodes: tuple[int, int] | None, tasks: int | None, of_node: tuple[str, int] | None
    ) -> ByGpu | None:
        """What `--ntasks-per-gpu` and `--cpus-per-gpu` come to; None: they are not given, or
        refused as if the GPUs were not known."""
        if "ntasks-per-gpu" not in self._given or self._given.keys() & NOT_WITH_GPUS:
            return None
        in_all = (
            self._plain_gpus("gpus", self._given["gpus"].value or "")
            if ("gpus" in self._given)
            else None
        )
        each = self._count("ntasks-per-gpu", "tasks") or 1
        cpus = self._count("cpus-per-gpu", "processors"), self._count("cpus-per-task", "processors")
        found = ByGpu.of(nodes, tasks, each, (in_all, of_node[1] if of_node else None), cpus)
        if found is not None:
            self.by_gpu = ("ntasks-per-gpu", "cpus-per-gpu")
        return found

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
        by_gpu = self._given.get("ntasks-per-gpu")
        if nodes is not None:
            least, most = nodes
            text = str(least) if least == most else f"{least}-{most}"
            self._ask_of("nodes", by_gpu, text)
        if per_node is not None:
            self._ask_of("ntasks-per-node", by_gpu, str(per_node))

    def _ask_of(self, name: str, other: Given | None, value: str) -> None:
        given = self._given.get(name) or other
        if given is not None:
            self.asked.append(ask(given, value, name))

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
                found[key] = parsed(given, Own(key, parse_memory))
        return found

    def _gpus(self, nodes: int | None, tasks: int, of_node: tuple[str, int] | None) -> Options:
        """`nodes`: how many there are; None: that is not known."""
        found: Options = {}
        for name, key in (("gpus", "gpus"), ("gpus-per-task", "gpus_per_task")):
            given = self._given.get(name)
            if given is not None:
                count = self._plain_gpus(name, given.value or "")
                found |= {key: count} if count else {}
        if of_node is not None:
            name, each = of_node
            nodes = 1 if tasks == 1 else nodes
            if nodes is None:
                raise self._wrong(name, "is for each node", "say how many with --nodes")
            total = each * nodes
            if found.setdefault("gpus", total) != total:
                raise self._wrong(name, f"is {total} GPUs in all", "let --gpus say the same")
            if nodes > 1:
                self.asked.append(ask(self._given[name], str(each), "gpus-per-node"))
        return found

    def _gpus_per_node(self) -> tuple[str, int] | None:
        """By which option, and how many; what `--gres` has besides is asked of the cluster."""
        found = None
        if "gpus-per-node" in self._given:
            text = self._given["gpus-per-node"].value or ""
            count = self._plain_gpus("gpus-per-node", text)
            found = ("gpus-per-node", count) if count else None
        given = self._given.get("gres")
        if given is None:
            return found
        others = []
        for part in (given.value or "").split(","):
            kind = part.removeprefix("gres/").removeprefix("gres:")
            if kind.partition(":")[0].partition("=")[0] == "gpu":
                count = self._plain_gpus("gres", kind.removeprefix("gpu")[1:] or "1")
                found = ("gres", count) if count else found
            else:
                others.append(part)
        if others and others != ["none"]:
            self.asked.append(ask(given, ",".join(others)))
        return found

    def _plain_gpus(self, name: str, text: str) -> int:
        """How many; 0: none."""
        if text and not text.strip("0"):
            return 0
        kind, colon, _count = text.partition(":")
        if colon or (text and not text.isdigit()):
            what = f"names a kind of GPU ({shown(kind)}), which metabroker does not tell apart"
            raise self._wrong(name, what, "ask for a number alone, and with -C for nodes of a kind")
        return parsed(self._given[name], Own("", lambda _: parse_count(text, "GPUs")))  # type: ignore[no-any-return]

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
            self.asked.append(ask(given))
            return {}
        return {"cluster": given.value}

    def _wrong(self, name: str, what: str, advice: str) -> SubmissionError:
        return SubmissionError(f"{self._given[name].shown} {what}", advice)
