"""Whether a submission can be taken at all, whatever clusters there are.

Run by the command line, so that a mistake is told at once, and again by the daemon, which trusts
nobody. Quotes, `$(...)` and semicolons in names and arguments are data, and are fine: nothing of
a submission is ever read by a shell.
"""

from __future__ import annotations

import re

from metabroker.submission.environment import OURS
from metabroker.submission.errors import SubmissionError
from metabroker.submission.model import AskedOption, Processors, Submission
from metabroker.submission.patterns import check_pattern
from metabroker.submission.requests import LARGEST, MOST_COMPONENTS, check_latency
from metabroker.submission.shape import ANY_PROCESSORS, LARGEST_MEMORY, Shape
from metabroker.submission.tasks import parse_array
from metabroker.submission.text import check_cluster, check_data, check_line, check_variable, shown
from metabroker.submission.times import check_seconds

LARGEST_SCRIPT = 4 * 1024 * 1024  # bytes
LONGEST_NAME = 255  # characters
LONGEST_PATH = 4096
LONGEST_WORD = 128 * 1024 - 1  # bytes of one argument or variable; the kernel's limit
MOST_WORDS = 10_000
MOST_FILES = 1000  # of one job, named by themselves
MOST_PIECES = 4096  # names between slashes in all patterns of one job's results
LARGEST_JOB = 10**18 - 1  # a job's number
MOST_ASKED = 200  # options of sbatch and qsub in one job
LARGEST_WORDS = 1024 * 1024  # bytes of all arguments, or of all variables

_MOST_CORRESPONDING = 200_000  # tasks that those of one array wait for
_INTERPRETER = re.compile(rb"#![ \t]*(/[^ \t\r\n]+)[^\r\n]*")
_REQUEST_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")


def check(submission: Submission) -> None:
    """Raises `SubmissionError` for the first thing that is wrong."""
    check_script(submission.script, submission.script_name)
    check_processors(submission.processors, submission.shape)
    check_line("the script's name", submission.script_name, LONGEST_NAME)
    if submission.name is not None:
        check_line("the job's name", submission.name, LONGEST_NAME)
    _check_directory(submission.chdir)
    _check_files(submission)
    if submission.time_limit is not None:
        check_seconds(submission.time_limit)
    for what, pattern in (("-o", submission.output), ("-e", submission.error)):
        if pattern is not None:
            check_pattern(what, pattern)
    _check_words("argument", submission.args)
    _check_environment(submission.environment)
    for cluster, words in submission.native.items():
        check_cluster(cluster)
        _check_words(f"native option of {cluster}", words)
    _check_asked(submission.asked)
    _check_dependency(submission)
    _check_joins(submission)
    if submission.max_latency is not None:
        check_latency(submission.max_latency)
    if not submission.inputs.files and submission.only_at_input:
        raise SubmissionError(
            "--only-at-input names no files", "say where they are with --input-at"
        )
    if submission.speaks not in (None, "slurm", "pbs"):
        what = f"a job cannot speak as {shown(submission.speaks)} does"
        raise SubmissionError(what, "use the commands of the daemon's own version")
    request_id = submission.request_id
    if request_id is not None and _REQUEST_ID.fullmatch(request_id) is None:
        what = f"the request id {shown(request_id)} cannot be used"
        raise SubmissionError(what, "use at most 128 letters, digits and _ . : -")


def _check_dependency(submission: Submission) -> None:
    """Also of a job that has none: its array."""
    after, array = submission.after, submission.array
    tasks = 0 if array is None else len(parse_array(array).tasks)
    if after is not None and tasks * len(after.corresponding) > _MOST_CORRESPONDING:
        what = f"{tasks} tasks wait for those of {len(after.corresponding)} other arrays each"
        raise SubmissionError(what, "name fewer arrays with aftercorr")


def _check_joins(submission: Submission) -> None:
    """It is one component of another job."""
    if submission.joins is None:
        return
    if not 0 < submission.joins <= LARGEST_JOB:
        raise SubmissionError("--join names no job", "name it by its number: --join 12")
    if submission.processors.single is None:
        what = "a job that joins another one has one component"
        raise SubmissionError(what, "say how large with -n; each component joins by itself")
    if submission.array is not None:
        what = "--join and --array cannot go together"
        raise SubmissionError(what, "submit each task with --join by itself")
    after = submission.after
    if after is not None and after.either:
        what = "a job that joins another one cannot wait for either of several jobs"
        raise SubmissionError(what, "write the dependency with , in the place of ?")


def _check_asked(asked: tuple[AskedOption, ...]) -> None:
    if len(asked) > MOST_ASKED:
        what = f"{len(asked)} options for its cluster are too many"
        raise SubmissionError(what, f"use at most {MOST_ASKED}")
    for each in asked:
        check_line("an option", each.option, LONGEST_NAME)
        for text in (each.value, each.where, each.called):
            if text:
                check_line(f"the option {shown(each.option)}", text, LONGEST_PATH)


def _check_directory(path: str) -> None:
    check_line("the directory", path, LONGEST_PATH)
    if not path.startswith("/"):
        what = f"the directory {shown(path)} is not absolute"
        raise SubmissionError(what, "begin it with /")


