"""A task file: its schema, its data, its prompts, and the ``Task`` they make."""
