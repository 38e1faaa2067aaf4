"""Which of sbatch's options users may give themselves (`--native CLUSTER:'OPTIONS'`).

sbatch reads its options as getopt does: a long one may be shortened, short ones may be run
together, and one that lacks its value takes the next word for it; the first word that is no
option is the script. So only words that can be read in one way, and change nothing that the
broker relies on, get through.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# The broker sets these itself, or they would break what it counts with.
FORBIDDEN = frozenset((
    "--array", "--begin", "--chdir", "--cluster", "--clusters", "--cpus-per-task", "--dependency",
    "--error", "--export", "--export-file", "--get-user-env", "--gid", "--help", "--hold",
    "--ignore-pbs", "--input", "--job-name", "--no-requeue", "--ntasks", "--open-mode",
    "--output", "--parsable", "--quiet", "--requeue", "--reservation", "--signal", "--spread-job",
    "--test-only", "--time", "--tres-per-task", "--uid", "--usage", "--version", "--wait",
    "--wrap",
))  # fmt: skip
# These give a job other processors than it asks the broker for: whole nodes, more nodes than it has
# tasks for, more processors of a task, core or GPU. So they pass the limits of users, and what the
# broker counts as idle. The administrator may give them to all jobs of a cluster.
GIVES_MORE = frozenset((
    "--core-spec", "--cores-per-socket", "--cpus-per-gpu", "--exclusive", "--extra-node-info",
    "--hint", "--mincpus", "--nodefile", "--nodes", "--ntasks-per-core", "--ntasks-per-gpu",
    "--ntasks-per-node", "--ntasks-per-socket", "--sockets-per-node", "--thread-spec",
    "--threads-per-core", "-B", "-F", "-N", "-S",
))  # fmt: skip
# Of these only one value each: one node, and features without a number of nodes.
_ONE_NODE = frozenset({"--nodelist", "-w"})
_FEATURES = frozenset({"--constraint", "--prefer", "-C"})
# --extra is an option of its own; a Slurm that does not have it reads it as --extra-node-info, and
# only what that can have as its value would give more there.
_SOCKETS = re.compile(r"[0-9*:\-\skKmM]*")
_NODE = re.compile(r"[A-Za-z0-9_.-]+")
# Options that need no value. Any other without a value would take the next word for it.
_ALONE = frozenset((
    "--contiguous", "--exclusive", "--nice", "--no-kill", "--overcommit", "--oversubscribe",
    "--propagate", "--reboot", "--use-min-nodes", "--verbose", "-O", "-k", "-s", "-v",
))  # fmt: skip
# Short options that have a value, which must be in the same word.
_SHORT = frozenset("ABCFGLNSmpqwx")


def check_native(options: Sequence[str], *, administrator: bool = False) -> str | None:
    """What is wrong with a user's own options for sbatch, or the administrator's; or None."""
    for word in options:
        wrong = _wrong(word) or (None if administrator else _gives_more(word))
        if wrong is not None:
            return wrong
    return None


def _wrong(word: str) -> str | None:
    if not word.startswith("-") or word in ("-", "--"):
        return f"{word!r} is not an option: write --option=value as one word"
    name, given, _value = word.partition("=")
    if not word.startswith("--"):
        if word in _ALONE or (word[1] in _SHORT and len(word) > 2):
            return None
        return f"{word!r}: write the long form of this option, as --option=value"
    if any(option.startswith(name) for option in FORBIDDEN):
        return f"{word!r} is set by metabroker itself: leave it out"
    if not given and name not in _ALONE:
        return f"{word!r} has no value: write --option=value as one word"
    return None


def _gives_more(word: str) -> str | None:
    name, _given, value = word.partition("=")
    if not word.startswith("--"):
        name, value = word[:2], word[2:]
    if name == "--extra" and _SOCKETS.fullmatch(value) is None:
        return None
    if _is(name, GIVES_MORE):
        return f"{word!r} would change the number of processors of the job: leave it out"
    if _is(name, _ONE_NODE) and _NODE.fullmatch(value) is None:
        return f"{word!r} would give the job several nodes: name one, or leave it out"
    if _is(name, _FEATURES) and "*" in value:
        return f"{word!r} would give the job several nodes: leave the number out"
    return None


def _is(name: str, options: frozenset[str]) -> bool:
    """Whether a name, which may be shortened, is one of the options, or could be."""
    if not name.startswith("--"):
        return name in options
    return any(option.startswith(name) for option in options if option.startswith("--"))
