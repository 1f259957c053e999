"""GRPO in one file: plain torch and transformers, with the problems and the rewards of a task.

python examples/nano_grpo.py                          # a small model learns to add, in a minute on two cores
python examples/nano_grpo.py --supervision process    # rewards for single equations too
python examples/nano_grpo.py gsm8k --model Qwen/Qwen2.5-0.5B-Instruct --learning-rate 1e-6 --tokens 512

Sections and equations are those of DeepSeekMath (Shao et al. 2024, arXiv:2402.03300). A step takes P problems, samples
a group of G completions of each from the model, scores these B = P G rows, and makes what is better than the rest of
its group more likely. Prompts have at most L tokens, completions T.
"""

import argparse
import random
import time
from copy import deepcopy
from importlib.resources import files
from statistics import fmean

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

from grpo_env import Completion, Group, load_task, score_groups
from grpo_env.taskfile.prompt import prompt_ids


# 1. Sample a group of completions of each problem, from the distribution that the loss takes the probabilities of: at
#    temperature 1, without top-k and penalties (see `main`). Prompts are padded on the left, completions on the right.
def sample(model, tokenizer, prompts, args):
    """Token ids, which of them the model reads (1) and which are padding (0), and which of the last T it wrote."""
    batch = tokenizer.pad({"input_ids": prompts}, padding_side="left", return_tensors="pt").to(model.device)
    ids = model.generate(**batch, num_return_sequences=args.group, max_new_tokens=args.tokens)  # (B, L + T)
    ends = torch.isin(ids, torch.tensor(model.generation_config.eos_token_id, device=ids.device))
    ends = ends[:, batch.input_ids.shape[1] :].long()
    mask = ends.cumsum(1) - ends == 0  # (B, T), up to the first end token, which the model wrote too
    return ids, torch.cat([batch.attention_mask.repeat_interleave(args.group, 0), mask.long()], 1), mask


# 2. Score them. The task finds the answer in a text, compares it and checks the format. A completion that cannot be
#    scored is not worth 0; here it ends the program.
def score(task, tokenizer, problems, rows, ends):
    """The scores of B rows, each the token ids of a completion."""
    completions, size = [], len(rows) // len(problems)
    for row in rows:
        text, finish = tokenizer.decode(row, skip_special_tokens=True), "stop" if row[-1] in ends else "length"
        completions.append(Completion(text, finish, len(row), task.format.prefill))
    groups = [Group(problem, completions[at * size :][:size]) for at, problem in enumerate(problems)]
    scores = [score for scores in score_groups(task.verifier, groups) for score in scores]
    if unscored := [score for score in scores if not score.scored]:
        raise SystemExit(f"{len(unscored)} completions cannot be scored, such as this one:\n{unscored[0]}")
    return scores


# 3. Find the tokens on which steps end. Under outcome supervision (section 4.1.2) the whole completion is one step.
#    Under process supervision (section 4.1.3) the task scores parts of the text, and the token that completes such a
#    part ends the step. One that ends with the text includes the end token, or else nothing would reward stopping.
def steps_of(score, tokenizer, row, supervision):
    """The steps of a completion: the index of the token that ends it, and its reward."""
    if supervision == "outcome":
        return [(len(row) - 1, score.value)]
    texts = [tokenizer.decode(row[: t + 1], skip_special_tokens=True) for t in range(len(row))]
    written = [len(text.rstrip("\ufffd")) for text in texts]  # characters; one that is not complete does not count
    steps = []
    for step in score.steps:
        before = sum(count < step.end for count in written)  # tokens before the one that completes the step
        steps.append((len(row) - 1 if step.end >= written[-1] else before, step.value))
    return steps


# 4. Compare. The rewards R of all steps in a group are normalized together, so equal rewards teach nothing. The
#    advantage of a token is the sum of those that are still to come; with one step, the same for all tokens.
#
#        r~ = (r - mean(R)) / std(R)        A[i, t] = sum of r~[i, j] over the steps j of row i that end at t or later
def advantages_of(steps, group, length):
    """(B, T) advantages, from the steps of every row. T is ``length``. (In float32, 1.2 - mean(1.2) may not be 0.)"""
    advantages = torch.zeros(len(steps), length)
    for first in range(0, len(steps), group):
        rewards = torch.tensor([reward for row in steps[first:][:group] for _, reward in row], dtype=torch.float64)
        std = rewards.std().clamp(min=1e-6) if len(rewards) > 1 else 1.0
        for row in range(first, first + group):
            for end, reward in steps[row]:
                advantages[row, : end + 1] += (reward - rewards.mean()) / std
    return advantages


