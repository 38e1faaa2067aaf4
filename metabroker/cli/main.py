"""`metabroker`: finds the command, loads only its module, and turns every error into one line."""

from __future__ import annotations

import gc
import importlib.util
import os
import signal
import sys
from typing import Any, NoReturn

import click

from metabroker import __version__
from metabroker.cli.errors import FAILED, USAGE, CliError, complain
from metabroker.errors import AdvisedError
from metabroker.submission.errors import SubmissionError

# Command: the module and name of its click command, and what `metabroker --help` says of it.
COMMANDS = {
    "submit": ("submit:submit", "queue a job"),
    "queue": ("jobs:queue", "waiting and running jobs, and why each waits"),
    "show": ("jobs:show", "one job: its components, attempts and history"),
    "cancel": ("changes:cancel", "cancel jobs"),
    "hold": ("changes:hold", "hold waiting jobs"),
    "release": ("changes:release", "release held jobs"),
    "abandon": ("abandon:abandon", "write off a job that clusters cannot end (administrators)"),
    "wait": ("wait:wait", "wait until jobs have ended; exit with the job's exit code"),
    "clusters": ("clusters:clusters", "clusters: processors, health, age of the information"),
    "drain": ("drain:drain", "send nothing new to a cluster (administrators)"),
    "resume": ("drain:resume", "use a drained cluster again (administrators)"),
    "front-ends": (
        "front_ends:front_ends",
        "make a folder of sbatch, squeue and the others, to put in front of PATH",
    ),
    "page": ("page:page", "serve a live page of clusters and jobs to yourself"),
    "history": ("history:history", "ended jobs; --swf writes the Standard Workload Format"),
    "token": ("token:token", "make, list and revoke access tokens for other hosts"),
    "simulate": ("simulate:simulate", "simulate a policy on a workload or a log"),
    "backup": ("backup:backup", "copy the store while the daemon runs"),
    "restore": ("backup:restore", "replace the store by a backup"),
    "move-store": ("move_store:move_store", "move the store from SQLite to PostgreSQL"),
    "leftovers": (
        "leftovers:leftovers",
        "after a restore: what runs in clusters and the store does not know",
    ),
    "serve": ("serve:serve", "run the daemon"),
    "check": ("check:check", "validate a configuration without touching a cluster"),
    "doctor": (
        "doctor:doctor",
        "contact the clusters; tell what works, what is missing, and the fix",
    ),
    "demo": ("demo:demo", "run three simulated clusters and a few jobs, shown live"),
    "experiment": ("experiment:experiment", "reproduce a figure of a paper, or check its claims"),
    "advise": ("advise:advise", "what to set, by a site's own log replayed under each setting"),
    "completion": ("completion:completion", "print a completion script for a shell"),
}
GONE = {
    "install-service": "install the Debian package or the container image, or copy the unit from "
    f"{sys.prefix}/share/metabroker/systemd (docs/install.md)",
}
"""Commands of older releases: what to do instead."""

BRIEF = frozenset(
    ("submit", "queue", "show", "cancel", "hold", "release", "clusters", "drain", "resume")
)
"""They ask the daemon and hold nothing: that Python takes itself apart is a fifth of their time."""


class Commands(click.Group):
    """A group whose commands are imported only when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name, (where, _) in COMMANDS.items() if _is_here(where)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name][0].split(":")
        command = getattr(importlib.import_module(f"metabroker.cli.{module}"), name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            raise _no_command(name)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, text) for name, (where, text) in COMMANDS.items() if _is_here(where)]
            )


@click.group(
    cls=Commands,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="metabroker %(version)s")
def group() -> None:
    """One front door to several batch clusters, with co-allocation over actual reservations.

    `metabroker COMMAND --help` says more about a command.
    """


def main() -> NoReturn:
    """The console script. Exit codes: 0 done, 1 it could not be done, 2 wrong usage."""
    gc.set_threshold(50_000, 20, 50)  # what a start makes is no garbage
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _run()
        if sys.stdout is not None:  # it may have been closed before we came
            sys.stdout.flush()
    except BrokenPipeError:
        code = _closed()
    except OSError as error:  # what was to be written: all else is told by then
        complain(
            f"the output cannot be written: {error.strerror or error}",
            "check its disk, or where it is piped to",
        )
        code = _closed()
    except KeyboardInterrupt:
        _interrupted()
    if not BRIEF.isdisjoint(sys.argv[1:2]):
        if sys.stderr is not None:
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _run() -> int:
    """The command's exit code; every error it may end with, told."""
    try:
        code: Any = group.main(prog_name="metabroker", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.Abort as error:
        raise KeyboardInterrupt from error
    except BrokenPipeError:
        raise
    except click.ClickException as error:
        return _usage(error)
    except AdvisedError as error:
        complain(error.message, error.advice)
        if isinstance(error, CliError):
            return error.code
        return USAGE if isinstance(error, SubmissionError) else FAILED
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("metabroker.") or _is_here("serve:serve"):
            return _unexpected(error)
        complain(
            "the light command line cannot do this", "use metabroker itself, of a host that has it"
        )
        return USAGE
    except Exception as error:
        return _unexpected(error)


def _is_here(where: str) -> bool:
    """Not left out, as much is of the light command line."""
    return importlib.util.find_spec(f"metabroker.cli.{where.split(':')[0]}") is not None


def _unexpected(error: Exception) -> int:
    if os.environ.get("METABROKER_DEBUG"):
        raise error
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    complain(f"unexpected error: {text}", "set METABROKER_DEBUG=1 to see where, and report it")
    return FAILED


def _usage(error: click.ClickException) -> int:
    """click's own errors in our form."""
    message = error.format_message().strip().removesuffix(".")
    message = message[:1].lower() + message[1:]
    context = getattr(error, "ctx", None)  # not ours
    command = context.command_path if context is not None else "metabroker"
    complain(message, f"see `{command} --help`")
    return USAGE


def _no_command(name: str) -> CliError:
    import difflib

    if name in GONE:
        return CliError(f"there is no longer a command {name}", GONE[name], USAGE)
    near = difflib.get_close_matches(name, COMMANDS, n=1)
    advice = f"did you mean `metabroker {near[0]}`?" if near else "`metabroker --help` lists them"
    return CliError(f"there is no command {ascii(name)[:60]}", advice, USAGE)


def _closed() -> int:
    """Whoever read the output has gone; nothing more can be said."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FAILED


def _interrupted() -> NoReturn:
    """Die of the signal, as a shell that runs the command in a loop expects."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
    sys.exit(FAILED)
