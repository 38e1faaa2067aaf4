"""OpenPBS by its command line: commands, parsing, states, and the operations made of them."""

from .cluster import OpenPBSCluster, OpenPBSOptions

__all__ = ["OpenPBSCluster", "OpenPBSOptions"]
