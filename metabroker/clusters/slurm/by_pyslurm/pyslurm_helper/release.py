"""Which pyslurm is there, as far as that can be known before it is imported.

Some releases end the process when they are imported for a cluster of another release: so what is
the matter must have been said before.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any


def before_import() -> dict[str, Any]:
    """The version that its files tell: the release of Slurm it is for, and a number of its own."""
    found = importlib.util.find_spec("pyslurm")
    if found is None or found.origin is None:
        return {"failed": "ModuleNotFoundError: No module named 'pyslurm'"}
    for file in sorted(Path(found.origin).parent.glob("*version*.py")):
        text = file.read_text(encoding="utf-8", errors="replace")
        said = re.search(r"""__version__ = ["']((\d+)\.(\d+)[^"']*)""", text)
        if said is not None:
            return {"pyslurm": said[1], "slurm": f"{int(said[2]):02}.{int(said[3]):02}"}
    return {"pyslurm": "of unknown version"}
