"""`qsub`: one batch job, from a file, from standard input, or of a command behind `--`."""

from __future__ import annotations

import os
import re
import shlex
import sys
from dataclasses import replace

from metabroker import __version__
from metabroker.api.client import exit_code_of
from metabroker.frontends import pbs
from metabroker.frontends.link import client
from metabroker.frontends.main import FrontEndError
from metabroker.submission.build import Options, interpreter_of, submission_of
from metabroker.submission.checks import LARGEST_SCRIPT
from metabroker.submission.directives import directives, qsub, sbatch
from metabroker.submission.wire import to_wire

_SHELL = re.compile(r"/[A-Za-z0-9_./+-]{1,120}")


def run(words: list[str]) -> int:
    """The command. Raises `FrontEndError`, `SubmissionError`, `ClientError`."""
    if words == ["--version"]:
        print(f"pbs_version = metabroker-{__version__}")
        return 0
    line, rest = qsub.of_command_line(words)
    # Behind the first word that is no option `--` is the script's own argument.
    raw, name, args = _script(rest, executable=words[: len(words) - len(rest)][-1:] == ["--"])
    own = [*qsub.of_script(raw, name), *line]
    script = _with_line(raw, [each.value or "" for each in own if each.name == "S"])
    others = directives(script, name) or sbatch.of_script(script, name)
    if others:
        what = f"{name}: it has lines of other commands than qsub (#SBATCH, #METABROKER)"
        raise FrontEndError(what, "submit it by sbatch, or by metabroker submit", 2)
    options = qsub.translate(own, interpreter_of(script))
    join = [each.value for each in own if each.name == "j"]
    _name_files(options, str(options.get("name") or name), join[-1] if join else "n")
    submission = replace(submission_of(options, script, name, tuple(args)), speaks="pbs")
    number = int(client().submit(to_wire(submission))["job"])
    if not any(each.name == "z" for each in own):
        print(pbs.job_id(f"{number}[]" if "array" in options else number))
        sys.stdout.flush()
    return _end_of(number) if options.get("wait") else 0


def _script(rest: list[str], *, executable: bool) -> tuple[bytes, str, list[str]]:
    """The script, its name, and its arguments."""
    if executable and rest:
        return os.fsencode(f"#!/bin/sh\nexec {shlex.join(rest)}\n"), "STDIN", []
    if not rest or rest == ["-"]:
        return sys.stdin.buffer.read(LARGEST_SCRIPT + 1), "STDIN", []
    try:
        with open(rest[0], "rb") as file:
            return file.read(LARGEST_SCRIPT + 1), os.path.basename(rest[0]), rest[1:]
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise FrontEndError(f"script file:: {why}") from error


def _with_line(script: bytes, shells: list[str]) -> bytes:
    """PBS gives a script to the user's shell, or to that of `-S` (the last counts); one that does
    not say what runs it runs in that, or in sh."""
    if script.startswith(b"#!") or not script.strip():
        return script
    shell = shells[-1] if shells and _SHELL.fullmatch(shells[-1]) else "/bin/sh"
    return f"#!{shell}\n".encode() + script


def _name_files(options: Options, name: str, join: str | None) -> None:
    """`NAME.oNUMBER` and `NAME.eNUMBER`, where it is not said, or a folder is."""
    stem, job = name.replace("%", "%%"), "%A.%a" if "array" in options else "%j"
    for key, letter in (("output", "o"), ("error", "e")):
        path, default = options.get(key), f"{stem}.{letter}{job}"
        if path is not None and (path.endswith("/") or os.path.isdir(path)):
            options[key] = f"{path.rstrip('/')}/{default}"
    if join == "eo":
        options.setdefault("output", f"{stem}.e{job}")
        return
    options.setdefault("output", f"{stem}.o{job}")
    if join != "oe":
        options.setdefault("error", f"{stem}.e{job}")


def _end_of(number: int) -> int:
    """`-W block=true`: the job's own exit code."""
    return exit_code_of(client().wait(number, lambda _: None, began=True))
