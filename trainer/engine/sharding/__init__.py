"""Weights, gradients and optimizer states of which every process keeps a share."""
