"""A waiting job, and a decision: the plain tuples that schedulers, queues and counts pass on."""

from metabroker.policy.request import Placement, Request

Entry = tuple[int, int, Request, int, int, float]
"""A waiting job: (seq, key, request, pin, queue, time of joining).

`seq` is the order of joining over all queues. `pin` is the one cluster on which it can run
(single-component jobs in a local queue), or -1. A plain tuple, because millions are made; it has
no identity (compiled code packs it again): two are the same job just if their seqs are equal.
"""

Start = tuple[int, Placement]
"""A decision: (key of the job, cluster of each component in the user's order)."""
