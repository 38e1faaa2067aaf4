"""Reservations, as `scontrol -o show reservation` prints them.

The printing is Slurm's own: pyslurm's classes leave out which cores a reservation has on each
node, older ones its state too, and without those it is not known what a reservation keeps free.
pyslurm has loaded Slurm's library, with all its names for everybody; the three functions that are
called here take nothing but pointers, so no form of a release's structures is repeated.
"""

from __future__ import annotations

import ctypes
from typing import Any

import pyslurm

_loaded = ctypes.CDLL(None)
_POINTER = ctypes.c_void_p
_loaded.open_memstream.restype = _POINTER


def listed(request: dict[str, Any]) -> str:
    """A line for each, or for the one of this name.

    Raises:
        LookupError: there is none of this name.
    """
    lines = [line for line in _printed().splitlines() if line.startswith("ReservationName=")]
    name = request.get("name")
    if name is not None:
        lines = [line for line in lines if line.split(" ", 1)[0] == f"ReservationName={name}"]
        if not lines:
            raise LookupError(f"Reservation {name} not found")
    return "".join(f"{line}\n" for line in lines)


def _printed() -> str:
    message = _POINTER()
    if _loaded.slurm_load_reservations(ctypes.c_long(0), ctypes.byref(message)) != 0:
        raise RuntimeError(pyslurm.error.get_last_slurm_error()[1])
    text, size = ctypes.c_char_p(), ctypes.c_size_t()
    file = _POINTER(_loaded.open_memstream(ctypes.byref(text), ctypes.byref(size)))
    try:
        _loaded.slurm_print_reservation_info_msg(file, message, ctypes.c_int(1))
    finally:
        _loaded.fclose(file)
        _loaded.slurm_free_reservation_info_msg(message)
    try:
        return ctypes.string_at(text, size.value).decode("utf-8", "replace")
    finally:
        _loaded.free(text)
