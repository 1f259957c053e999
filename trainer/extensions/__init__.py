"""What other papers add to a step's samples: dynamic sampling, sampling ahead, greedy baselines, values of steps."""
