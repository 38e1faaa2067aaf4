"""Tests of the daemon's parts, in one process: real store, real core, simulated clusters."""
