"""What other papers add to a step: mixtures, dynamic sampling, values of steps."""
