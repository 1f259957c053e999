"""Which stated texts may be the letter of an option."""

from __future__ import annotations

from grpo_env.lazy_regex import lazy_compile

_OPTION = lazy_compile(
    r"[\s$*_\"'`]*(?:(?:most |very )?likely\s"
    r"|(?:the )?(?:correct |right |best )?(?:option|choice|answer|letter)(?: is)?:?\s)*"
    r"(?:\\(?:text|textbf|mathrm|mathbf)\s?\{)?[\s$*_\"'`]*"
    r"(?:[(\[]\s?[A-Z]\s?[)\]]|[A-Z](?=$|[\s.,:;)}/\]*\"'`$—–-])(?!\s[a-z]+ing\b))"  # noqa: RUF001
)


def names_option(text: str) -> bool:
    """Whether a text begins with one capital letter on its own: ``B``, ``(B) 42``, ``B, because …``, ``option B``."""
    return _OPTION.match(text) is not None
