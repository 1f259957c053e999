"""Attacks on a task's reward: lazy strategies that should not be paid, and what they are paid."""
