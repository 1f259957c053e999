"""``grpo_env serve``: a task's verdicts over HTTP. Needs the extra ``serve``; nothing else imports this package."""
