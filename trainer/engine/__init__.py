"""The engine: everything that runs the policy. The algorithm (``trainer/*.py``) uses only the calls in this table.

==============================================  =====================================================================
``policy.load_policy``, ``policy.Policy``       the model with its tokenizer and device; snapshots and swapped weights
``policy.checkpoint_activations``               activations computed again in the backward pass, for less memory
``forward.with_fast_paths``                     the policy with the faster ways of computing that its model supports
``lora.prepare_adapter``                        the policy with only an adapter to train
``sampling.engines.make_engine``                what samples: our own loop or vLLM; loads weights, sleeps
``sampling.sampler.sample``                     token ids to rollouts: text, ids and their log-probabilities
``logprobs.completion_logp``                    log-probabilities of completion tokens, with gradients
``memory.default_tokens``                       the size of micro-batches that fits into memory
``sharding.optimizer_step``                     a clipped step of the optimizer, over all processes
``sharding.with_fsdp``, ``unsharded``           the policy with sharded weights; all weights for a while
``sharding.full_state``, ``shard_state``        full tensors for a checkpoint, and back to shards
==============================================  =====================================================================

Another rollout engine is a ``sampling.protocol.RolloutEngine`` in a file of its own in ``sampling/``, with its name in
``sampling.engines.make_engine``.
"""
