"""Rollout engines: what samples completions from the policy.

``protocol`` says what an engine is; ``own``, ``transformers``, ``vllm`` and ``vllm_server`` are engines; ``sampler``
turns what an engine reports into rollouts.
"""
