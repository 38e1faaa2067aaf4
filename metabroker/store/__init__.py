"""The durable store: jobs, components, history, and what is pending, in one SQL database."""

from .database import StoreUnavailable
from .leadership import LeadershipLost, MustRestart
from .store import Accepted, Store, Transaction

__all__ = ["Accepted", "LeadershipLost", "MustRestart", "Store", "StoreUnavailable", "Transaction"]
