"""Commands under the names that scripts and tools use: `sbatch`, `squeue` and the others.

They answer as Slurm's own do, over all clusters: the same options, the same output. What one of
them cannot do it refuses by its name. Each starts in a moment, so nothing here loads much: no
click, no pydantic, no modules of the daemon.
"""
