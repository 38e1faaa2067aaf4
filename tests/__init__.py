"""Tests of metabroker."""
