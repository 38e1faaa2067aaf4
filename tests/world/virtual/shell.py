"""A POSIX shell in virtual time, for the scripts of components: `wrapper.sh` runs as it is.

Running it is a generator. It yields the seconds until it goes on, or a `Script` of the user's that
it has become or waits for, and is sent how that ended. Between any two commands everything else
may happen.
"""

from __future__ import annotations

import fnmatch
import itertools
import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field

from .expansion import Expansion, Running, Script, Streams
from .filesystem import FileSystem
from .syntax import parse
from .tree import (
    Case,
    Command,
    Commands,
    For,
    Function,
    If,
    Logic,
    Not,
    Output,
    Redirection,
    Simple,
    Subshell,
    Until,
)

_SILENT = ("/dev/null",)
_PROCESSES = itertools.count(1_000_001)  # of one width, so that names keep their order


@dataclass(slots=True)
class Node:
    """Where the shell runs. `wholes`: whether `sleep` knows only whole seconds; `pace`: seconds
    that a command takes; `moved`: told what `mv` has renamed."""

    name: str
    files: FileSystem
    pace: Callable[[], float]
    wholes: bool = False
    moved: Callable[[str, str], None] = lambda _old, _new: None


class _Exit(Exception):
    def __init__(self, status: int) -> None:
        self.status = status


