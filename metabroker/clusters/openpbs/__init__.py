"""OpenPBS by its command line: commands, parsing, states, and the operations made of them."""

from .cluster import OpenPBSCluster, OpenPBSOptions
from .ports import HostPorts

__all__ = ["HostPorts", "OpenPBSCluster", "OpenPBSOptions"]
