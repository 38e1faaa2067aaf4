"""Examining a site: what needs no cluster."""
