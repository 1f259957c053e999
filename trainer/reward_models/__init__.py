"""Trains the models of ``reward_model`` and ``process_reward_model``: their labels, the training, held-out figures."""
