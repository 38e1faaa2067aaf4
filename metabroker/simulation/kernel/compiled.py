"""What makes a function a program of the kernel, and where compiled ones are kept."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np

_jit: Any = numba.njit
_config: Any = numba.config
# _nrt: programs make no arrays, so nothing is counted; with it they take four times as long.
_HOW = {"error_model": "numpy", "_nrt": False}

Function = TypeVar("Function", bound=Callable[..., Any])
HERE = Path(__file__).parent


def program(function: Function) -> Function:
    """A function that programs call."""
    compiled: Function = _jit(**_HOW)(function)
    return compiled


def inlined(function: Function) -> Function:
    """The same, of what is called for every job: passing a World costs more than it does."""
    compiled: Function = _jit(forceinline=True, **_HOW)(function)
    return compiled


def merged(function: Function) -> Function:
    """The same, of what is called from one place: it becomes a part of that, and is not compiled
    by itself as well.

    What is made anew for each policy must be this. numba tells such functions apart by a number of
    the process that compiles them; two that other processes have compiled may have the same one.
    Loaded into one process, the second is then taken for the first, and plays the other policy.
    """
    compiled: Function = _jit(inline="always", **_HOW)(function)
    return compiled


def entry(function: Function) -> Function:
    """A function that is called from outside: what it calls is compiled with it, once for this
    machine where a folder can be written in (see `folders`), else once for each process."""
    outer = _config.CACHE_DIR
    for folder in folders(outer):
        _config.CACHE_DIR = str(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            kept: Function = _jit(cache=True, **_HOW)(function)
            return _in_turn(kept, folder / "lock")
        except (OSError, RuntimeError):  # numba's word for: it cannot be written in
            continue
        finally:
            _config.CACHE_DIR = outer
    return program(function)


def _in_turn(function: Function, lock: Path) -> Function:
    """Processes that begin together compile it once: the first call waits for those of others."""
    ready = False

    @wraps(function)
    def called(*arguments: Any) -> Any:
        nonlocal ready
        if ready:
            return function(*arguments)
        with open(lock, "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            found = function(*arguments)
        ready = True
        return found

    return cast(Function, called)


def folders(outer: str) -> list[Path]:
    """Where compiled programs may be kept, best first: in NUMBA_CACHE_DIR (`outer`) if it is given,
    else beside their source, else in the user's cache. Never where others could write: what is
    kept there is run."""
    name = f"metabroker-{digest()}"
    if outer:
        return [Path(outer) / name]
    found = [HERE / "__pycache__" / name] if os.access(HERE, os.W_OK) else []
    with contextlib.suppress(RuntimeError):  # there is no home
        user = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
        found.append(user / "metabroker" / name)
    return found


@cache
def digest() -> str:
    """Of all sources and of what compiles them: numba itself looks at the file of the entry alone,
    and would go on with the old form of what that calls."""
    found = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    for path in sorted(HERE.glob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()[:16]
