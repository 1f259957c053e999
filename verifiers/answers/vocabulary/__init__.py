"""Tables of words: numbers, units, currencies, elements, and words of other languages."""
