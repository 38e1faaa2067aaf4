"""qsub's options (OpenPBS), one row each, and what becomes of them.

What goes to the job's cluster is named as sbatch names it (`partition` for a queue), so that a
script for PBS can run under Slurm, and the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from metabroker.submission.dependency import parse_dependency
from metabroker.submission.errors import SubmissionError
from metabroker.submission.model import AskedOption
from metabroker.submission.requests import parse_count, parse_memory
from metabroker.submission.tasks import parse_array
from metabroker.submission.text import shown
from metabroker.submission.times import check_seconds, parse_time

from .getopt import Given, scan
from .rows import Asked, Command, Counted, Kept, Own, Refused, Row, row
from .words import Word, qsub_lines

Options = dict[str, Any]


def _path(text: str) -> str:
    """`[HOST:]PATH`: files are written where they belong; PBS has one sign in names."""
    return text.rpartition(":")[2].replace("%", "%%").replace("^array_index^", "%a")


ROWS: tuple[Row, ...] = (
    row("a =", Refused("it is not supported yet", "submit it later, or with -h")),
    row("A =", Asked()),
    row("c =", Kept(("n", "u"))),
    row("C =", Command()),
    row("e =", Own("error", _path)),
    row("f", Command()),
    row("G [=]", Refused("batch jobs have no display", never=True)),
    row("h", Own("hold", lambda _: True)),
    row("I", Refused("jobs are not interactive", never=True)),
    row("j =", Counted()),
    row("J =", Own("array", lambda text: str(parse_array(text)))),
    row("k =", Refused("output is written where it belongs while the job runs", "leave it out")),
    row("l =", Counted()),
    row("m =", Counted()),
    row("M =", Asked()),
    row("N =", Own("name")),
    row("o =", Own("output", _path)),
    row("p =", Asked()),
    row("P =", Asked()),
    row("q =", Asked()),
    row("r =", Kept(("n",))),
    row("R =", Refused("output is never removed")),
    row("S =", Counted()),
    row("u =", Refused("jobs are their submitters'", never=True)),
    row("v =", Counted()),
    row("V", Counted()),
    row("W =", Counted()),
    row("X", Refused("batch jobs have no display", never=True)),
    row("z", Command()),
)
BY_NAME: Mapping[str, Row] = {each.short: each for each in ROWS}
_AS_SBATCH = {"A": "account", "M": "mail-user", "p": "priority", "P": "project", "q": "partition"}
_MAIL = {"a": "FAIL", "b": "BEGIN", "e": "END", "n": "NONE"}
_CLOCK = re.compile(r"[0-9]{1,9}(:[0-9]{1,9}){0,2}")
_SIZE = re.compile(r"([0-9]{1,12})([kmgt]?)([bw]?)", re.IGNORECASE)


def of_script(script: bytes, file: str) -> list[Given]:
    """What the `#PBS` lines of a script give, in their order.

    Raises:
        SubmissionError: qsub could not read them, with file and line.
    """
    found: list[Given] = []
    for line in qsub_lines(script, file):
        given, rest = scan(line, ROWS, "qsub")
        if rest:
            what = f"{rest[0].place}{shown(rest[0].text)} is not an option"
            advice = "write options as on the command line, and comments on lines of their own"
            raise SubmissionError(what, advice)
        found += given
    return found


def of_command_line(words: Iterable[str]) -> tuple[list[Given], list[str]]:
    """The options of a command line, and what follows them. Raises `SubmissionError`."""
    given, rest = scan([Word(word) for word in words], ROWS, "qsub")
    return given, [word.text for word in rest]


def translate(given: Iterable[Given], interpreter: str = "") -> Options:
    """metabroker's own options for what was given to qsub; of one that is given twice the last
    counts, and of `-l` and `-W` each of their parts. `interpreter`: the script's own.

    Raises:
        SubmissionError: an option that nothing can become of, by its name and place.
    """
    return _Translation(given, interpreter).options()


class _Translation:
    def __init__(self, given: Iterable[Given], interpreter: str) -> None:
        self._interpreter = interpreter
        self._last: dict[str, Given] = {}
        self._resources: dict[str, tuple[Given, str]] = {}
        self._attributes: dict[str, tuple[Given, str]] = {}
        for each in given:
            self._last[each.name] = each
            if each.name == "l":
                self._resources |= self._parts(each)
            elif each.name == "W":
                self._attributes |= self._parts(each)
        self._asked: list[AskedOption] = []
        self._options: Options = {}
        self._of_all = 1  # chunks that share what memory is asked for

    def options(self) -> Options:
        for each in self._last.values():
            becomes = BY_NAME[each.name].becomes
            if isinstance(becomes, Own):
                self._options[becomes.key] = self._of(
                    each, partial(becomes.parse, each.value or "")
                )
            elif isinstance(becomes, Asked):
                self._ask(each, _AS_SBATCH[each.name], each.value)
            elif isinstance(becomes, Refused) and becomes.never:
                raise self._wrong(each, becomes.why, becomes.advice)
            elif isinstance(becomes, Refused) or self._not_kept(each, becomes):
                self._ask(each, each.name, each.value)
        self._mail()
        self._outputs()
        self._variables()
        self._of_attributes()
        self._of_resources()
        return {**self._options, "asked": tuple(self._asked)}

    def _not_kept(self, given: Given, becomes: object) -> bool:
        if given.name == "S":
            return given.value != self._interpreter
        return isinstance(becomes, Kept) and given.value not in becomes.values

    def _parts(self, given: Given) -> dict[str, tuple[Given, str]]:
        """`name=value,name=value`."""
        found: dict[str, tuple[Given, str]] = {}
        for part in (given.value or "").split(","):
            name, equals, value = part.partition("=")
            if not equals and [*found][-1:] == ["depend"]:  # its own value has commas
                found["depend"] = given, f"{found['depend'][1]},{part.strip()}"
                continue
            if not equals or not name.strip():
                raise self._wrong(given, "is not name=value", "write for example -l walltime=1:00")
            found[name.strip()] = given, value.strip()
        return found

    def _mail(self) -> None:
        given = self._last.get("m")
        letters = (given.value or "") if given is not None else ""
        if given is None:
            return
        if not letters or any(letter not in _MAIL for letter in letters):
            raise self._wrong(given, "is not supported", "write some of a, b and e, or n")
        self._ask(given, "mail-type", ",".join(_MAIL[letter] for letter in letters))

    def _outputs(self) -> None:
        given = self._last.get("j")
        if given is None or given.value == "n":
            return
        if given.value == "oe":
            self._options.pop("error", None)
        elif given.value == "eo":
            error = self._options.pop("error", None)
            self._options.pop("output", None)
            if error is not None:
                self._options["output"] = error
        else:
            raise self._wrong(given, "is not supported", "write -j oe, -j eo or -j n")

    def _variables(self) -> None:
        words = ["ALL"] if "V" in self._last else []
        given = self._last.get("v")
        if given is not None and given.value:
            words.append(given.value)
        if words:
            self._options["export"] = ",".join(words)

    def _of_attributes(self) -> None:
        for name, (given, value) in self._attributes.items():
            if name == "block":
                self._options["wait"] = value.lower() in ("true", "t", "y", "1")
            elif name in ("umask", "group_list"):
                self._ask(given, name, value)
            elif name == "depend":
                # PBS deletes a job that can never start.
                self._options["dependency"] = self._of(given, partial(_depend, value))
                self._options["kill_on_invalid_dep"] = True
            else:
                raise self._wrong(given, f"{name} is not supported", "leave it out")

    def _of_resources(self) -> None:
        known = {"select", "nodes", "place", "walltime", "ncpus", "mem", "ngpus"}
        for name, (given, value) in self._resources.items():
            if name not in known:
                self._ask(given, "resource", f"{name}={value}")
        if "walltime" in self._resources:
            given, value = self._resources["walltime"]
            self._options["time"] = self._of(given, lambda: _seconds(value))
        if "place" in self._resources:
            self._place(*self._resources["place"])
        chunk, count = self._chunk()
        self._request(chunk, count)

    def _place(self, given: Given, value: str) -> None:
        words = value.split(":")
        if "excl" in words or "exclhost" in words:
            self._options["exclusive"] = True
        if not {*words} <= {"free", "scatter", "pack", "excl", "exclhost", "shared"}:
            self._ask(given, "place", value)

    def _chunk(self) -> tuple[dict[str, tuple[Given, str]], int]:
        """What one chunk needs, and how many there are."""
        found = {
            name: at for name, at in self._resources.items() if name in ("ncpus", "mem", "ngpus")
        }
        select = self._resources.get("select") or self._resources.get("nodes")
        if select is None:
            return found, 1
        given, value = select
        shares_memory = "select" not in self._resources and [*found] == ["mem"]
        if found and not shares_memory:
            raise self._wrong(given, f"goes with no {next(iter(found))}", "write it into the chunk")
        first, *rest = value.split(":")
        if "=" in first and "select" in self._resources:  # one chunk, if no number is said
            first, rest = "1", [first, *rest]
        if "+" in value or not first.isdigit():
            what = "has chunks of several kinds, which is not supported"
            raise self._wrong(given, what, "write -l select=N:ncpus=...")
        for part in rest:
            name, equals, text = part.partition("=")
            if not equals:
                raise self._wrong(given, f"{shown(part)} is not name=value", "correct it")
            found[{"ppn": "mpiprocs"}.get(name, name)] = given, text
        if "nodes" in self._resources and "mpiprocs" in found:
            found.setdefault("ncpus", found["mpiprocs"])
            if first != "1":
                self._ask(given, "nodes", first)
        count: int = self._of(given, lambda: parse_count(first, "chunks"))
        if shares_memory:
            self._of_all = count
        return found, count

    def _request(self, chunk: dict[str, tuple[Given, str]], count: int) -> None:
        def number(name: str, what: str) -> int:
            given, text = chunk.pop(name, (None, "1"))
            return 1 if given is None else self._of(given, lambda: parse_count(text, what))

        placed, (nodes, where) = chunk.get("mpiprocs"), self._nodes(count)
        gpus = number("ngpus", "GPUs") if "ngpus" in chunk else 0
        cpus, ranks = number("ncpus", "processors"), number("mpiprocs", "processes")
        if placed is not None and ranks > 1:
            if cpus % ranks:
                raise self._wrong(placed[0], "does not share its processors evenly", "correct it")
            nodes, where = nodes or count, where or placed[0]
        if nodes and where is not None and count * ranks > 1:
            self._asked = [each for each in self._asked if each.option != "nodes"]
            self._ask(where, "nodes", str(nodes))
            if ranks > 1:
                self._ask(where, "ntasks-per-node", str(ranks * count // nodes))
        self._options |= {"single": count * ranks, "cpus_per_task": cpus // ranks}
        if gpus:
            of_task = {"gpus_per_task": gpus} if ranks == 1 else {"gpus": gpus * count}
            self._options |= of_task
        if "mem" in chunk:
            given, text = chunk.pop("mem")
            megabytes = self._of(given, lambda: _megabytes(text))
            self._options["memory_per_cpu"] = -(-megabytes // (cpus * self._of_all))
        if "ompthreads" in chunk:
            given, text = chunk.pop("ompthreads")
            threads = self._of(given, lambda: parse_count(text, "threads"))
            words = [self._options["export"]] if "export" in self._options else []
            self._options["export"] = ",".join([*words, f"OMP_NUM_THREADS={threads}"])
        for name, (given, _text) in chunk.items():
            raise self._wrong(given, f"{name} of a chunk is not supported", "leave it out")

    def _nodes(self, count: int) -> tuple[int, Given | None]:
        """On how many nodes so many chunks are, where `place` says so, and where; 0: anywhere."""
        given, value = self._resources.get("place", (None, ""))
        words = value.split(":")
        return count if "scatter" in words else int("pack" in words), given

    def _ask(self, given: Given, option: str, value: str | None) -> None:
        self._asked.append(AskedOption(option, value, given.where, f"-{given.name}"))

    def _of(self, given: Given, parse: Any) -> Any:
        try:
            return parse()
        except SubmissionError as error:
            raise SubmissionError(f"{given.shown}: {error.message}", error.advice) from error

    def _wrong(self, given: Given, what: str, advice: str) -> SubmissionError:
        return SubmissionError(f"{given.shown}: {what}", advice)


def _depend(text: str) -> str:
    """`afterok:12.server:13.server,afterany:14.server`, in sbatch's words."""
    parts = []
    for part in text.split(","):
        kind, *jobs = part.split(":")
        if kind not in ("after", "afterok", "afternotok", "afterany"):
            what = f"the dependency {shown(kind)} is not supported"
            raise SubmissionError(what, "use after, afterok, afternotok or afterany")
        parts.append(":".join([kind, *map(_of_pbs, jobs)]))
    return str(parse_dependency(",".join(parts)))


def _of_pbs(job: str) -> str:
    """`17`, `17[]` of an array, `17[3]` of a task of it, each with a server or without."""
    number, bracket, task = job.partition(".")[0].removesuffix("]").partition("[")
    return f"{number}_{task}" if bracket and task else number


def _seconds(text: str) -> int:
    """PBS counts in seconds where Slurm counts in minutes: `90`, `1:30`, `1:00:00`."""
    if _CLOCK.fullmatch(text) is None:
        return parse_time(text)
    seconds = 0
    for part in text.split(":"):  # more than 59 minutes are right, too
        seconds = seconds * 60 + int(part)
    return check_seconds(seconds)


def _megabytes(text: str) -> int:
    """`4gb`, `500mb`, bytes where there is no unit, words of 8 bytes with `w`."""
    found = _SIZE.fullmatch(text)
    if found is None:
        return parse_memory("")
    size = int(found[1]) * (8 if found[3].lower() == "w" else 1)
    if not found[2]:
        return max(1, -(-size // (1 << 20)))
    return parse_memory(f"{size}{found[2]}")
