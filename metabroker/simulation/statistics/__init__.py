"""What can be said of simulated jobs: means without the warm-up, intervals, saturation.

`series` keeps a run of any length in constant memory, `warmup` says how much of its beginning is
cut (MSER-5), `intervals` makes confidence intervals of independent replications and of paired
differences, `batch_means` those of one long run, `saturation` tells a system that cannot keep up
from a slow one, `capacity` finds the largest utilization that it can.
"""
