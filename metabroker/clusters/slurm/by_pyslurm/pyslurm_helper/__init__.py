"""The helper process: all that runs in the interpreter which has pyslurm.

That may be another one than the broker's own, with no package but pyslurm and an older Python:
so nothing of metabroker is imported here, and nothing newer than Python 3.8 is used.
"""