def _check_files(submission: Submission) -> None:
    """Files that are sent and brought back lie below the directory of the submission."""
    given = {"--stage-in": submission.stage_in, "--stage-out": submission.stage_out}
    for option, names in given.items():
        if len(names) > MOST_FILES:
            raise SubmissionError(
                f"{option} is given {len(names)} times", f"at most {MOST_FILES}; use an archive"
            )
        for name in names:
            check_line(f"the file of {option}", name, LONGEST_PATH)
            if any(part in ("", ".", "..") for part in name.split("/")):
                what = f"{option} {shown(name)} leads out of the directory, or is not a plain name"
                advice = (
                    "name it from there, as in data/input.nc, without / at an end and without .."
                )
                raise SubmissionError(what, advice)
    pieces = sum(1 + pattern.count("/") for pattern in submission.stage_out)
    if pieces > MOST_PIECES:
        raise SubmissionError(
            f"the patterns of --stage-out contain {pieces} names",
            f"at most {MOST_PIECES}; name the folders that the files are in",
        )
    if submission.stages:
        if submission.submit_dir is None:
            raise SubmissionError(
                "the submission does not say where its files are", "send submit_dir too"
            )
        _check_directory(submission.submit_dir)


def check_script(script: bytes, name: str) -> None:
    """A script is text of at most 4 MB with an interpreter line."""
    file = shown(name)
    if len(script) > LARGEST_SCRIPT:
        raise SubmissionError(
            f"the script {file} has {len(script)} bytes",
            f"use at most {LARGEST_SCRIPT}, and keep data in separate files",
        )
    if not script.strip():
        raise SubmissionError(f"the script {file} is empty", "begin it with #!/bin/sh")
    if b"\0" in script:
        raise SubmissionError(
            f"the script {file} is binary",
            "submit a text script that runs the program",
        )
    match = _INTERPRETER.match(script)
    if match is None:
        raise SubmissionError(
            f"the script {file} has no interpreter line",
            "begin it with #! and the path of its interpreter, for example #!/bin/sh",
        )
    if script[match.end() :].startswith(b"\r"):
        raise SubmissionError(
            f"the script {file} has DOS line ends",
            "convert it, for example with dos2unix",
        )


def check_processors(request: Processors, shape: Shape = ANY_PROCESSORS) -> None:
    """Exactly one of the four forms, with positive counts, also of processors; a shape that can
    be."""
    _check_shape(shape)
    forms = {
        "-n": request.single,
        "--components": request.components,
        "--on": request.on,
        "--total": request.total,
    }
    given = [option for option, value in forms.items() if value is not None]
    if len(given) != 1:
        what = "the submission does not say how many processors it needs"
        if given:
            what = f"{' and '.join(given)} are given"
        raise SubmissionError(what, "give exactly one of -n, --components, --on, --total")
    if request.cluster is not None:
        if request.single is None:
            what = f"--cluster can be used with -n, not with {given[0]}"
            raise SubmissionError(what, "name the clusters with --on, or leave --cluster out")
        check_cluster(request.cluster)
    counts = _counts(request)
    if not counts or len(counts) > MOST_COMPONENTS:
        what = f"{len(counts)} components cannot be requested"
        raise SubmissionError(what, f"ask for 1 to {MOST_COMPONENTS}")
    for count in counts:
        count *= shape.cpus_per_task
        if not 0 < count <= LARGEST:
            told = count if abs(count) <= 10 * LARGEST else shown(str(count))
            what = f"{told} processors cannot be requested"
            raise SubmissionError(what, f"ask for 1 to {LARGEST}")
    for cluster, _ in request.on or ():
        check_cluster(cluster)


def _check_shape(shape: Shape) -> None:
    amounts = {
        "-c": (shape.cpus_per_task, 1, LARGEST),
        "--gpus": (shape.gpus, 0, LARGEST),
        "--gpus-per-task": (shape.gpus_per_task, 0, LARGEST),
        "--mem": (shape.memory, 0, LARGEST_MEMORY),
        "--mem-per-cpu": (shape.memory_per_cpu, 0, LARGEST_MEMORY),
    }
    for option, (amount, least, most) in amounts.items():
        if not least <= amount <= most:
            what = f"{option} {shown(str(amount))} cannot be requested"
            raise SubmissionError(what, f"ask for {max(1, least)} to {most}, or leave it out")
    for one, other in (("--mem", "--mem-per-cpu"), ("--gpus", "--gpus-per-task")):
        if amounts[one][0] and amounts[other][0]:
            raise SubmissionError(f"{one} and {other} are given", "give one of them")


def _counts(request: Processors) -> list[int]:
    counts = [count for count in (request.single, request.total) if count is not None]
    counts.extend(request.components or ())
    counts.extend(count for _, count in request.on or ())
    return counts


def _check_words(what: str, words: tuple[str, ...]) -> None:
    if len(words) > MOST_WORDS:
        raise SubmissionError(f"{len(words)} {what}s are too many", f"use at most {MOST_WORDS}")
    for index, word in enumerate(words, start=1):
        check_data(f"{what} {index}", word, LONGEST_WORD)
    _check_sum(f"all {what}s", sum(len(word) for word in words))


def _check_environment(environment: dict[str, str]) -> None:
    if len(environment) > MOST_WORDS:
        what = f"{len(environment)} exported variables are too many"
        raise SubmissionError(what, f"use at most {MOST_WORDS}")
    for name, text in environment.items():
        check_variable(name)
        if name in OURS:
            what = f"the variable {name} is set by the broker"
            raise SubmissionError(what, "leave it out of --export")
        check_data(f"the variable {name}", text, LONGEST_WORD - len(name) - 1)
    size = sum(len(name) + len(text) for name, text in environment.items())
    _check_sum("all exported variables", size)


def _check_sum(what: str, size: int) -> None:
    if size > LARGEST_WORDS:
        what = f"{what} together have {size} characters"
        raise SubmissionError(what, f"use at most {LARGEST_WORDS}")
