"""From a completion to a verdict on its final answer.

``extract`` finds the final answer in the completion. ``kinds`` has one module for each kind of answer, and the gold
answer decides which one reads both. ``decide`` compares the two and asks ``rules`` when they differ as they stand.
``gold`` reads gold answers, once each. ``math`` and ``quantities`` are the mathematics behind the kinds.
"""
