"""`sbatch`: one batch job, from a file, from standard input, or from `--wrap`."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from metabroker import __version__
from metabroker.api.client import exit_code_of
from metabroker.frontends.link import client
from metabroker.frontends.main import FrontEndError
from metabroker.submission.build import Options, interpreter_of, merged, submission_of
from metabroker.submission.checks import LARGEST_SCRIPT
from metabroker.submission.directives import directives, qsub, sbatch
from metabroker.submission.directives.getopt import Given, Takes
from metabroker.submission.wire import to_wire

_OF_BROKER = re.compile(r"mb-[0-9a-z]+(-[0-9]+){3,4}")
_COUNTS = ("ntasks", "nodes", "ntasks-per-node")
# Variables that stand for an option, where the name is not SBATCH_ and the option's own.
_VARIABLES = {
    "array": "SBATCH_ARRAY_INX",
    "bb": "SBATCH_BURST_BUFFER",
    "clusters": "SBATCH_CLUSTERS",
    "cpu-freq": "SBATCH_CPU_FREQ_REQ",
    "mem": "SBATCH_MEM_PER_NODE",
    "segment": "SBATCH_SEGMENT_SIZE",
    "time": "SBATCH_TIMELIMIT",
    "verbose": "SBATCH_DEBUG",
}
_NO_VARIABLE = frozenset({
    "begin", "chdir", "comment", "contiguous", "cpus-per-task", "deadline", "dependency",
    "exclude", "export-file", "extra", "gid", "help", "hold", "kill-on-invalid-dep", "licenses",
    "mail-type", "mail-user",
    "nice", "nodelist", "nodes", "ntasks", "ntasks-per-node", "parsable", "priority", "quiet",
    "reboot", "test-only", "tmp", "uid", "usage", "version", "wrap",
})  # fmt: skip


def run(words: list[str]) -> int:
    """The command. Raises `FrontEndError`, `SubmissionError`, `ClientError`."""
    line, rest = sbatch.of_command_line(words)
    named = {each.name: each for each in line}
    if "version" in named:
        print(f"slurm metabroker-{__version__}")
        return 0
    if "help" in named or "usage" in named:
        print(f"Usage: sbatch [OPTIONS(0)...] executable [args(0)...]\n{_HELP}")
        return 0
    script, name, args = _script(named, rest)
    own = directives(script, name)
    if own:
        what = f"{name}:{own[0].line}: #METABROKER lines are options of metabroker submit"
        raise FrontEndError(what, "submit the script by that, or write #SBATCH lines")
    given = [*sbatch.of_script(script, name), *_of_environment(), *line]
    options = _options(given, script, name)
    if _OF_BROKER.fullmatch(str(options.get("name"))):
        what = "a daemon of metabroker takes this for its cluster's own sbatch"
        raise FrontEndError(what, "name the folder of that one: `bin` of the cluster")
    submission = replace(submission_of(options, script, name, tuple(args)), speaks="slurm")
    way, said = client(), {each.name: each for each in given}
    if "test-only" in said:
        return _tell_plan(way.dry_run(to_wire(submission)))
    number = int(way.submit(to_wire(submission))["job"])
    _tell(number, said, options.get("cluster"))
    return _end_of(number) if options.get("wait") else 0


_HELP = "The options are those of Slurm's sbatch; docs/submit.md says what becomes of each."


def _script(named: dict[str, Given], rest: list[str]) -> tuple[bytes, str, list[str]]:
    """The script, its name, and its arguments."""
    wrap = named.get("wrap")
    if wrap is not None:
        if rest:
            raise FrontEndError("Script arguments not permitted with --wrap option")
        text = f"#!/bin/sh\n# This script was created by sbatch --wrap.\n\n{wrap.value}\n\n"
        return os.fsencode(text), "wrap", []
    if not rest:
        return sys.stdin.buffer.read(LARGEST_SCRIPT + 1), "sbatch", []
    path = _found(rest[0])
    try:
        with open(path, "rb") as file:
            return file.read(LARGEST_SCRIPT + 1), os.path.basename(path), rest[1:]
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise FrontEndError(f"Unable to open file {rest[0]}: {why}") from error


def _found(name: str) -> str:
    """A name without a folder may be one of PATH."""
    if "/" in name or os.path.exists(name):
        return name
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, name)
        if os.access(path, os.R_OK) and os.path.isfile(path):
            return path
    return name


def _of_environment() -> list[Given]:
    """What the environment says: over the script, under the command line."""
    found = []
    for each in sbatch.ROWS:
        name = each.names[0]
        variable = _VARIABLES.get(name) or f"SBATCH_{name.upper().replace('-', '_')}"
        value = os.environ.get(variable)
        if value is None or name in _NO_VARIABLE:
            continue
        found.append(Given(name, None if each.takes is Takes.NOTHING else value, variable))
    return found


def _options(given: Sequence[Given], script: bytes, name: str) -> Options:
    options = sbatch.translate(given)
    if not any(each.name == "ignore-pbs" for each in given):
        pbs = qsub.of_script(script, name)
        if pbs:
            if not any(each.name in _COUNTS for each in given):
                options.pop("single")
            options = merged(options, qsub.translate(pbs, interpreter_of(script)))
    options.setdefault("export", "ALL")
    if "output" not in options:
        options["output"] = "slurm-%A_%a.out" if "array" in options else "slurm-%j.out"
    return options


def _tell(number: int, said: dict[str, Given], cluster: str | None) -> None:
    if "parsable" in said:
        print(f"{number};{cluster}" if cluster else number)
    elif "quiet" not in said:
        print(f"Submitted batch job {number}" + (f" on cluster {cluster}" if cluster else ""))
    sys.stdout.flush()


def _tell_plan(plan: dict[str, Any]) -> int:
    from metabroker.frontends.printing import moment

    expected = plan["expected_start"]
    start = expected["likely"] if expected else plan["earliest_start"]
    when = moment(start, "a time that is not known")
    processors = sum(component["processors"] for component in plan["components"])
    print(f"sbatch: Job to start at {when} using {processors} processors", file=sys.stderr)
    return 0


def _end_of(number: int) -> int:
    """`--wait`: the job's own exit code."""
    return exit_code_of(client().wait(number, lambda _: None, began=True))
