"""Processes that can be killed, what they exchange, and the deadlines of what runs in them."""
