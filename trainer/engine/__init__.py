"""The policy and what runs it: sampling, forward passes, caches, adapters and sharding."""
