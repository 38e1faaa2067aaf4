"""What a site should set, by its own log: each setting that fits is tried on it, and told is only
what the log is sure of (`metabroker advise`)."""
