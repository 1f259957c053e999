"""The GRPO trainer: pure maths in advantages and losses, the algorithm in loop."""

if __name__ != "grpo_env.trainer":
    raise ImportError("this folder is the package grpo_env.trainer; install the project and import that name")
