"""Tokens a second of decoding alone: our sampler beside transformers' ``generate``, in one process, in turns.

    full      nothing ends a row: every one is as long as it may be
    own       the model's own end token
    spread    at a temperature so high that every token of the vocabulary is as likely as any other, and with two end
              tokens in ``max_new_tokens`` of them: a coin is thrown at every token, whatever the model wrote before,
              and the mean is .43 of the longest

End tokens stand in the generation config, which is all that either side knows of them. Rows are the completions of
the step benchmark, all at once; ``generate`` gets every prompt once for each of them, as TRL gives it. Both get the
same autocast context. Samples differ, so the mean lengths are printed. Our sampler is also measured by transformers'
layers, as it runs families whose layers are not written out, and besides with the prompt's keys and values copied to
every row, as it does for models that cannot share them.
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from statistics import fmean, median, quantiles
from typing import Any

from sides import Work, inner, load, now, one_core


def compare(work: Work, rounds: int) -> None:
    """Measure in a new process and print the table."""
    found = inner(__file__, sys.executable, json.dumps(vars(work)), str(rounds))
    print("\n| lengths | sampler | tokens/s | seconds | CPU s | mean length | quartiles |\n" + "|---" * 7 + "|")
    for name, samplers in found.items():
        speed = {}
        for sampler, runs in samplers.items():
            lengths = [length for *_, lengths in runs for length in lengths]
            seconds, used = (median(run[which] for run in runs) for which in (0, 1))
            speed[sampler] = [median(sum(run[2]) / run[which] for run in runs) for which in (0, 1)]
            cells = [f"{speed[sampler][0]:,.0f}", f"{seconds:.2f}", f"{used:.2f}", f"{fmean(lengths):.1f}"]
            quarters = " ".join(f"{quarter:.0f}" for quarter in quantiles(lengths, n=4))
            print(f"| {name} | {sampler} | {' | '.join(cells)} | {quarters} |")
        for sampler in list(speed)[1:]:
            wall, used = (mine / other for mine, other in zip(speed["ours"], speed[sampler], strict=True))
            print(f"| {name} | ours : {sampler} | {wall:.2f} x | | {used:.2f} x | | |")


def measure(work: Work, rounds: int) -> dict[str, Any]:
    """Seconds and lengths of every run, by kind of lengths and by sampler."""
    import copy
    from unittest.mock import patch

    import torch

    from grpo_env.trainer.engine.decoder import Decoder
    from grpo_env.trainer.engine.policy import load_model, load_policy
    from grpo_env.trainer.engine.sampler import sample
    from grpo_env.trainer.prompts import take

    task, config = load(work)
    policy = load_policy(config.model, device=config.engine.device, precision=config.engine.precision)
    examples = take(task.examples("train"), config.prompts_per_step, 0, config.seed)
    prompts = [policy.prompt_ids(example, task.format) for example in examples]
    group, longest = config.group_size, config.sampling.max_new_tokens
    own = policy.end_ids
    policy.tokenizer.eos_token = None  # or it would end rows beside those that the generation config names
    plain, _ = load_model(config.model)  # with transformers' own attention
    plain = plain.to(policy.device).eval()
    half = copy.deepcopy(plain).bfloat16() if config.engine.precision == "bf16" else None

    def end_at(ends: list[int]) -> None:
        for model in (policy.model, plain, half):
            if model is not None:
                model.generation_config.eos_token_id = ends or None
        policy.__dict__.pop("end_ids", None)  # worked out once

    def ours(seed: int, temperature: float) -> list[list[int]]:
        seeds = [f"{seed}/{example.id}" for example in examples]
        made = sample(policy, prompts, group, max_new_tokens=longest, temperature=temperature, seeds=seeds)
        return [one.ids for one in made]

    def by_modules(seed: int, temperature: float) -> list[list[int]]:
        with patch("grpo_env.trainer.engine.stepwise_decoding.decoder_for", lambda policy: Decoder):
            return ours(seed, temperature)

    def copied(seed: int, temperature: float) -> list[list[int]]:
        with patch("grpo_env.trainer.engine.cache.can_share_prompts", lambda policy: False):
            return by_modules(seed, temperature)

    def generate(model: Any, seed: int, temperature: float) -> list[list[int]]:
        torch.manual_seed(seed)
        width = max(map(len, prompts))
        rows = [prompt for prompt in prompts for _ in range(group)]
        ids = torch.tensor([[0] * (width - len(row)) + row for row in rows], device=policy.device)
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows], device=policy.device)
        ends = policy.model.generation_config.eos_token_id
        options = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0, "eos_token_id": ends}
        with torch.no_grad(), policy.autocast_context():
            made = model.generate(input_ids=ids, attention_mask=mask, max_new_tokens=longest, pad_token_id=0, **options)
        return [_cut(row, set(ends or [])) for row in made[:, width:].tolist()]

    samplers = {
        "ours": ours,
        "by transformers' layers": by_modules,
        "and a copy of the prompt for each row": copied,
        "generate": partial(generate, plain),
    }
    if half is not None:
        samplers["generate, bf16 weights"] = partial(generate, half)
    found: dict[str, dict[str, list[Any]]] = {}
    some = list(range(round(2 / longest * policy.model.get_output_embeddings().out_features)))
    for name, ends, temperature in (("full", [], 1.0), ("own", own, 1.0), ("spread", some, 1e6)):
        end_at(ends)
        found[name] = {sampler: [] for sampler in samplers}
        for seed in range(rounds + 1):
            for sampler, function in samplers.items():
                start, used = now(), time.process_time()
                rows = function(seed, temperature)
                if seed:  # the first warms up
                    found[name][sampler].append((now() - start, time.process_time() - used, list(map(len, rows))))
    return found


def _cut(row: list[int], ends: set[int]) -> list[int]:
    end = next((place + 1 for place, token in enumerate(row) if token in ends), len(row))
    return row[:end]


if __name__ == "__main__":
    one_core(json.loads(sys.argv[1])["settings"]["device"])
    output, sys.stdout = sys.stdout, sys.stderr
    print(json.dumps(measure(Work(**json.loads(sys.argv[1])), int(sys.argv[2]))), file=output)
