"""What other papers add to a step's samples: dynamic sampling, samples one step ahead, step values."""
