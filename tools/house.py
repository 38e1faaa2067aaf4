"""Keeps files and classes small, and attributes certain: `python tools/house.py DIR...`.

Prints `file:line: message` for every file over 400 lines, for every class with over 25 methods
(those that it inherits from classes below the same DIR counted), and for every `getattr` with a
default, which hides a name that does not exist; where the object is somebody else's, a comment
`# not ours` on the line says so. With --lines only lengths of files are looked at. Exit status: 0
clean, 1 something was found, 2 wrong usage.
"""

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

MOST_LINES = 400
MOST_METHODS = 25
NOT_OURS = "# not ours"

Classes = Mapping[str, list[tuple[Path, ast.ClassDef]]]


def main(folders: Sequence[str]) -> int:
    """Look at all files below these folders; returns the exit status."""
    lines_alone = "--lines" in folders
    folders = [folder for folder in folders if folder != "--lines"]
    if not folders:
        print(__doc__, file=sys.stderr)
        return 2
    files = sorted(file for folder in folders for file in Path(folder).rglob("*.py"))
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}
    classes: dict[str, list[tuple[Path, ast.ClassDef]]] = {}
    for file, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append((file, node))
    found = [message for file in files for message in _length(file)]
    if not lines_alone:
        found += [message for file, tree in trees.items() for message in _of_file(file, tree)]
        found += [message for name in classes for message in _of_class(name, classes)]
    for message in sorted(found):
        print(message)
    return 1 if found else 0


def _length(file: Path) -> Iterator[str]:
    lines = len(file.read_text(encoding="utf-8").splitlines())
    if lines > MOST_LINES:
        yield f"{file}:1: {lines} lines; a file has at most {MOST_LINES}"


def _of_file(file: Path, tree: ast.Module) -> Iterator[str]:
    lines = file.read_text(encoding="utf-8").splitlines()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if (
            node.func.id == "getattr"
            and len(node.args) == 3
            and NOT_OURS not in lines[node.lineno - 1]
        ):
            yield f"{file}:{node.lineno}: getattr with a default hides a name that does not exist"


def _of_class(name: str, classes: Classes) -> Iterator[str]:
    for file, node in classes[name]:
        methods = _methods(node, classes, frozenset())
        if len(methods) > MOST_METHODS:
            yield f"{file}:{node.lineno}: {name} has {len(methods)} methods, at most {MOST_METHODS}"


def _methods(node: ast.ClassDef, classes: Classes, above: frozenset[str]) -> set[str]:
    """Its methods' names, those of its bases in this project included."""
    found = {f.name for f in node.body if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef)}
    for base in node.bases:
        inner = base.value if isinstance(base, ast.Subscript) else base
        name = inner.id if isinstance(inner, ast.Name) else getattr(inner, "attr", "")  # not ours
        if name in above or len(classes.get(name, ())) != 1:
            continue
        found |= _methods(classes[name][0][1], classes, above | {name})
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
