"""Tests of the Slurm adapter, from what real releases printed."""
