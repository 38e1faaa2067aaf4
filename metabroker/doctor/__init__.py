"""`metabroker doctor`: contacts each cluster and says what works, what is missing, and the fix."""

from .clusters import Report, examine

__all__ = ["Report", "examine"]
