"""A command for a shell on another host, which cannot misread it, and what came of it.

The line that the account's login shell is given is always the same (`LINE`). It starts a plain
`/bin/sh` with a clean environment, and that one reads a single line from its standard input: the
argument vector, the folder and the environment, each quoted whole. So nothing of a command
depends on which login shell it is, nothing of it stands in a process list before the command
itself runs, and one that was cut off on its way is never begun. After that line comes the
command's own input, which is put into a file first: half an input is never taken for a whole.

Around the command stands a mark that nobody can guess, on both outputs: what a login shell's
start-up files print is not taken for an answer, and an answer without its end is known as such.
The far side ends a command by itself when its time is over, whatever became of the connection.
"""

from __future__ import annotations

import math
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from .base import Command, CommandLost, CommandMissing, Completed, first_line, located

# No single quote, newline or exclamation mark in it: Bourne shells, C shells and fish read it
# alike. `read` takes byte by byte, so the command's input is left for the command. `timeout`
# (of GNU and of busybox) ends the command with its children, and never runs a shell's built-in.
_SCRIPT = (
    'IFS= read -r mb_line || exit 1; eval "$mb_line"; '
    'mb_end() { printf "\\n%s %s\\n" "$mb_mark" "$1" >&2; exit 0; }; '
    'echo "$mb_mark"; echo "$mb_mark" >&2; '
    'cd -- "$mb_folder" || mb_end missing; '
    'case $1 in */*) mb_where=${1%/*}; test -f "$1" && test -x "$1";; '
    '*) mb_where=$PATH; command -v "$1" >/dev/null;; esac || '
    '{ echo "not found in $mb_where" >&2; mb_end missing; }; '
    'if test "$mb_input" -gt 0; then mb_file=$(mktemp) || mb_end missing; cat >"$mb_file"; '
    'mb_got=$(wc -c <"$mb_file"); exec <"$mb_file"; rm -f -- "$mb_file"; '
    'test "$mb_got" -eq "$mb_input" || exit 1; else exec </dev/null; fi; '
    "if test -x /usr/bin/timeout; "
    'then /usr/bin/timeout -s KILL "$mb_seconds" "$@"; else /usr/bin/env "$@"; fi; mb_end $?'
)
# Of the account's own environment there only this is kept.
_KEPT = 'HOME="$HOME" USER="$USER" LOGNAME="$LOGNAME" SHELL="$SHELL" PATH="$PATH"'
LINE = f"exec env -i {_KEPT} LC_ALL=C /bin/sh -c '{_SCRIPT}'"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NEWLINE = "'\"$mb_newline\"'"
_SET_NEWLINE = 'mb_newline=$(printf "\\nx"); mb_newline=${mb_newline%x}; '
# What `timeout` and `env`, or the shell in their place, say where they could not run it at all.
_NOT_RUN = re.compile(
    r"^(?:/bin/sh: (?:line )?\d+: )?(?:/usr/bin/)?(?:timeout|env): (.*)$", re.MULTILINE
)
_PLAIN = re.compile(r"[A-Za-z0-9_./@:+-]+")
# By the shell. Commands of PBS end with its error numbers, modulo 256, from 153 on.
_SIGNALS = range(129, 153)


@dataclass(frozen=True, slots=True)
class Sent:
    """A command on its way: what the far side is to read, and the mark its answer bears."""

    what: str
    stdin: bytes
    mark: bytes

    def answer(self, stdout: bytes, stderr: bytes) -> Completed:
        """What the command said, of the whole output of a session that has ended.

        Raises:
            CommandLost, CommandMissing: as `Transport.run` does.
        """
        _, begun, said = stdout.partition(self.mark + b"\n")
        _, _, errors = stderr.partition(self.mark + b"\n")
        if not begun:
            words = (first_line(said.decode("utf-8", "replace")) for said in (stderr, stdout))
            word = next(filter(None, words), "its login shell said nothing")
            raise CommandMissing(f"{self.what}: no command can be run there: {word}")
        errors, _, status = errors.rpartition(b"\n" + self.mark + b" ")
        if not status.endswith(b"\n"):
            raise CommandLost(f"{self.what}: its answer ends in the middle")
        text = errors.decode("utf-8", "replace")
        return self._judged(status.strip().decode("ascii", "replace"), said, text)

    def _judged(self, status: str, said: bytes, errors: str) -> Completed:
        if not status.isdigit():
            raise CommandMissing(f"{self.what}: {first_line(errors)}")
        code = int(status)
        refused = _NOT_RUN.search(errors) if code in (125, 126, 127) else None
        if refused is not None:
            raise CommandMissing(f"{self.what}: {refused[1]}")
        if code in _SIGNALS:  # or it ended by itself with such a number: that is not told apart
            raise CommandLost(f"{self.what}: ended by signal {code - 128}")
        return Completed(code, said.decode("utf-8", "replace"), errors)


class RemoteShell:
    """Makes commands for one account on another host. `env` is added to what the account has
    there. The cluster's commands are those of `folder`, which also comes first in its PATH."""

    def __init__(self, env: Mapping[str, str], folder: str | None = None) -> None:
        self._env = {"LC_ALL": "C.UTF-8", **env}
        self._folder = folder

    def send(self, command: Command, seconds: float) -> Sent:
        """The command as its far side reads it.

        Raises:
            CommandMissing: no command can be given such words.
        """
        what = command.argv[0]
        mark = secrets.token_hex(16)
        values = {
            "mb_mark": mark,
            "mb_seconds": str(math.ceil(seconds)),
            "mb_folder": command.cwd or "/",
            "mb_input": str(len(command.stdin)),
        }
        try:
            program, *words = command.argv
            argv = (located(program, self._folder), *words)
            line = "; ".join(
                (
                    *self._exports(dict(command.env)),
                    *(f"{name}={_quoted(value)}" for name, value in values.items()),
                    f"set -- {' '.join(_quoted(word) for word in argv)}",
                )
            )
            if "$mb_newline" in line:
                line = _SET_NEWLINE + line
            header = os.fsencode(line) + b"\n"
        except ValueError as error:  # a NUL character, or not UTF-8
            raise CommandMissing(f"{what}: {error}") from error
        return Sent(what, header + command.stdin, mark.encode())

    def _exports(self, extra: Mapping[str, str]) -> list[str]:
        found = []
        for name, value in {**self._env, **extra}.items():
            if _NAME.fullmatch(name) is None:
                raise ValueError(f"{name!r} cannot name a variable")
            found.append(f"export {name}={_quoted(value)}")
        if self._folder is not None:
            found.append(f'export PATH={_quoted(self._folder)}:"$PATH"')
        return found


def plain_line(command: Command) -> str:
    """A command to speak with, as a login shell reads it: words of names and paths alone, so
    that any shell reads them alike. It keeps the session's own environment.

    Raises:
        CommandMissing: there are other words in it.
    """
    wrong = next((word for word in command.argv if _PLAIN.fullmatch(word) is None), None)
    if wrong is not None:
        raise CommandMissing(f"{command.argv[0]}: {wrong!r} is not a plain word")
    return f"exec {' '.join(command.argv)}"


def _quoted(word: str) -> str:
    """A word of the one line: between quotes, and without a newline of its own."""
    if "\0" in word:
        raise ValueError("embedded null character")
    return "'" + word.replace("'", "'\\''").replace("\n", _NEWLINE) + "'"
