"""Slurm through pyslurm."""
