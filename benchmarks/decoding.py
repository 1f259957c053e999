"""Tokens per second of decoding: our sampler and transformers' ``generate``, in one process, by turns.

    full      no end token: every row has the maximum length
    own       the model's own end token
    spread    the temperature is so high that all tokens are equally likely, and two in ``max_new_tokens`` of all tokens
              are end tokens: every token ends a row with the same probability, and the mean length is .43 of the
              maximum

End tokens are set in the generation config, which both sides read. Rows are the completions of the step benchmark, all
in one batch; ``generate`` gets each prompt once per completion, as from TRL. Both use the same autocast context.
Samples differ, so mean lengths are printed.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from functools import partial
from statistics import fmean, median, quantiles
from typing import Any

from sides import Work, load, now, pin_to_one_core, run_script

KINDS = ("full", "own", "spread")


def compare(work: Work, rounds: int) -> None:
    """Measure in a new process and print the table."""
    results = run_script(__file__, sys.executable, json.dumps(vars(work)), str(rounds))
    print("\n| lengths | sampler | tokens/s | seconds | CPU s | mean length | quartiles |\n" + "|---" * 7 + "|")
    for name, samplers in results.items():
        speed = {}
        for sampler, runs in samplers.items():
            lengths = [length for *_, lengths in runs for length in lengths]
            seconds, cpu_seconds = (median(run[clock] for run in runs) for clock in (0, 1))
            speed[sampler] = [median(sum(run[2]) / run[clock] for run in runs) for clock in (0, 1)]
            cells = [f"{speed[sampler][0]:,.0f}", f"{seconds:.2f}", f"{cpu_seconds:.2f}", f"{fmean(lengths):.1f}"]
            quarters = " ".join(f"{quarter:.0f}" for quarter in quantiles(lengths, n=4))
            print(f"| {name} | {sampler} | {' | '.join(cells)} | {quarters} |")
        for sampler in list(speed)[1:]:
            wall, cpu = (ours / other for ours, other in zip(speed["ours"], speed[sampler], strict=True))
            print(f"| {name} | ours : {sampler} | {wall:.2f} x | | {cpu:.2f} x | | |")


def measure(
    work: Work, rounds: int, kinds: Sequence[str] = KINDS, samplers: Sequence[str] | None = None
) -> dict[str, Any]:
    """Seconds, processor seconds and lengths of every run, by kind of lengths and by sampler.

    ``samplers`` are names: by default those of the table, and ``CUDA graphs`` on CUDA. On a CPU, that one takes the
    steps that would be recorded. ``continuous batching`` is that of transformers.
    """
    import copy

    import torch

    from grpo_env.trainer.engine.policy import load_model, load_policy
    from grpo_env.trainer.engine.sampling.protocol import SamplingRequest
    from grpo_env.trainer.engine.sampling.sampler import sample
    from grpo_env.trainer.extensions.prompt_sampler import take

    task, config = load(work)
    policy = load_policy(config.model, device=config.engine.device, precision=config.engine.precision)
    examples = take(task.examples("train"), config.prompts_per_step, 0, config.seed)
    prompts = [policy.prompt_ids(example, task.format) for example in examples]
    group_size, max_new_tokens = config.group_size, config.sampling.max_new_tokens
    own_end_ids = policy.end_ids
    policy.tokenizer.eos_token = None  # or it would end rows in addition to the tokens of the generation config
    model, _ = load_model(config.model)  # with transformers' own attention
    model = model.to(policy.device).eval()
    bf16_model = copy.deepcopy(model).bfloat16() if config.engine.precision == "bf16" else None

    def set_end_ids(end_ids: list[int]) -> None:
        configs = [m.generation_config for m in (policy.model, model, bf16_model) if m is not None]
        for generation_config in configs:
            generation_config.eos_token_id = end_ids or None
        policy.__dict__.pop("end_ids", None)  # a cached property

    def ours(seed: int, temperature: float) -> list[list[int]]:
        seeds = [f"{seed}/{example.id}" for example in examples]
        request = SamplingRequest(prompts, group_size, max_new_tokens, temperature, seeds)
        return [rollout.ids for rollout in sample(policy, request)]

    def generate(model: Any, seed: int, temperature: float) -> list[list[int]]:
        torch.manual_seed(seed)
        width = max(map(len, prompts))
        rows = [prompt for prompt in prompts for _ in range(group_size)]
        ids = torch.tensor([[0] * (width - len(row)) + row for row in rows], device=policy.device)
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows], device=policy.device)
        ends = policy.model.generation_config.eos_token_id
        options = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0, "eos_token_id": ends}
        with torch.no_grad(), policy.autocast_context():
            generated = model.generate(
                input_ids=ids, attention_mask=mask, max_new_tokens=max_new_tokens, pad_token_id=0, **options
            )
        return [_up_to_end(row, set(ends or [])) for row in generated[:, width:].tolist()]

    functions = {
        "ours": ours,
        "generate": partial(generate, model),
    }
    if bf16_model is not None:
        functions["generate, bf16 weights"] = partial(generate, bf16_model)
    chosen = list(functions) if samplers is None else samplers
    results: dict[str, dict[str, list[Any]]] = {}
    two_in_max = list(range(round(2 / max_new_tokens * policy.model.get_output_embeddings().out_features)))
    for name, end_ids, temperature in zip(KINDS, ([], own_end_ids, two_in_max), (1.0, 1.0, 1e6), strict=True):
        if name not in kinds:
            continue
        set_end_ids(end_ids)
        results[name] = {sampler: [] for sampler in chosen}
        for seed in range(rounds + 1):
            for sampler in chosen:
                start, cpu_start = now(), time.process_time()
                rows = functions[sampler](seed, temperature)
                times = now() - start, time.process_time() - cpu_start
                if seed > 0:  # seed 0 is a warm-up
                    results[name][sampler].append((*times, list(map(len, rows))))
    return results


def _up_to_end(row: list[int], ends: set[int]) -> list[int]:
    length = next((index + 1 for index, token in enumerate(row) if token in ends), len(row))
    return row[:length]


if __name__ == "__main__":
    pin_to_one_core(json.loads(sys.argv[1])["settings"]["engine.device"])
    output, sys.stdout = sys.stdout, sys.stderr
    print(json.dumps(measure(Work(**json.loads(sys.argv[1])), int(sys.argv[2]))), file=output)
