"""The durable store: jobs, components, history, and what is pending, in one SQL database."""

from .database import StoreUnavailable
from .leadership import LeadershipLost
from .store import Accepted, Store, Transaction

__all__ = ["Accepted", "LeadershipLost", "Store", "StoreUnavailable", "Transaction"]
