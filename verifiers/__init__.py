"""The verifiers: one idea a file, each a frozen dataclass whose fields are its YAML options.

What ``accuracy`` is made of is in ``answers``, what ``python_tests`` runs programs in is in ``sandbox``.
"""

if __name__ != "grpo_env.verifiers":
    raise ImportError("this folder is the package grpo_env.verifiers; install the project and import that name")
