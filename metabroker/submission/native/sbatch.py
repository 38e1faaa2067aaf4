"""Which of sbatch's options users may give themselves (`--native CLUSTER:'OPTIONS'`).

sbatch reads its options as getopt does: a long one may be shortened, short ones may be run
together, and one that lacks its value takes the next word for it; the first word that is no
option is the script. So only words that can be read in one way, and change nothing that the
broker relies on, get through.
"""

from __future__ import annotations

from collections.abc import Sequence

# The broker sets these itself, or they would break what it counts with.
FORBIDDEN = frozenset(
    {
        "--array",
        "--begin",
        "--chdir",
        "--cluster",
        "--clusters",
        "--cpus-per-task",
        "--dependency",
        "--error",
        "--export",
        "--export-file",
        "--get-user-env",
        "--gid",
        "--help",
        "--hold",
        "--ignore-pbs",
        "--input",
        "--job-name",
        "--no-requeue",
        "--ntasks",
        "--open-mode",
        "--output",
        "--parsable",
        "--quiet",
        "--requeue",
        "--reservation",
        "--signal",
        "--spread-job",
        "--test-only",
        "--time",
        "--tres-per-task",
        "--uid",
        "--usage",
        "--version",
        "--wait",
        "--wrap",
    }
)
# Options that need no value. Any other without a value would take the next word for it.
_ALONE = frozenset(
    {
        "--contiguous",
        "--exclusive",
        "--nice",
        "--no-kill",
        "--overcommit",
        "--oversubscribe",
        "--propagate",
        "--reboot",
        "--use-min-nodes",
        "--verbose",
        "-O",
        "-k",
        "-s",
        "-v",
    }
)
# Short options that have a value, which must be in the same word.
_SHORT = frozenset("ABCFGLNSmpqwx")


def check_native(options: Sequence[str]) -> str | None:
    """What is wrong with a user's own options for sbatch, or None."""
    return next((wrong for word in options if (wrong := _wrong(word)) is not None), None)


def _wrong(word: str) -> str | None:
    if not word.startswith("-") or word in ("-", "--"):
        return f"{word!r} is not an option: write --option=value as one word"
    name, given, _value = word.partition("=")
    if not word.startswith("--"):
        if word in _ALONE or (word[1] in _SHORT and len(word) > 2):
            return None
        return f"{word!r}: write the long form of this option, as --option=value"
    if any(option.startswith(name) for option in FORBIDDEN):
        return f"{word!r} is metabroker's own to set: leave it out"
    if not given and name not in _ALONE:
        return f"{word!r} has no value: write --option=value as one word"
    return None
