"""How often a task's metric is wrong: a stratified sample, its labels, and the error rates that they imply."""
