"""The durable store: jobs, components, history, and what is owed, in one SQL database."""

from .leadership import LeadershipLost
from .store import Accepted, Batch, Store, StoreUnavailable

__all__ = ["Accepted", "Batch", "LeadershipLost", "Store", "StoreUnavailable"]
