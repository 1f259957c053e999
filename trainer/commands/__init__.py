"""Commands that sample from a model and train nothing: evaluate, generate, label steps."""
