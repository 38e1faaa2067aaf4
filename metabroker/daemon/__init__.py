"""The process: built from its configuration, served, and one of several that share a store."""
