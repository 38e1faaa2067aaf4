"""Slurm by its command line: commands, parsing, states, and the operations made of them."""

from .cluster import SlurmCluster, SlurmOptions

__all__ = ["SlurmCluster", "SlurmOptions"]
