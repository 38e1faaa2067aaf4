"""Worlds of a special kind: what is rare elsewhere comes in each of them, for a purpose.

One world in sixteen is of some kind; a planted mistake that only such worlds can show is hunted for
in these (`mutations.planting.among`). Of the world that it is made of a kind keeps some faults.
"""

from . import accounts, brokers, clusters, joining, line, moments, plans, splitting, users
from .registry import FOR_SEVERAL, KINDS, special

__all__ = [
    "FOR_SEVERAL",
    "KINDS",
    "accounts",
    "brokers",
    "clusters",
    "joining",
    "line",
    "moments",
    "plans",
    "special",
    "splitting",
    "users",
]
