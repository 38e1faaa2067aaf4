"""The options of `submit`: from the command line and the script's directives to a submission."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import click
from click.core import ParameterSource

from metabroker.cli import types
from metabroker.submission import environment
from metabroker.submission.checks import check, check_script
from metabroker.submission.directives import Directive, directives
from metabroker.submission.errors import SubmissionError
from metabroker.submission.model import Processors, Submission

Options = dict[str, Any]
_FORMS = ("single", "components", "on", "total")


def _staging(_ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> None:
    if value:
        raise SubmissionError(
            f"{param.opts[0]} is not in this version yet",
            "keep the files in a folder that the clusters share",
        )


def job_options() -> list[click.Option]:
    """The options that a script may give as directives, too."""
    option = click.Option
    return [
        option(
            ["-n", "single"], type=types.COUNT, metavar="N", help="one component of N processors"
        ),
        option(["--cluster"], type=types.ClusterName(), metavar="NAME", help="with -n: where"),
        option(
            ["--components"],
            type=types.COMPONENTS,
            metavar="N,N,...",
            help="an unordered request: the broker chooses the clusters",
        ),
        option(
            ["--on"], type=types.ON, metavar="NAME:N,...", help="an ordered request: these clusters"
        ),
        option(
            ["--total"],
            type=types.COUNT,
            metavar="N",
            help="a flexible request: the broker splits it",
        ),
        option(
            ["-t", "--time"],
            type=types.TIME,
            metavar="TIME",
            help="time limit: minutes, H:MM:SS or D-HH:MM:SS",
        ),
        option(["-J", "--job-name", "name"], metavar="NAME", help="default: the script's name"),
        option(
            ["-o", "--output"],
            metavar="PATH",
            help="the script's output; %j is the job, %c the component",
        ),
        option(["-e", "--error"], metavar="PATH", help="its errors; default: with the output"),
        option(["-D", "--chdir"], metavar="DIR", help="where the script runs; default: here"),
        option(
            ["--export"],
            metavar="LIST",
            help="NONE (default), ALL, or NAME and NAME=value: variables the script is given",
        ),
        option(
            ["--native"],
            type=types.NATIVE,
            metavar="CLUSTER:'OPTIONS'",
            multiple=True,
            help="options for that cluster's own submit command",
        ),
        option(
            ["--stage-in"],
            metavar="FILE",
            multiple=True,
            callback=_staging,
            expose_value=False,
            help="not in this version yet",
        ),
        option(
            ["--stage-out"],
            metavar="GLOB",
            multiple=True,
            callback=_staging,
            expose_value=False,
            help="not in this version yet",
        ),
        option(["--hold"], is_flag=True, help="do not start it before `metabroker release`"),
        option(["--wait"], is_flag=True, help="wait for its end; exit with its exit code"),
    ]


def with_job_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add them to the command `submit`."""
    params: list[click.Parameter] = getattr(command, "__click_params__", [])
    command.__click_params__ = [*params, *reversed(job_options())]  # type: ignore[attr-defined]
    return command


def given(context: click.Context) -> Options:
    """The options of the job that the command line gives, defaults left out."""
    names = {option.name for option in job_options()}
    return {
        name: value
        for name, value in context.params.items()
        if name in names and context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }


def merged(command_line: Options, script: Options) -> Options:
    """Both together; the command line wins, and its form of the request replaces the script's."""
    kept = dict(script)
    if any(form in command_line for form in _FORMS):
        for form in _FORMS:
            kept.pop(form, None)
        if "single" not in command_line:
            kept.pop("cluster", None)
    both = {**kept, **command_line}
    both["native"] = {**dict(kept.get("native", ())), **dict(command_line.get("native", ()))}
    return both


def script_options(script: bytes, file: str) -> Options:
    """The options in the script's directives. Raises `SubmissionError` with file and line."""
    result: Options = {}
    native: dict[str, tuple[str, ...]] = {}
    for directive in directives(script, file):
        options = _parsed(directive, f"{file}:{directive.line}")
        native.update(options.pop("native", ()))
        result.update(options)
    return {**result, "native": tuple(native.items())}


def _parsed(directive: Directive, where: str) -> Options:
    command = click.Command("#METABROKER", params=list(job_options()), add_help_option=False)
    try:
        return given(command.make_context("#METABROKER", list(directive.words)))
    except SubmissionError as error:
        raise SubmissionError(f"{where}: {error.what}", error.advice) from error
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
    check_script(script, script_name)
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
        name=options.get("name"),
        time_limit=options.get("time"),
        output=options.get("output"),
        error=options.get("error"),
        environment=environment.resolve(options.get("export", environment.DEFAULT), environ),
        native=options["native"],
        hold=options.get("hold", False),
        request_id=request_id,
    )
    check(submission)
    return submission


def _directory(named: str | None) -> str:
    try:
        return os.path.abspath(named or ".")
    except OSError as error:
        what = f"the current directory cannot be found: {error.strerror}"
        raise SubmissionError(what, "change to one that is there, or give --chdir") from error
