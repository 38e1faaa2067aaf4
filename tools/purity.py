"""Proves that the packages that must be pure are: `python tools/purity.py DIR...`.

Prints `file:line: message` for every import of a module that reads a clock, does I/O, draws random
numbers or logs; for every call of a builtin that does, or whose result differs between processes;
and for every module or class variable that could change from call to call. Exit status: 0 clean,
1 something was found, 2 wrong usage. The import contracts in pyproject.toml cover the same modules
through other modules of this project.
"""

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

BANNED_MODULES: Mapping[str, tuple[str, ...]] = {
    "a clock": ("time", "datetime", "calendar", "zoneinfo", "sched"),
    "randomness": ("random", "secrets", "uuid", "numpy"),
    "files": (
        *("os", "io", "pathlib", "tempfile", "shutil", "glob", "fileinput", "stat", "fcntl"),
        *("mmap", "posix", "posixpath", "linecache", "tokenize", "dbm", "shelve", "sqlite3"),
    ),
    "the operating system": (
        *("subprocess", "pty", "tty", "termios", "pwd", "grp", "getpass", "platform", "resource"),
        *("signal", "select", "selectors", "ctypes", "curses", "readline", "locale"),
    ),
    "the interpreter": (
        *("sys", "builtins", "importlib", "pkgutil", "runpy", "site", "atexit", "gc", "inspect"),
    ),
    "concurrency": (
        *("threading", "_thread", "multiprocessing", "concurrent", "asyncio", "queue"),
        *("contextvars", "apscheduler"),
    ),
    "the network": (
        *("socket", "socketserver", "ssl", "http", "ftplib", "smtplib", "xmlrpc", "webbrowser"),
        *("aiohttp", "requests", "paramiko", "asyncssh"),
    ),
    "a store": ("sqlalchemy", "alembic"),
    "messages": (
        *("logging", "warnings", "traceback", "syslog", "click", "rich", "prometheus_client"),
    ),
}
"""Top-level modules by what makes them impure."""

BANNED_PARTS: Mapping[str, str] = {"urllib.request": "the network"}
"""Banned although the package that they are in is not."""

BANNED_CALLS: Mapping[str, str] = {
    "open": "I/O",
    "print": "I/O",
    "input": "I/O",
    "breakpoint": "I/O",
    "exec": "code that cannot be checked",
    "eval": "code that cannot be checked",
    "compile": "code that cannot be checked",
    "__import__": "code that cannot be checked",
    "globals": "module state",
    "id": "differs between processes",
    "hash": "differs between processes",
}

MUTABLE_CALLS = frozenset(
    {"list", "dict", "set", "bytearray", "deque", "defaultdict", "OrderedDict", "Counter"}
    | {"count", "cycle", "iter"}
)

READ_ONLY_TYPES = frozenset(
    {"Mapping", "Sequence", "Set", "AbstractSet", "Collection", "Container", "Iterable"}
)
"""A literal under one of these annotations cannot be changed without a type error."""


class Finding(NamedTuple):
    """Something impure: `path:line: message`."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def findings(path: Path, source: str) -> Iterator[Finding]:
    """What is impure in one file, in order of lines. Raises SyntaxError."""
    found = [*_uses(ast.parse(source, str(path)))]
    for line, message in sorted(found):
        yield Finding(path, line, message)


def _uses(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Import() | ast.ImportFrom():
                yield from ((node.lineno, f"imports {name}: {why}") for name, why in _banned(node))
            case ast.Call(func=ast.Name(id=name)) if name in BANNED_CALLS:
                yield node.lineno, f"calls {name}(): {BANNED_CALLS[name]}"
            case ast.Global(names=names):
                yield node.lineno, f"changes the module through `global {', '.join(names)}`"
            case ast.Module(body=body) | ast.ClassDef(body=body):
                yield from _variables(body)


def _banned(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif node.level == 0 and node.module is not None:
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    else:
        names = []
    for name in names:
        parts = name.split(".")
        why = _impurity(parts[0]) or BANNED_PARTS.get(".".join(parts[:2]))
        if why:
            yield name, why


def _impurity(module: str) -> str | None:
    """What makes a top-level module impure."""
    return next((why for why, modules in BANNED_MODULES.items() if module in modules), None)


def _variables(body: Sequence[ast.stmt]) -> Iterator[tuple[int, str]]:
    """Variables of a module or class that hold something that can be changed."""
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")]):
                continue
            case ast.Assign(value=value):
                mutable = _mutable(value)
            case ast.AnnAssign(annotation=annotation, value=ast.expr() as value):
                mutable = _mutable(value) and not _read_only(annotation)
            case ast.AugAssign():
                mutable = True
            case _:
                continue
        if mutable:
            yield (
                statement.lineno,
                "a shared variable that can be changed: make it a tuple, a frozenset, a Mapping",
            )


def _mutable(value: ast.expr) -> bool:
    match value:
        case ast.List() | ast.Dict() | ast.Set():
            return True
        case ast.ListComp() | ast.DictComp() | ast.SetComp() | ast.GeneratorExp():
            return True
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name in MUTABLE_CALLS
    return False


def _read_only(annotation: ast.expr) -> bool:
    match annotation:
        case ast.Subscript(value=ast.Name(id="Final" | "ClassVar"), slice=inner):
            return _read_only(inner)
        case ast.Subscript(value=inner):
            return _read_only(inner)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in READ_ONLY_TYPES
    return False


def main(arguments: Sequence[str]) -> int:
    """Check every Python file below the given directories."""
    if not arguments:
        print("usage: purity.py DIR...", file=sys.stderr)
        return 2
    found = False
    for argument in arguments:
        files = sorted(Path(argument).rglob("*.py"))
        if not files:
            print(f"purity: no Python files in {argument}", file=sys.stderr)
            return 2
        for path in files:
            for finding in findings(path, path.read_text(encoding="utf-8")):
                print(finding)
                found = True
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
