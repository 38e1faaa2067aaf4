"""What may run next, and where: the papers' queue policies and placement rules, as a pure core.

No clock, no I/O, no randomness, no logging: time and random numbers are passed in. Papers: BE03
(Bucur and Epema 2003), BE07 (Bucur and Epema 2007), DCS (Sinaga, Mohamed and Epema 2004), ER
(Ernemann et al. 2002), KH (Karatza and Hilzer 2002).
"""

from metabroker.policy.aging import Aging
from metabroker.policy.backfilling import Backfilling, Book, Run
from metabroker.policy.best_fit import parts_of
from metabroker.policy.close_to_files import transfer_time
from metabroker.policy.context import Context, Options
from metabroker.policy.entry import Start
from metabroker.policy.limits import (
    Limit,
    Limits,
    RequestRefusal,
    ever_fits,
    split_total,
    why_never,
)
from metabroker.policy.near import largest_sets
from metabroker.policy.placement import PLACEMENTS, Place, Rng, worst_fit, worst_fit_reuse
from metabroker.policy.planner import Launch, Planner
from metabroker.policy.registry import (
    ALL_PLACEMENTS,
    BACKFILLING,
    PLANNERS,
    POLICIES,
    RANDOMISED,
    SPLITTING,
    make,
    make_planner,
)
from metabroker.policy.request import Placement, Request, Sizes
from metabroker.policy.scheduler import PolicyState, Scheduler
from metabroker.policy.sequential import Sequential, sequential
from metabroker.policy.view import SchedulerView
from metabroker.policy.why import Reason, Why

__all__ = [
    "ALL_PLACEMENTS",
    "BACKFILLING",
    "PLACEMENTS",
    "PLANNERS",
    "POLICIES",
    "RANDOMISED",
    "SPLITTING",
    "Aging",
    "Backfilling",
    "Book",
    "Context",
    "Launch",
    "Limit",
    "Limits",
    "Options",
    "Place",
    "Placement",
    "Planner",
    "PolicyState",
    "Reason",
    "Request",
    "RequestRefusal",
    "Rng",
    "Run",
    "Scheduler",
    "SchedulerView",
    "Sequential",
    "Sizes",
    "Start",
    "Why",
    "ever_fits",
    "largest_sets",
    "make",
    "make_planner",
    "parts_of",
    "sequential",
    "split_total",
    "transfer_time",
    "why_never",
    "worst_fit",
    "worst_fit_reuse",
]
