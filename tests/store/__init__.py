"""Tests of the durable store."""
