"""The one error of this package."""

from __future__ import annotations

from metabroker.errors import AdvisedError


class SubmissionError(AdvisedError):
    """A submission that cannot be taken."""
