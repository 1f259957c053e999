"""What kind an answer is, and for each kind how it is read and compared."""
