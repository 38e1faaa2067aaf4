"""`metabroker front-ends`: a folder with commands under the names that scripts and tools use."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import click

from metabroker.cli.errors import CliError
from metabroker.frontends.main import COMMANDS
from metabroker.paths import FRONT_ENDS

_CODE = "from metabroker.frontends.main import main; main({name!r})"
_MODULE = """#%Module1.0
module-whatis "sbatch, squeue and the others, over all clusters (metabroker)"
prepend-path PATH {folder}
"""


@click.command()
@click.argument("folder", metavar="DIR")
def front_ends(folder: str) -> int:
    """Write sbatch, squeue and the others into DIR, for users to put in front of their PATH.

    DIR also gets `modulefile`, for environment modules. Older ones of its own are replaced; a DIR
    that has other files is refused.
    """
    path = Path(os.path.abspath(folder))
    try:
        path.mkdir(parents=True, exist_ok=True)
        if not (path / FRONT_ENDS).exists() and any(path.iterdir()):
            raise CliError(f"{path} is not empty, and not of this command", "name a new folder")
        (path / FRONT_ENDS).write_text("made by metabroker front-ends\n")
        for name in COMMANDS:
            _write(path / name, _script(name), 0o755)
        _write(path / "modulefile", _MODULE.format(folder=path), 0o644)
    except OSError as error:
        raise CliError(f"{path} cannot be written: {error.strerror}", "name another") from error
    print(f"export PATH={shlex.quote(str(path))}:$PATH")
    return 0


def _script(name: str) -> str:
    """It takes nothing from the user's Python settings."""
    words = [sys.executable, "-I", "-c", _CODE.format(name=name)]
    return f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n'


def _write(path: Path, text: str, mode: int) -> None:
    """Whole when it is there: it may be in use."""
    new = path.with_name(f".{path.name}.new")
    new.write_text(text)
    new.chmod(mode)
    new.replace(path)
