"""metabroker: one front door to several batch clusters, with co-allocation over reservations."""

__version__ = "0.1.0"
