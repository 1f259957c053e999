"""The GRPO trainer: pure maths in advantages and losses, the algorithm in loop.

In the order of a step: ``loop``, ``rollout`` (``background_scorer``), ``scored_groups`` (``step_tokens``),
``advantages``, ``batch``, ``reference``, ``losses``, ``update`` (``optimizer``, ``out_of_memory``). Several rooms have
``shared_types``; ``custom`` checks functions of the user's. Around them: ``extensions``, what other papers add;
``episodes``, of several turns; ``engine``, which runs the model; ``run``, a run's folder and console; ``commands``,
which only sample.
"""

import os

if __name__ != "grpo_env.trainer":
    raise ImportError("this folder is the package grpo_env.trainer; install the project and import that name")

# Read when torch loads its threads: how long one of them spins while it waits for the others, before it sleeps. The
# default of libgomp makes a step ten times slower as soon as another program wants a core; to sleep at once costs a
# third of the speed on a free machine, where a small model's pieces of work are some ten microseconds apart.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")
