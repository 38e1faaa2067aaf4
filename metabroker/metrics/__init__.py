"""What Prometheus sees. A scrape reads memory and never touches a cluster."""

from .exporter import Exporter

__all__ = ["Exporter"]
