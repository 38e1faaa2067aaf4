"""What a user asks in the words of sbatch or qsub, in the words of one cluster.

Names of partitions, accounts, QOS, features, wckeys and projects differ from cluster to cluster:
a site says by its tables (`names` of a cluster) what each is called there. What a cluster has no
words for keeps the job away from it; nothing is left out, unless the site says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from metabroker.submission.chunks import Layout, Unlayable
from metabroker.submission.directives import qsub, sbatch
from metabroker.submission.directives.rows import Refused, Row
from metabroker.submission.model import AskedOption, Submission

Table = Mapping[str, str | None] | Literal["same"] | None
"""What names mean in a cluster: others there (None: the option is left out there), `*` for all that
are not listed; `same`: each means itself; None: there are no such names."""
KINDS = ("partition", "account", "qos", "constraint", "wckey", "project")
"""Options whose values are names that a site may translate."""
_PBS_KINDS = {"partition": "-q", "account": "-A", "project": "-P"}

_NAME = re.compile(r"[A-Za-z0-9_.@/+-]+")
_SIGNAL = re.compile(r"(R?B?R?:)?([A-Za-z]{2,8}[0-9]?|[0-9]{1,2})(@[0-9]{1,5})?")
_FOR_SCRIPTS = frozenset({"HUP", "INT", "TERM", "USR1", "USR2", "CONT", "ALRM"})
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_PBS_MAIL = {"BEGIN": "b", "END": "e", "FAIL": "a", "NONE": "n", "ALL": "abe"}
_PBS_PLAIN = {"mail-user": "-M", "priority": "-p"}
_PRIORITY = re.compile(r"-?[0-9]{1,10}")
_PRIORITIES = {"slurm": range(4_294_967_294), "openpbs": range(-1024, 1024)}


class Unsayable(Exception):
    """This cluster has no words for an option; `why`, to follow the cluster's name."""

    def __init__(self, asked: AskedOption, why: str) -> None:
        super().__init__(why)
        self.asked = asked
        self.why = why


@dataclass(frozen=True, slots=True)
class ClusterWords:
    """What is asked of a cluster, and how. `own`: names in its configuration, which mean themselves
    (`partition: batch`); `unit`: processors of a node, where only whole nodes are given."""

    system: str
    tables: Mapping[str, Table] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)
    unit: int = 1

    def words(
        self, submission: Submission, check: Callable[[tuple[str, ...]], str | None]
    ) -> tuple[str, ...]:
        """The words for its own submit command. `check`: what is wrong with words that say what
        their user wrote, or None.

        Raises:
            Unsayable: it has none for one of the options.
        """
        return tuple(
            word for asked in submission.asked for word in self._of(asked, submission, check)
        )

    def names(self, kind: str) -> tuple[str, ...] | None:
        """What users may call partitions, say, of this cluster; None: anything."""
        table, own = self.tables.get(kind), self.own.get(kind)
        if table == "same" or (table is not None and "*" in table):
            return None
        return tuple(dict.fromkeys((*([own] if own else ()), *(table or ()))))

    def has(self, kind: str, name: str) -> bool:
        """Whether users may call one so."""
        table = self.tables.get(kind)
        if table == "same" or self.own.get(kind) == name:
            return True
        return table is not None and (name in table or "*" in table)

    def _of(
        self,
        asked: AskedOption,
        submission: Submission,
        check: Callable[[tuple[str, ...]], str | None],
    ) -> tuple[str, ...]:
        if asked.option in KINDS:
            value = self._translated(asked)
            plain = () if value is None else self._named(asked.option, value)
        elif asked.option in _LAYOUT:
            return self._layout(asked, submission)
        elif asked.option == "signal" and self.system in ("slurm", "openpbs"):
            return (f"--signal={_signal(asked, self.system)}",)
        elif asked.option == "comment" and self.system != "slurm":
            return ()  # it is metabroker's own: other systems have none
        else:
            plain = (self._plain(asked),)
        wrong = check(plain) if plain else None
        if wrong is not None:
            raise Unsayable(asked, wrong)
        return plain

    # --- names --------------------------------------------------------------------------------

    def _translated(self, asked: AskedOption) -> str | None:
        """The value with the cluster's own names in it; None: it is left out there."""
        text = asked.value or ""
        if asked.option == "partition":  # any of them will do
            known = [name for name in text.split(",") if self.has("partition", name)]
            if not known:
                raise Unsayable(asked, f"has no partition {text}")
            own = [self._name(asked, name) for name in known]
            return None if None in own else ",".join(filter(None, own))
        if asked.option != "constraint":
            return self._name(asked, text)
        own = [self._name(asked, name) for name in _NAME.findall(text)]
        if None in own:
            if len(own) > 1:
                raise Unsayable(asked, f"has no features for all of {text}")
            return None
        left = iter(own)
        return _NAME.sub(lambda _: next(left) or "", text)

    def _name(self, asked: AskedOption, name: str) -> str | None:
        kind, table = asked.option, self.tables.get(asked.option)
        if not name or not self.has(kind, name):
            raise Unsayable(asked, f"has no {kind} {name}")
        if table is None or table == "same":
            return name
        return table[name] if name in table else table.get("*") if "*" in table else name

    def _named(self, kind: str, value: str) -> tuple[str, ...]:
        if self.system == "slurm":
            return (f"--{kind}={value}",)
        return (f"{_PBS_KINDS[kind]}{value}",) if self.system == "openpbs" else ()

    # --- the rest -----------------------------------------------------------------------------

    def _plain(self, asked: AskedOption) -> str:
        """What a system calls as sbatch does, or PBS by another name."""
        option, value = asked.option, asked.value
        row = sbatch.BY_NAME.get(option)
        if option == "priority" and not self._has_priority(value or ""):
            raise Unsayable(asked, "knows no such priority")
        if self.system == "slurm" and row is not None:
            return f"--{option}" if value is None else f"--{option}={value}"
        if self.system == "openpbs" and value is not None:
            if option in _PBS_PLAIN:
                return f"{_PBS_PLAIN[option]}{value}"
            if option == "mail-type":
                return f"-m{self._mail(asked)}"
            if option == "resource":
                return f"-l{value}"
            if option in ("umask", "group_list"):
                return f"-W{option}={value}"
        raise Unsayable(asked, f"cannot be asked for it ({self.system})")

    def _has_priority(self, value: str) -> bool:
        if self.system == "slurm" and value.upper() == "TOP":
            return True
        numbers = _PRIORITIES.get(self.system)
        return bool(_PRIORITY.fullmatch(value)) and (numbers is None or int(value) in numbers)

    def _mail(self, asked: AskedOption) -> str:
        words = [_PBS_MAIL.get(word.upper()) for word in (asked.value or "").split(",")]
        if None in words:
            raise Unsayable(asked, "sends no such mail (openpbs)")
        letters = {letter for word in words for letter in word or ""}
        return "n" if letters == {"n"} else "".join(sorted(letters - {"n"}))

    def _layout(self, asked: AskedOption, submission: Submission) -> tuple[str, ...]:
        """On which and how many nodes the tasks are: of no more nodes than there are tasks."""
        tasks = submission.processors.single
        if tasks is None:
            raise Unsayable(asked, "is asked for it for jobs of one component alone")
        found = _RANGE.fullmatch(asked.value or "")
        largest = tasks if asked.option != "gpus-per-node" else submission.shape.gpus
        if found is None or not 0 < int(found[1]) <= int(found[2] or found[1]):
            raise Unsayable(asked, "has no such number")
        if found[2] and asked.option != "nodes":
            raise Unsayable(asked, "is asked for one number of them")
        if asked.option != "ntasks-per-node" and int(found[2] or found[1]) > largest:
            raise Unsayable(asked, "would give the job more than it asks for")
        whole = self.unit > 1 or submission.shape.exclusive
        if self.system == "simulated" and (not whole or asked.option == "gpus-per-node"):
            return ()  # where what is in them is shared, it tells no nodes apart
        word = f"--{asked.option}={asked.value}"
        if self.system == "openpbs":
            self._chunks(asked, submission, tasks)
        return (word,)

    def _chunks(self, asked: AskedOption, submission: Submission, tasks: int) -> None:
        """Whether PBS's adapter can make chunks of the same words (see `submission.chunks`)."""
        words = [f"--{each.option}={each.value}" for each in submission.asked if _lays_out(each)]
        try:
            layout = Layout.of(words)
            if layout is not None:
                layout.chunks(tasks, submission.shape, self.unit)
        except Unlayable as error:
            raise Unsayable(asked, str(error)) from error


