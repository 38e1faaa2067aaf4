"""Tests of the simulator: reference figures, exact identities, queueing theory, worked examples."""
