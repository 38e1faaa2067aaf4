"""The durable store: jobs, components, history, and what is owed, in one SQL database."""

from .database import StoreUnavailable
from .leadership import LeadershipLost
from .store import Accepted, Batch, Store

__all__ = ["Accepted", "Batch", "LeadershipLost", "Store", "StoreUnavailable"]
