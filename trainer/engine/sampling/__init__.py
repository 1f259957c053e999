"""Rollout engines: what samples completions from the policy.

``protocol`` says what an engine is; ``own``, ``vllm`` and ``vllm_server`` are engines; ``send_weights`` is how vLLM
gets new weights, and ``probe`` compares an engine with the policy. ``sampler`` turns what an engine reports into
rollouts.
"""
