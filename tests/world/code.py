"""Which code a storm plays, so that one goes on where it was only with the same."""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_TOP = Path(__file__).resolve().parents[2]
_OURS = (_TOP / "metabroker", _TOP / "tests")


@cache
def fingerprint() -> str:
    """A hash of all that has been imported of metabroker and its tests, and of the scripts beside
    it. Words (comments, docstrings) do not count, nor does code that no world runs."""
    found = hashlib.sha256()
    for file in _files():
        text = file.read_text()
        found.update(f"{file.relative_to(_TOP)}\n".encode())
        found.update((without_words(text) if file.suffix == ".py" else text).encode())
    return found.hexdigest()[:16]


def _files() -> Iterator[Path]:
    modules = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    sources = sorted(Path(name).resolve() for name in modules if name is not None)
    ours = [file for file in sources if any(file.is_relative_to(top) for top in _OURS)]
    yield from ours
    yield from sorted({script for file in ours for script in file.parent.glob("*.sh")})


def without_words(text: str) -> str:
    """A module's code as a tree, without its docstrings and comments."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        first = node.body[0] if node.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            node.body = node.body[1:]
    return ast.dump(tree)
