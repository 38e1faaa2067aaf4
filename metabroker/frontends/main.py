"""Where each of these commands begins, and how it ends: by its exit code, errors in one line."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import NoReturn

from metabroker.errors import AdvisedError

COMMANDS = (
    *("sbatch", "scancel", "scontrol", "sacct", "sacctmgr", "sinfo", "squeue", "srun", "sshare"),
    *("qsub", "qstat", "qselect", "qdel", "qhold", "qrls"),
)


class FrontEndError(AdvisedError):
    """A command that ends with an error; `code` is its exit code."""

    def __init__(self, message: str, advice: str = "", code: int = 1) -> None:
        super().__init__(message, advice)
        self.code = code


def refuse(options: Iterable[str], why: Mapping[str, str]) -> None:
    """Raises `FrontEndError` for the first of these options that nothing can be done about."""
    for name in options:
        if name in why:
            dashes = "--" if len(name) > 1 else "-"
            raise FrontEndError(f"{dashes}{name}: {why[name]}", "leave it out")


def main(name: str, words: Sequence[str] | None = None) -> NoReturn:
    """Be the command of that name."""
    for stream in (sys.stdout, sys.stderr):  # any user's words may be in what is printed
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    run: Callable[[list[str]], int] = import_module(f"metabroker.frontends.{name}").run
    try:
        code = run(list(sys.argv[1:] if words is None else words))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except AdvisedError as error:
        told = f"{error.message}; {error.advice}" if error.advice else error.message
        line = "".join(char if char.isprintable() else " " for char in told)
        of_pbs = name.startswith("q")
        print(f"{name}: {line}" if of_pbs else f"{name}: error: {line}", file=sys.stderr)
        code = error.code if isinstance(error, FrontEndError) else 1
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        code = 1
    sys.exit(code)
