"""A run around the algorithm: folder, checkpoints, metrics, console, alerts."""
