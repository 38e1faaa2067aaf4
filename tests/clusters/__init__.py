"""Tests of the cluster adapters, their gates and transports."""