# 5. Learn. What is maximized is the mean over rows of the mean over their tokens (equation 3) of
#
#        min(r A, clip(r, 1 - eps, 1 + eps) A) - beta KL        with r = pi / pi_old, by the weights before the step
#        KL = pi_ref / pi - log(pi_ref / pi) - 1                (equation 4), which is 0 where the two are equal
def log_probs(model, ids, reads, length):
    """(R, T) log-probabilities of the last T = ``length`` tokens of R rows, in nats."""
    positions = (reads.cumsum(1) - 1).clamp(min=0)  # (R, L + T)
    logits = model(ids, attention_mask=reads, position_ids=positions, logits_to_keep=length + 1).logits[:, :-1]
    return logits.float().log_softmax(-1).gather(-1, ids[:, -length:, None]).squeeze(-1)


def update(model, reference, optimizer, samples, advantages, args):
    """``args.updates`` updates on the same samples. In the first, all ratios are 1, but their gradients are not 0."""
    (ids, reads, mask), old_logp = samples, {}
    for _ in range(args.updates):
        optimizer.zero_grad()
        for rows in torch.arange(len(ids)).split(args.group):  # gradients add up, so memory holds one group at a time
            inputs = ids[rows], reads[rows], mask.shape[1]
            logp = log_probs(model, *inputs)
            ratio = (logp - old_logp.setdefault(rows[0].item(), logp.detach())).exp()
            bounded = ratio.clamp(1 - args.clip, 1 + args.clip)
            objective = torch.minimum(ratio * advantages[rows], bounded * advantages[rows])
            if reference is not None:
                log_ratio = log_probs(reference, *inputs) - logp
                objective = objective - args.kl * (log_ratio.exp() - log_ratio - 1)
            means = (objective * mask[rows]).sum(1) / mask[rows].sum(1)
            (-means.sum() / len(ids)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def main():
    """Train, and print a line for every step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="?", default="arithmetic", help="a task's name or file")
    parser.add_argument("--model", default=str(files("grpo_env.trainer") / "bundled"), help="a folder or a hub id")
    parser.add_argument("--supervision", choices=["outcome", "process"], default="outcome")
    numbers = {"steps": 60, "problems": 16, "group": 8, "tokens": 64, "updates": 1, "clip": 0.2, "kl": 0.0}
    for name, default in (numbers | {"learning-rate": 1e-4}).items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    args = parser.parse_args()
    task, tokenizer = load_task(args.task), AutoTokenizer.from_pretrained(args.model)
    model = AutoModelForCausalLM.from_pretrained(args.model, dtype=torch.float32)
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    ends = torch.tensor(model.generation_config.eos_token_id).view(-1).tolist()  # of some models one, of some a list
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    model.generation_config = GenerationConfig(do_sample=True, top_k=0, eos_token_id=ends, pad_token_id=ends[0])
    reference = deepcopy(model).requires_grad_(False) if args.kl else None
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate, betas=(0.9, 0.95), weight_decay=0.0)
    examples, order = task.examples("train"), random.Random(0)
    torch.manual_seed(0)
    for number in range(1, args.steps + 1):
        began, problems = time.perf_counter(), order.sample(examples, args.problems)
        prompts = [prompt_ids(tokenizer, problem, task.format, args.model) for problem in problems]
        ids, reads, mask = sample(model, tokenizer, prompts, args)
        rows = [row[wrote].tolist() for row, wrote in zip(ids[:, -mask.shape[1] :], mask, strict=True)]
        scores = score(task, tokenizer, problems, rows, ends)
        steps = [steps_of(score, tokenizer, row, args.supervision) for score, row in zip(scores, rows, strict=True)]
        advantages = advantages_of(steps, args.group, mask.shape[1]).to(model.device)
        update(model, reference, optimizer, (ids, reads, mask), advantages, args)
        reward, accuracy = fmean(s.value for s in scores), fmean(s.part(task.metric).value for s in scores)
        print(f"step {number:3}  reward {reward:.3f}  accuracy {accuracy:.3f}  {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