@dataclass
class Shell(Expansion):
    """One shell. `signalled` tells it of a signal that is for all of its job."""

    node: Node
    variables: dict[str, str]
    exported: set[str]
    arguments: list[str] = field(default_factory=list)
    functions: dict[str, Commands] = field(default_factory=dict)
    traps: dict[str, str] = field(default_factory=dict)
    folder: str = "/"
    status: int = 0
    number: int = field(default_factory=lambda: next(_PROCESSES))
    out: Streams = field(default_factory=Streams)
    _pending: list[str] = field(default_factory=list)

    def run(self, text: str) -> Running:
        """A script, to its end: its exit status."""
        try:
            yield from self._all(parse(text))
        except _Exit as end:
            return end.status
        return self.status

    def signalled(self, name: str) -> bool:
        """A signal comes; whether the shell lives on."""
        if name not in self.traps:
            return False
        self._pending.append(name)
        return True

    # --- commands -------------------------------------------------------------------------------

    def _all(self, commands: Commands) -> Running:
        for command in commands:
            if isinstance(command, Simple):
                status = self._at_once(command)
                self.status = (yield from self._simple(command)) if status is None else status
            else:
                self.status = yield from self._one(command)
            while self._pending:
                caught = self.traps.get(self._pending.pop(0), "")
                before = self.status
                yield from self._all(parse(caught))
                self.status = before
        return self.status

    def _at_once(self, command: Simple) -> int | None:
        """What the shell can do by itself: most of all that it does. None: it is none of that."""
        if not command.plain:
            return None
        words = self._plain_fields(command.words)
        builtin = None if not words or words[0] in self.functions else _BUILTINS.get(words[0])
        return None if builtin is None else self._builtin(builtin, words[1:], self.out)

    def _builtin(self, builtin: Builtin, given: list[str], out: Streams) -> int:
        try:
            return builtin(self, given, out)
        except OSError:
            return 1

    def _one(self, command: Command) -> Running:
        if isinstance(command, Simple):
            status = self._at_once(command)
            return (yield from self._simple(command)) if status is None else status
        if isinstance(command, Logic):
            status = yield from self._one(command.left)
            self.status = status
            if (status == 0) is (command.operator == "&&"):
                return (yield from self._one(command.right))
            return status
        if isinstance(command, Not):
            return int(not (yield from self._one(command.command)))
        if isinstance(command, Function):
            self.functions[command.name] = command.body
            return 0
        if isinstance(command, Subshell):
            return (yield from self._subshell(command.body, self.out))
        return (yield from self._compound(command))

    def _compound(self, command: If | Case | For | Until) -> Running:
        if isinstance(command, If):
            for condition, body in command.branches:
                if (yield from self._all(condition)) == 0:
                    return (yield from self._all(body))
            self.status = 0
            return (yield from self._all(command.otherwise))
        if isinstance(command, Case):
            word = yield from self._text(command.word)
            for patterns, body in command.branches:
                for pattern in patterns:
                    if fnmatch.fnmatchcase(word, (yield from self._pattern(pattern))):
                        self.status = 0
                        return (yield from self._all(body))
            return 0
        status = 0
        if isinstance(command, For):
            for word in (yield from self._fields(command.words)):
                self.variables[command.name] = word
                status = yield from self._all(command.body)
            return status
        while ((yield from self._all(command.condition)) == 0) is not command.wanted:
            status = yield from self._all(command.body)
        return status

    def _subshell(self, body: Commands, out: Streams) -> Running:
        inner = Shell(
            self.node, dict(self.variables), set(self.exported), list(self.arguments),
            dict(self.functions), {}, self.folder, self.status, self.number, out,
        )  # fmt: skip
        try:
            return (yield from inner._all(body))
        except _Exit as end:
            return end.status

    def _simple(self, command: Simple) -> Running:
        words = yield from self._fields(command.words)
        status = 0
        for name, word in command.assigned:
            self.variables[name] = yield from self._text(word)
            if any(isinstance(part, Output) for part in word):
                status = self.status
        try:
            out = yield from self._redirected(command.redirections)
        except OSError:
            return 1
        if not words:
            return status
        if words == ["exec"]:
            self.out = out
            return 0
        if words[0] in self.functions:
            before, self.arguments = self.arguments, words[1:]
            try:
                return (yield from self._all(self.functions[words[0]]))
            finally:
                self.arguments = before
        return (yield from self._command(words, out))

    def _redirected(
        self, redirections: Sequence[Redirection]
    ) -> Generator[float | Script, int, Streams]:
        """Where the output goes; files are made at once."""
        out = self.out
        for each in redirections:
            target = yield from self._text(each.word)
            if each.operator == "<":
                raise SyntaxError("not understood: <")
            if each.descriptor != 1 or target in _SILENT:
                continue
            if each.operator == ">&":
                out = Streams()  # to where its errors go, which nobody reads
                continue
            yield self.node.pace()
            if each.operator == ">" or self.node.files.read(self._path(target)) is None:
                self.node.files.write(self._path(target), b"")
                yield self.node.pace()  # it is there, and nothing is in it yet
            out = Streams(path=self._path(target))
        return out

    def _command(self, words: list[str], out: Streams) -> Running:
        name, given = words[0], words[1:]
        builtin = _BUILTINS.get(name)
        if builtin is not None:
            return self._builtin(builtin, given, out)
        if name == "exec":
            status = yield from self._command(given, out)
            raise _Exit(status)
        if name == "sleep":
            return (yield from self._sleep(given[0]))
        yield self.node.pace()
        if name == "mv":
            return self._mv(*given)
        said = self._of_the_host(name, given)
        if said is not None:
            return self._say(said, out)
        if self.node.files.read(self._path(name)) is None:
            return 127
        exported = {k: v for k, v in self.variables.items() if k in self.exported}
        return (yield Script(self.folder, exported))

    # --- what commands do -----------------------------------------------------------------------

    def _of_the_host(self, name: str, given: list[str]) -> str | None:
        if (name, given) == ("uname", ["-n"]):
            return f"{self.node.name}\n"
        if name == "scontrol" and given[:2] == ["show", "hostnames"]:
            prefix, _, rest = given[2].partition("[")
            first, last = map(int, rest.rstrip("]").split("-"))
            return "".join(f"{prefix}{number}\n" for number in range(first, last + 1))
        if name == "awk" and given[0] == "!seen[$1]++ { print $1 }":
            content = self.node.files.read(self._path(given[1])) or b""
            return "".join(f"{line}\n" for line in dict.fromkeys(content.decode().splitlines()))
        return None

    def _sleep(self, text: str) -> Running:
        if self.node.wholes and "." in text:
            yield self.node.pace()
            return 1
        yield float(text)
        return 0

    def _mv(self, old: str, new: str) -> int:
        files = self.node.files
        old, new = self._path(old), self._path(new)
        try:
            source, name = files.parent(files.root, old)
            target, named = files.parent(files.root, new)
            files.rename(source, name, target, named)
        except OSError:
            return 1
        self.node.moved(old, new)
        return 0

    def _say(self, text: str, out: Streams) -> int:
        if out.said is not None:
            out.said.append(text)
        elif out.path is not None:
            before = self.node.files.read(out.path) or b""
            self.node.files.write(out.path, before + text.encode())
        return 0

    def _echo(self, given: list[str], out: Streams) -> int:
        return self._say(" ".join(given) + "\n", out)

    def _printf(self, given: list[str], out: Streams) -> int:
        text = given[0].replace("\\n", "\n")
        for word in given[1:]:
            text = re.sub(r"%[sd]", lambda _found, word=word: word, text, count=1)  # type: ignore[misc]
        return self._say(text, out)

    def _cd(self, given: list[str], _out: Streams) -> int:
        path = self._path(given[0])
        found = self.node.files.find(path)
        if found is None or not found.is_folder:
            return 1
        self.folder = path
        return 0

    def _export(self, given: list[str], _out: Streams) -> int:
        for word in given:
            name, _, value = word.partition("=")
            self.variables[name] = value
            self.exported.add(name)
        return 0

    def _unset(self, given: list[str], _out: Streams) -> int:
        for name in given:
            self.variables.pop(name, None)
        return 0

    def _set(self, given: list[str], _out: Streams) -> int:
        assert given[0] == "--"
        self.arguments = given[1:]
        return 0

    def _trap(self, given: list[str], _out: Streams) -> int:
        for name in given[1:]:
            self.traps[name] = given[0]
        return 0

    def _exit(self, given: list[str], _out: Streams) -> int:
        raise _Exit(int(given[0]) if given else self.status)

    def _nothing(self, _given: list[str], _out: Streams) -> int:
        return 0

    def _test(self, given: list[str], _out: Streams) -> int:
        assert given[-1] == "]"
        return int(not self._holds(given[:-1]))

    def _holds(self, words: list[str]) -> bool:
        if words[0] == "!":
            return not self._holds(words[1:])
        if len(words) == 3:
            left, operator, right = words
            return _COMPARES[operator](int(left), int(right))
        operator, value = words
        if operator in ("-z", "-n"):
            return (value == "") is (operator == "-z")
        return self._is(operator, self._path(value))

    def _is(self, operator: str, path: str) -> bool:
        files = self.node.files
        try:
            found = files.at(files.root, path, follow=operator != "-h")
        except OSError:
            return False
        if operator == "-h":
            return found.is_link
        if operator == "-d":
            return found.is_folder
        if operator == "-O":
            return found.uid == 0
        assert operator in ("-e", "-r"), operator
        return True

    def _path(self, path: str) -> str:
        return path if path.startswith("/") else f"{self.folder}/{path}"


_COMPARES: dict[str, Callable[[int, int], bool]] = {
    "-ge": lambda left, right: left >= right,
    "-ne": lambda left, right: left != right,
    "-eq": lambda left, right: left == right,
}
Builtin = Callable[[Shell, list[str], Streams], int]
_BUILTINS: dict[str, Builtin] = {
    "[": Shell._test, "echo": Shell._echo, "printf": Shell._printf, "cd": Shell._cd,
    "export": Shell._export, "unset": Shell._unset, "set": Shell._set, "trap": Shell._trap,
    "exit": Shell._exit, ":": Shell._nothing, "true": Shell._nothing,
}  # fmt: skip
