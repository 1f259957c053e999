"""What other papers add to a step: mixtures, curricula, dynamic sampling, sampling ahead, values of steps."""
