"""The driver in real time: the loop that owns the core, and the workers that act in clusters."""
