"""The verifiers, one topic per file. Each is a frozen dataclass whose fields are its YAML options.

``answers`` extracts and compares answers for ``accuracy``; ``sandbox`` runs programs for ``python_tests``.
"""

if __name__ != "grpo_env.verifiers":
    raise ImportError("this folder is the package grpo_env.verifiers; install the project and import that name")
