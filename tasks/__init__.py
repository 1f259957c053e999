"""The bundled tasks: YAML files, and the generators of the data that the project makes itself."""

if __name__ != "grpo_env.tasks":
    raise ImportError("this folder is the package grpo_env.tasks; install the project and import that name")
