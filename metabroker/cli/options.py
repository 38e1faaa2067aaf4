"""The options of `submit`: from the command line and the script's directives to a submission."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from metabroker.cli import common, types
from metabroker.submission.build import Options, foreign_options, merged, submission_of
from metabroker.submission.checks import LARGEST_SCRIPT
from metabroker.submission.directives import Directive, directives
from metabroker.submission.errors import SubmissionError
from metabroker.submission.model import Submission
from metabroker.submission.text import shown

_VALUED: tuple[tuple[str, click.ParamType[Any] | None, str, str], ...] = (
    ("--ntasks -n single", types.COUNT, "N", "one component of N tasks (of one processor each)"),
    ("-c --cpus-per-task", types.COUNT, "N", "processors of each task, on one node (default: 1)"),
    ("-N --nodes", None, "N", "with -n: on so many nodes (N-M: at least, at most); alone: N tasks"),
    ("--ntasks-per-node", types.COUNT, "N", "with --nodes: N tasks on each"),
    ("--mem memory", types.MEMORY, "SIZE", "memory on each node of the job: 500M, 4G"),
    ("--mem-per-cpu memory_per_cpu", types.MEMORY, "SIZE", "memory for each processor"),
    ("--gpus", types.GPUS, "N", "GPUs of each component"),
    ("--gpus-per-task", types.GPUS, "N", "GPUs of each task, on its node"),
    ("--cluster", types.ClusterName(), "NAME", "with -n: run in this cluster"),
    (
        "--components",
        types.COMPONENTS,
        "N,N,...",
        "unordered request: the broker chooses the clusters; N+ is optional, and may come later",
    ),
    ("--on", types.ON, "NAME:N,...", "ordered request: run in these clusters; N+ is optional"),
    (
        "--join",
        common.JobId(),
        "JOB",
        "with -n: join that job of yours: start while it runs, and end with it",
    ),
    ("--total", types.COUNT, "N", "flexible request: the broker splits it"),
    (
        "--max-latency",
        types.LATENCY,
        "MS",
        "only clusters that are known to be at most so many milliseconds apart",
    ),
    ("-t --time", types.TIME, "TIME", "time limit: minutes, H:MM:SS or D-HH:MM:SS"),
    ("-J --job-name name", None, "NAME", "name of the job (default: the script's name)"),
    ("-o --output", None, "PATH", "file for the output; %j is the job, %c the component"),
    ("-e --error", None, "PATH", "file for the errors (default: with the output)"),
    ("-D --chdir", None, "DIR", "folder in which the script runs (default: the current one)"),
    (
        "--export",
        None,
        "LIST",
        "variables for the script: NONE (default), ALL, or a list of NAME and NAME=value",
    ),
    (
        "--native",
        types.NATIVE,
        "CLUSTER:'OPTIONS'",
        "options for that cluster's own submit command",
    ),
    ("-a --array", types.ARRAY, "TASKS", "an array of jobs, as of sbatch: 0-99, 1,3,5-7, 0-15:4%2"),
    ("-d --dependency", types.DEPENDENCY, "TYPE:JOB", "wait for other jobs, as of sbatch"),
    (
        "--stage-in",
        None,
        "FILE",
        "send this file, below the current folder, to each of the job's clusters",
    ),
    (
        "--input-at",
        types.INPUT,
        "CLUSTER:PATH[:SIZE]",
        "a file that the job reads lies there, or copies of it: delft:/data/x,lab:/x:20G",
    ),
    (
        "--stage-out",
        None,
        "GLOB",
        "bring matching results back to metabroker-JOB.COMPONENT/; ** matches any folders",
    ),
)
"""Options with a value: their names, its type (None: text), its name, and the help."""
_REPEATED = ("--native", "--stage-in", "--stage-out", "--input-at")
_FLAGS = (
    ("--exclusive", "share nodes with no other job"),
    ("--only-at-input", "run only in clusters in which all files of --input-at lie"),
    ("--kill-on-invalid-dep", "cancel the job if what it waits for can never be"),
    ("--hold", "hold the job until `metabroker release`"),
    ("--wait", "wait for the end of the job; exit with its exit code"),
)


def job_options() -> list[click.Parameter]:
    """The options that a script may give as directives, too."""
    valued = [
        click.Option(
            names.split(), type=kind, metavar=metavar, help=text, multiple=names in _REPEATED
        )
        for names, kind, metavar, text in _VALUED
    ]
    return [*valued, *(click.Option([name], is_flag=True, help=text) for name, text in _FLAGS)]


def given(context: click.Context) -> Options:
    """The options of the job that the command line gives, defaults left out."""
    names = {option.name for option in job_options()}
    found = {
        name: value
        for name, value in context.params.items()
        if name in names and context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    return _with_layout(found)


def _with_layout(options: Options) -> Options:
    """On how many nodes a component's tasks are, as sbatch understands that."""
    layout = {name: options.pop(name) for name in ("nodes", "ntasks_per_node") if name in options}
    if not layout:
        return options
    if any(form in options for form in ("components", "on", "total")):
        what = "--nodes and --ntasks-per-node are of a job with one component"
        raise SubmissionError(what, "leave them out, or say -n")
    words = {name.replace("_", "-"): str(value) for name, value in layout.items()}
    if "single" in options:
        words["ntasks"] = str(options["single"])
    from metabroker.submission.directives import sbatch

    return {**options, **sbatch.layout(words)}


