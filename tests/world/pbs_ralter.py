"""What `pbs_ralter` does on a world's OpenPBS server."""

from __future__ import annotations

import calendar
import time
from collections.abc import Callable

from metabroker.clusters.simulated.model import Denied, Model
from metabroker.clusters.transports.base import Completed

from .controller import Meddling, is_ours


def altered(
    named: Callable[[str], tuple[str, str]], model: Model, argv: tuple[str, ...], now: float
) -> Completed:
    """Another start or end for a reservation; `named`: the name and id of one in the model."""
    identity, ends = argv[-1], "-E" in argv
    key = next((key for key in model.reservations if named(key)[1] == identity), None)
    if key is None:
        return Completed(236, "", "pbs_ralter: Unknown Reservation Id\n")
    if not is_ours(key):
        raise Meddling(f"P4: moves {key}, which is not its own")
    text = argv[argv.index("-E" if ends else "-R") + 1]
    moment = float(calendar.timegm(time.strptime(text, "%Y%m%d%H%M.%S")))
    if moment < now:
        return Completed(238, "", "pbs_ralter: Bad time specification(s)\n")
    if not ends and model.reservations[key].start <= now:
        return Completed(74, "", "pbs_ralter: Reservation not empty\n")
    try:
        if ends:
            model.end_reservation(key, moment, now)
        else:
            model.move(key, moment, now)
    except Denied:
        return Completed(0, f"pbs_ralter: {identity} DENIED\n", "")
    return Completed(0, f"pbs_ralter: {identity} CONFIRMED\n", "")
