"""Tests of the simulated clusters."""
