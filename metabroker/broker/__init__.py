"""The pure core: a job's life, the co-allocation saga, and what to do next.

Events go in, effects come out. Nothing here reads a clock, does I/O or draws a random number;
the daemon, the simulator and the tests are drivers of the same code.
"""
