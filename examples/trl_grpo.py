"""TRL's trainer with one of our tasks: its data and its reward, with the parts logged too.

pip install trl
python examples/trl_grpo.py arithmetic --steps 60
python examples/trl_grpo.py gsm8k --model Qwen/Qwen2.5-0.5B-Instruct --steps 500 --learning-rate 1e-6 --tokens 512

``OUT/completions/`` then has the sampled completions with the value and explanation of every part and the packed
example. `grpo_env score` reads those files and computes the same rewards.
"""

import argparse
from importlib.resources import files

import torch
from trl import GRPOConfig, GRPOTrainer

from grpo_env import load_task
from grpo_env.integrations.trl import reward_funcs, to_dataset

GROUP = 8


def main() -> None:
    """Train, and print the rewards of the last step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", help="a task's name or file")
    parser.add_argument("--model", default=str(files("grpo_env.trainer") / "bundled"))
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--prompts", type=int, default=8, help="prompts a step")
    parser.add_argument("--tokens", type=int, default=64, help="longest completion")
    parser.add_argument("--learning-rate", type=float, default=1e-4)
    parser.add_argument("--out", default="runs/trl")
    options = parser.parse_args()
    task = load_task(options.task)
    funcs = reward_funcs(task)
    config = GRPOConfig(
        output_dir=options.out,
        reward_weights=[func.weight for func in funcs],  # 1 for the reward; 0 for its parts, which it contains already
        num_generations=GROUP,
        per_device_train_batch_size=GROUP * options.prompts,  # complete groups per device, for group verifiers
        max_completion_length=options.tokens,
        max_steps=options.steps,
        learning_rate=options.learning_rate,
        beta=0.0,
        bf16=torch.cuda.is_available(),
        log_completions=True,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
    )
    trainer = GRPOTrainer(options.model, reward_funcs=funcs, args=config, train_dataset=to_dataset(task, "train"))
    trainer.train()
    last = [row for row in trainer.state.log_history if "reward" in row][-1]
    print("step", last["step"], {key: round(value, 3) for key, value in last.items() if key.endswith("/mean")})


if __name__ == "__main__":
    main()
