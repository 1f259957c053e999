"""What is done with a file of scores: read it, report on it, compare two, export what a trainer can use."""
