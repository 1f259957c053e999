"""Reference pages generated from the classes themselves."""
