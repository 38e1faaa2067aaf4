"""`metabroker doctor`: contacts each cluster and says what works, what is missing, and the fix."""

from .clusters import Report, examine
from .host import examine_host
from .links import examine as examine_links

__all__ = ["Report", "examine", "examine_host", "examine_links"]
