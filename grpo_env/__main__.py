"""``python -m grpo_env`` is the ``grpo_env`` command."""

from grpo_env.cli.app import main

if __name__ == "__main__":
    main()
