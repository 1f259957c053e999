"""The GRPO trainer: pure maths in advantages and losses, the algorithm in loop."""

import os

if __name__ != "grpo_env.trainer":
    raise ImportError("this folder is the package grpo_env.trainer; install the project and import that name")

# Read when torch loads its threads. They would spin while they wait for each other, which on a machine that is shared
# with other work makes a training step ten times slower.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
