"""The optional compiled form: `METABROKER_COMPILE=1 pip install .` (see docs/speed.md).

Everything else is in pyproject.toml. The policies and the simulator's event loop are then compiled
by mypyc from the same source; without the variable nothing here does anything. MYPYC_OPT_LEVEL is
the compiler's optimization, 3 by default.
"""

import os
import shlex
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

MODULES = (
    "metabroker/policy/*.py",
    "metabroker/simulation/engine.py",
    "metabroker/simulation/queueless.py",
    "metabroker/simulation/stream.py",
)
PLAIN = {"aging.py", "context.py", "limits.py", "registry.py", "why.py"}
"""Needed only before the first event of a run, and the home of frozen dataclasses: compiled, these
could be neither copied nor sent to another process."""

BUILDER = "mypy>=1.13"


def impossible(reason: str) -> SystemExit:
    """The end of a build that was asked for and cannot be done."""
    return SystemExit(
        f"metabroker: METABROKER_COMPILE=1 asks for the compiled form, but {reason}. "
        "Without the variable the interpreted form is installed: it does the same, more slowly."
    )


def extensions() -> list[Extension]:
    """The compiled modules. Exits with a word if they cannot be made here."""
    if {"editable_wheel", "develop"} & set(sys.argv):
        raise impossible("an editable installation runs the source (leave out -e)")
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[0]
    if shutil.which(compiler) is None:
        raise impossible(f"there is no C compiler ({compiler} is not found)")
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        raise impossible("Python's C headers (Python.h) are not installed")
    try:
        from mypyc.build import mypycify
    except ImportError:
        raise impossible(f"mypyc is not importable (pip install '{BUILDER}')") from None
    paths = [path for pattern in MODULES for path in sorted(Path().glob(pattern))]
    sources = [str(path) for path in paths if path.name not in PLAIN]
    level = os.environ.get("MYPYC_OPT_LEVEL", "3")
    return mypycify(sources, opt_level=level, debug_level="0", group_name="metabroker")


wanted = os.environ.get("METABROKER_COMPILE", "") not in {"", "0"}
# Asked what it needs, or what the package is, the build need not have compiled anything yet.
building = not {"egg_info", "dist_info", "sdist"} & set(sys.argv)

setup(
    setup_requires=[BUILDER] if wanted else [],
    ext_modules=extensions() if wanted and building else [],
)
