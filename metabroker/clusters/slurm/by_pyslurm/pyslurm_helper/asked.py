"""What is asked, and what the commands would have said to it.

Each answer has an exit status, an output and an error output, in the words of the command that it
stands for: whatever reads those need not know which of the two has answered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyslurm

from . import acts, jobs, nodes, reservations
from .said import text_of

_ANSWERS: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "jobs": ("slurm_load_jobs", jobs.listed),
    "nodes": ("slurm_load_node", nodes.listed),
    "reservations": ("slurm_load_reservations", reservations.listed),
    "cancel": ("scancel", acts.cancel),
    "delete reservation": ("delete_reservation", acts.delete_reservation),
}


def hello() -> dict[str, Any]:
    """Of which releases we are."""
    release = ".".join(f"{number:02}" for number in pyslurm.slurm_api_version()[:2])
    return {"pyslurm": str(pyslurm.__version__), "slurm": release}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """To one request."""
    call, made = _ANSWERS[request["do"]]
    try:
        return {"status": 0, "stdout": made(request), "stderr": ""}
    except Exception as error:
        # An error of pyslurm's has Slurm's own text. Any other is a mistake, and a failure too.
        return {"status": 1, "stdout": "", "stderr": f"{call} error: {text_of(error)}\n"}