_LAYOUT = frozenset({"nodes", "ntasks-per-node", "gpus-per-node"})


def _lays_out(asked: AskedOption) -> bool:
    return asked.option in _LAYOUT


def _signal(asked: AskedOption, system: str) -> str:
    value = asked.value or ""
    found = _SIGNAL.fullmatch(value)
    if found is None:
        raise Unsayable(asked, "knows no such signal")
    # It reaches the shell that runs the user's script, or our own srun where there is no Slurm, and
    # these have to know it by its name.
    name = found[2].upper().removeprefix("SIG")
    if name not in _FOR_SCRIPTS and ("B" in (found[1] or "") or system == "openpbs"):
        raise Unsayable(asked, f"sends a job's script {', '.join(sorted(_FOR_SCRIPTS))} alone")
    if "B" in (found[1] or "") or system == "openpbs":
        return f"{found[1] or ''}{name}{found[3] or ''}"
    return value


def row_of(option: str) -> Row | None:
    """Its row in the table of sbatch's options, or of qsub's (which are letters)."""
    return sbatch.BY_NAME.get(option) or qsub.BY_NAME.get(option)


def refused(asked: AskedOption) -> Refused | None:
    """Why nothing can become of an option in any cluster; None: it may be asked of one."""
    row = row_of(asked.option)
    if row is not None and isinstance(row.becomes, Refused):
        return row.becomes
    if asked.option == "open-mode":
        return Refused("output is always appended to")
    if asked.option == "input":
        return Refused("a job's input is /dev/null", "read the file in the script")
    if asked.option == "S":
        return Refused("the script's own #! line says what runs it", "write that shell there")
    return None


def shown(asked: AskedOption) -> str:
    """As its user wrote it: `job.sh:3: --qos=high`."""
    place = f"{asked.where}: " if asked.where else ""
    value = asked.value or ""
    if asked.called:
        return f"{place}{asked.called} {value}".rstrip()
    return f"{place}--{asked.option}{'=' if asked.value is not None else ''}{value}"


def named_nodes(asked: Sequence[AskedOption]) -> AskedOption | None:
    """The option that names nodes, whose names are one cluster's; None: there is none."""
    return next((each for each in asked if each.option in ("nodelist", "exclude")), None)
