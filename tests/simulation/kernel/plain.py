"""The kernel's programs as plain Python: not compiled, so that a mistake is planted cheaply."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module, resources
from types import ModuleType
from typing import Any

import numba

_config: Any = numba.config

PACKAGE = "metabroker.simulation.kernel"
PROGRAMS = (
    "compiled", "heap", "lines", "placing", "visits", "events", "queues", "easy",
    "conservative", "job_mix",
)  # fmt: skip
"""In the order of their imports."""


@contextmanager
def plain(module: str = "", old: str = "", new: str = "") -> Iterator[None]:
    """All programs anew and not compiled, with `old` in one module replaced by `new`."""
    names = [f"{PACKAGE}.{name}" for name in PROGRAMS]
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    compiles = _config.DISABLE_JIT
    _config.DISABLE_JIT = 1
    try:
        for name in PROGRAMS:
            _load(name, old if name == module else "", new)
        yield
    finally:
        _config.DISABLE_JIT = compiles
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(before)


def source(module: str) -> str:
    """The text of a module of the kernel."""
    return (resources.files(PACKAGE) / f"{module}.py").read_text(encoding="utf-8")


def _load(module: str, old: str, new: str) -> None:
    text = source(module)
    if old:
        assert text.count(old) == 1, f"{module} has {text.count(old)} times {old!r}"
        text = text.replace(old, new)
    name = f"{PACKAGE}.{module}"
    made = ModuleType(name)
    made.__file__ = import_module(PACKAGE).__path__[0] + f"/{module}.py"
    made.__package__ = PACKAGE
    sys.modules[name] = made
    exec(compile(text, made.__file__, "exec"), made.__dict__)
