"""One spelling for texts: normal LaTeX, brackets, and words with their punctuation."""
