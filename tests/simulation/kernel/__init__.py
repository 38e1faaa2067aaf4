"""The kernel against the readable policies."""
