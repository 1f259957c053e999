"""Episodes of several turns: what a model reads before each of them, how they are sampled, and their metrics."""
