"""Transports: how a cluster's commands and files are reached."""
