"""When will a waiting job start: an interval that is kept nine times in ten, or "not known".

Three steps, each of which may be poor without making the last one false:

- `run_times`: how long jobs run, from how long jobs like them ran (limits are far too long);
- `forward`: the queue played forward with such run times, several times over: where all of them
  agree, much is known;
- `conformal`: what came of earlier expectations. It turns an expectation into an interval, and
  follows a change of load: its coverage does not depend on what the expectation is worth.

`start_times` keeps the book: which jobs wait and run, told event by event, by a simulator or by the
daemon. Pure: no clock, I/O or randomness; what is drawn is drawn from the jobs' numbers.
"""

from .asked import Asked
from .conformal import CONFIDENCE, Achieved, Estimate
from .past import Past, What, in_order
from .start_times import StartTimes

__all__ = [
    "CONFIDENCE",
    "Achieved",
    "Asked",
    "Estimate",
    "Past",
    "StartTimes",
    "What",
    "in_order",
]
