"""The world simulator: the whole broker, its real store included, in virtual time.

Another driver of the same core, another clock, other clusters: engine, store, orders, Slurm
adapter and gates are the real ones. What is emulated is the world around them: controllers that
answer Slurm's commands in text, the processes of jobs, the shared folders, users, and faults. One
seed decides everything, and replays it exactly.
"""
