"""`--export`: which variables of the user's environment a job is given.

The forms are those of sbatch: `NONE`, `ALL`, `NAME`, `NAME=value`, in a comma-separated list;
quotes keep a comma inside of a value. The default is `NONE`, and not sbatch's `ALL`: a component
may run in another cluster, with other paths, modules and libraries, where the environment of the
submitting host does more harm than good; so the native system's own environment applies.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from metabroker.submission.errors import SubmissionError
from metabroker.submission.text import check_variable, shown

DEFAULT = "NONE"
_ALL_BUT = re.compile(r"(METABROKER|SLURM|SLURMD|SBATCH|SRUN|SQUEUE|SALLOC|PBS|PALS)_")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# What contract C4 sets in every component.
_OURS = (
    "JOB_ID", "JOB_NAME", "COMPONENT", "COMPONENTS", "CLUSTER", "CLUSTERS", "PROCESSORS",
    "PEERS_FILE", "WORK_DIR",
    "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK_OFFSET", "NNODES", "NODE_RANK",
    "TASKS", "CPUS_PER_TASK", "ARRAY_JOB_ID", "ARRAY_TASK_ID", "INPUTS", "JOINED_JOB",
)  # fmt: skip
OURS = frozenset(f"METABROKER_{name}" for name in _OURS)


def resolve(export: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that `export` names, with their values in `environ`.

    `ALL` leaves out what belongs to the job or system it is submitted from (SLURM_*, PBS_*,
    METABROKER_*), what no shell can name, and values that are not UTF-8. A `NAME` that is not
    set is left out, as sbatch does. Raises `SubmissionError`.
    """
    words = _split(export)
    if any(word.upper() in ("NONE", "NIL") for word in words):
        if len(words) > 1:
            raise SubmissionError(f"--export {shown(export)} says NONE and more", "choose one")
        return {}
    result: dict[str, str] = {}
    if any(word.upper() == "ALL" for word in words):
        result = {name: text for name, text in environ.items() if _travels(name, text)}
    for word in words:
        name, given, value = word.partition("=")
        if not given and name.upper() == "ALL":
            continue
        check_variable(name)
        if given:
            result[name] = value
        elif name in environ:
            result[name] = environ[name]
    return result


def _split(export: str) -> list[str]:
    lexer = shlex.shlex(export, posix=True, punctuation_chars=False)
    lexer.whitespace = ","
    lexer.whitespace_split = True
    lexer.commenters = ""
    lexer.escape = ""
    try:
        words = list(lexer)
    except ValueError as error:
        raise SubmissionError(f"--export {shown(export)} has an open quote", "close it") from error
    if not words or not all(words):
        raise SubmissionError(
            f"--export {shown(export)} names nothing",
            "write NONE, ALL, or a list of NAME and NAME=value",
        )
    return words


def _travels(name: str, text: str) -> bool:
    if _NAME.fullmatch(name) is None or _ALL_BUT.match(name) is not None:
        return False
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)
