"""From a completion's text to a verdict on its final answer: find it, read it, compare it."""
