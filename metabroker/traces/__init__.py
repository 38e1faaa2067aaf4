"""Logs of what ran: the Standard Workload Format, and what Slurm and OpenPBS write down.

`swf` reads and writes the archive's format; `sacct` and `pbs` turn a site's own records into it,
so that last year can be replayed under another policy.
"""
