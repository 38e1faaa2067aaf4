"""What is done in a cluster: cancelling and deleting, both by name, both harmless when repeated."""

from __future__ import annotations

import ctypes
from typing import Any

import pyslurm

from . import jobs

# States in which scancel, too, sends a job nothing any more.
_OVER = frozenset(
    (
        *("BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING", "DEADLINE", "FAILED"),
        *("LAUNCH_FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "RECONFIG_FAIL"),
        *("REVOKED", "TIMEOUT"),
    )
)
_errno = ctypes.CDLL(None).__errno_location
_errno.restype = ctypes.POINTER(ctypes.c_int)


def cancel(request: dict[str, Any]) -> str:
    """`scancel -u USER -n NAME`: what is over already is left alone, as scancel does."""
    wrong: Exception | None = None
    for job in jobs.found(request):
        if job.state in _OVER:
            continue
        try:
            # pyslurm takes what is left of an earlier error for one of this call.
            _errno()[0] = 0
            job.cancel()
        except Exception as error:
            wrong = error
    if wrong is not None:
        raise wrong
    return ""


def delete_reservation(request: dict[str, Any]) -> str:
    """`scontrol delete ReservationName=NAME`."""
    if hasattr(pyslurm, "Reservation"):  # from 25.5 on
        _errno()[0] = 0
        pyslurm.Reservation(request["name"]).delete()
    else:
        pyslurm.slurm_delete_reservation(request["name"])
    return ""
