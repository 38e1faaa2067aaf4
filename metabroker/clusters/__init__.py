"""Clusters: what the daemon asks of one, and the resource managers that can be asked."""
