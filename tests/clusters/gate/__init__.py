"""Tests of the gate: the broker's side, the component's side, and both at once."""
