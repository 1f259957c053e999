"""Reference pages and summaries generated from the classes."""
