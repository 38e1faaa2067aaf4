"""The driver that lives in real time: it owns the core, the store, and the clusters' workers."""
