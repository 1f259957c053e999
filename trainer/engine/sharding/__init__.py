"""Weights, gradients and optimizer states split into one shard per process, by FSDP2 or DeepSpeed's ZeRO."""
