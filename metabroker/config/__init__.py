"""The configuration of the daemon (contract C6): models, and errors with file, line and key."""

from metabroker.config.clusters import Cluster, OpenPBSConfig, SimulatedConfig, SlurmConfig
from metabroker.config.errors import ConfigError, ConfigErrors
from metabroker.config.loader import load, parse
from metabroker.config.model import AgingConfig, Config, RetryLimits, Timeouts
from metabroker.config.render import render
from metabroker.config.section import SizeLimits

__all__ = [
    "AgingConfig",
    "Cluster",
    "Config",
    "ConfigError",
    "ConfigErrors",
    "OpenPBSConfig",
    "RetryLimits",
    "SimulatedConfig",
    "SizeLimits",
    "SlurmConfig",
    "Timeouts",
    "load",
    "parse",
    "render",
]
