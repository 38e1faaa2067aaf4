"""What is wrong with a file that a workload is made of."""

from __future__ import annotations

from metabroker.traces.errors import TraceError


class WorkloadError(TraceError, ValueError):
    """A table that cannot be used."""
