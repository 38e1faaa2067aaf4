"""Fixtures for all tests."""

pytest_plugins = ["tests.testbed.fixtures", "tests.daemon.fixtures"]
