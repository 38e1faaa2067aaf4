"""Options of a cluster's own submit command: which of them users and configurations may give."""
