"""From options, by the names of `submit`'s own, to a submission.

Options come from a command line, from `#METABROKER` lines, and from `#SBATCH` and `#PBS` lines; of
two that say the same the former of these wins.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from metabroker.submission import environment
from metabroker.submission.checks import check, check_script
from metabroker.submission.errors import SubmissionError
from metabroker.submission.inputs import LARGEST
from metabroker.submission.model import AskedOption, Processors, Submission
from metabroker.submission.optional import refuse_optional
from metabroker.submission.shape import Shape

Options = dict[str, Any]
_SHAPE = ("cpus_per_task", "memory", "memory_per_cpu", "gpus", "gpus_per_task", "exclusive")
_EITHER = (("memory", "memory_per_cpu"), ("gpus", "gpus_per_task"))  # one replaces the other
_FORMS = ("single", "components", "on", "total")
_LAYOUT = ("nodes", "ntasks-per-node", "gpus-per-node")


def merged(first: Options, second: Options) -> Options:
    """Both together; the first wins, and its form of the request replaces the second's."""
    kept = dict(second)
    asked: tuple[AskedOption, ...] = kept.pop("asked", ())
    if any(form in first for form in _FORMS):
        for form in _FORMS:
            kept.pop(form, None)
        if "single" not in first:
            kept.pop("cluster", None)
        asked = tuple(each for each in asked if each.option not in _LAYOUT)
    for pair in _EITHER:
        if any(name in first for name in pair):
            for name in pair:
                kept.pop(name, None)
    both = {**kept, **first}
    for files in ("stage_in", "stage_out", "input_at"):
        both[files] = tuple(dict.fromkeys((*second.get(files, ()), *first.get(files, ()))))
    both["native"] = {**dict(kept.get("native", ())), **dict(first.get("native", ()))}
    ours = {each.option for each in first.get("asked", ())}
    both["asked"] = (*first.get("asked", ()), *(each for each in asked if each.option not in ours))
    return both


def foreign_options(script: bytes, file: str) -> Options:
    """What the `#SBATCH` and `#PBS` lines of a script give; as with sbatch, the latter win.

    Raises:
        SubmissionError: an option that nothing can become of, with file and line.
    """
    if b"#SBATCH" not in script and b"#PBS" not in script:
        return {}
    # Their tables take longer to make than all else of a submission.
    from metabroker.submission.directives import qsub, sbatch

    slurm, pbs = sbatch.of_script(script, file), qsub.of_script(script, file)
    found = sbatch.translate(slurm) if slurm else {}
    return merged(qsub.translate(pbs, interpreter_of(script)), found) if pbs else found


def interpreter_of(script: bytes) -> str:
    """What its first line names; empty: nothing."""
    first = script.split(b"\n", 1)[0]
    words = first[2:].split() if first.startswith(b"#!") else []
    return words[0].decode("utf-8", "replace") if words else ""


def submission_of(
    options: Options,
    script: bytes,
    script_name: str,
    args: tuple[str, ...],
    *,
    request_id: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Submission:
    """The submission, checked. Raises `SubmissionError`."""
    refuse_optional(options)
    check_script(script, script_name)
    home = _submit_dir(options)
    stage_in = tuple(os.path.normpath(name) for name in options.get("stage_in", ()))
    submission = Submission(
        script=script,
        script_name=script_name,
        processors=Processors(
            single=options.get("single"),
            cluster=options.get("cluster"),
            components=options.get("components"),
            on=options.get("on"),
            total=options.get("total"),
        ),
        chdir=_directory(options.get("chdir")),
        args=args,
        shape=Shape(**{name: options[name] for name in _SHAPE if name in options}),
        name=options.get("name"),
        time_limit=options.get("time"),
        output=options.get("output"),
        error=options.get("error"),
        environment=environment.resolve(options.get("export", environment.DEFAULT), environ),
        native=options.get("native", {}),
        hold=options.get("hold", False),
        request_id=request_id,
        stage_in=stage_in,
        stage_out=tuple(options.get("stage_out", ())),
        submit_dir=home,
        asked=tuple(options.get("asked", ())),
        dependency=options.get("dependency"),
        array=options.get("array"),
        max_latency=options.get("max_latency"),
        input_at=tuple(options.get("input_at", ())),
        only_at_input=options.get("only_at_input", False),
        staged_bytes=_bytes_of(home, stage_in),
        kill_on_invalid_dep=options.get("kill_on_invalid_dep", False),
        joins=options.get("join"),
    )
    check(submission)
    return submission


def _submit_dir(options: Options) -> str | None:
    """Where files come from and results go to; links in its own path are followed now."""
    staged = options.get("stage_in") or options.get("stage_out")
    return os.path.realpath(_directory(None)) if staged else None


def _directory(named: str | None) -> str:
    try:
        return os.path.abspath(named or ".")
    except OSError as error:
        what = f"the current directory cannot be found: {error.strerror}"
        raise SubmissionError(what, "change to one that is there, or give --chdir") from error


def _bytes_of(folder: str | None, names: Iterable[str]) -> int:
    """Bytes of the files of these names below a folder, as far as they can be seen now."""
    total = 0
    for name in names:
        try:
            total += os.stat(os.path.join(folder or ".", name)).st_size
        except (OSError, ValueError):
            continue  # whoever sends it says what is wrong with it
    return min(total, LARGEST)
