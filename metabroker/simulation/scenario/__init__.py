"""From a scenario file (contract C5) to runs, and from their outcomes to what is told of them.

`model` has every key, `loader` reads a file and the values of `--set`, `build` makes the run that
a scenario stands for, `results` what is printed of it, `sweeps` several of them side by side.
"""