def script_options(script: bytes, file: str) -> Options:
    """The options in the script's directives, those of sbatch and qsub too: `#METABROKER` lines win
    over these. Raises `SubmissionError` with file and line."""
    result: Options = {}
    native: dict[str, tuple[str, ...]] = {}
    for directive in directives(script, file):
        options = _parsed(directive, f"{file}:{directive.line}")
        native.update(options.pop("native", ()))
        for name in ("stage_in", "stage_out", "input_at"):
            if name in options:
                options[name] = (*result.get(name, ()), *options[name])
        result.update(options)
    result["native"] = tuple(native.items())
    foreign = foreign_options(script, file)
    return merged(result, foreign) if foreign else result


def _parsed(directive: Directive, where: str) -> Options:
    command = click.Command("#METABROKER", params=job_options(), add_help_option=False)
    try:
        return given(command.make_context("#METABROKER", list(directive.words)))
    except SubmissionError as error:
        raise SubmissionError(f"{where}: {error.message}", error.advice) from error
    except click.UsageError as error:
        message = error.format_message().strip().removesuffix(".")
        advice = "the options are those of `metabroker submit --help`"
        raise SubmissionError(f"{where}: {message[:1].lower()}{message[1:]}", advice) from error


def build(
    options: Options,
    script: bytes,
    script_name: str,
    args: tuple[str, ...],
    *,
    request_id: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Submission:
    """The submission, checked. Raises `SubmissionError`."""
    submission = submission_of(
        options, script, script_name, args, request_id=request_id, environ=environ
    )
    _check_there(submission)
    return submission


def read_script(named: str | os.PathLike[str]) -> tuple[bytes, str]:
    """A script's bytes (one more than allowed at most) and its name.

    Raises:
        SubmissionError: it cannot be read.
    """
    path = Path(named)
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_SCRIPT + 1), path.name
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)  # not ours
        message = f"the script {os.fspath(named)!a} cannot be read: {reason}"
        raise SubmissionError(message, "name a readable file, or - for stdin") from error


def _check_there(submission: Submission) -> None:
    """What is not there can be told at once."""
    if not submission.stage_in:
        return
    try:
        from metabroker.clusters.submit_directory import LocalSubmitDirectory
    except ModuleNotFoundError:
        return  # of the light command line: the daemon looks

    home = LocalSubmitDirectory()
    for name in submission.stage_in:
        try:
            why = None if home.look(submission.submit_dir or "", name) else "it is not there"
        except OSError as error:
            why = error.strerror
        if why is not None:
            raise SubmissionError(
                f"--stage-in {shown(name)} cannot be sent: {why}",
                f"name a regular file below {submission.submit_dir}",
            )
