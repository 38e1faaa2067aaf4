"""The configuration of the daemon (contract C6): models, and errors with file, line and key."""

from metabroker.config.errors import ConfigError, ConfigErrors
from metabroker.config.loader import load, parse
from metabroker.config.model import (
    Aging,
    Cluster,
    Config,
    OpenPBSCluster,
    RetryLimits,
    SimulatedCluster,
    SlurmCluster,
    Timeouts,
)
from metabroker.config.render import render
from metabroker.config.section import Limits

__all__ = [
    "Aging",
    "Cluster",
    "Config",
    "ConfigError",
    "ConfigErrors",
    "Limits",
    "OpenPBSCluster",
    "RetryLimits",
    "SimulatedCluster",
    "SlurmCluster",
    "Timeouts",
    "load",
    "parse",
    "render",
]
