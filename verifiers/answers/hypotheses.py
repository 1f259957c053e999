"""Statistics in words: tests of hypotheses and distributions.

``Reject H_0`` and "The null hypothesis is rejected."; ``H_0: \\mu = 50, H_1: \\mu > 50``; ``X \\sim N(0, 1)``.

Each function reads one form, and returns ``None`` for any other text. Texts are in the spelling of ``codes.plain``.
"""

from __future__ import annotations

from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from .normal import normal, squeezed
from .number import read_number

MAX_LENGTH = 160

_NULL = r"(?:(?:the )?null(?: hypothesis)?|(?:the )?H_?\{?[0oO]\}?)(?: \(?H_?\{?0\}?\)?)?"
_LEAD = r"(?:(?:so|thus|hence|therefore),? )?(?:(?:we|you|one|they|he|she) )?(?:should |must |can |would |will )?"
_NOT = r"(?P<not>fail(?:s|ed)? to |(?:do|does|did|can|could|should)(?: not|n't) |cannot |can't |don't |not )?"
_DECISION = lazy_compile(
    rf"{_LEAD}{_NOT}(?P<verb>reject|retain|keep)(?:s|ed|ing)? {_NULL}"
    rf"|(?:there (?:is|was) |we have )?(?:(?P<lacking>not enough|insufficient|not sufficient)|(?:enough|sufficient))"
    rf" evidence to (?P<evident>reject) {_NULL}"
    rf"|{_NULL} (?:is|was|should be|must be|can be|(?P<never>is not|was not|isn't|should not be|cannot be|can not be))"
    r" (?P<done>rejected|retained|kept)",
)
_DISTRIBUTIONS = {
    "n": "normal", "normal": "normal", "b": "binomial", "bin": "binomial", "binom": "binomial",
    "binomial": "binomial", "poi": "poisson", "pois": "poisson", "po": "poisson", "poisson": "poisson",
    "exp": "exponential", "exponential": "exponential", "u": "uniform", "unif": "uniform", "uniform": "uniform",
    "geo": "geometric", "geom": "geometric", "geometric": "geometric", "beta": "beta", "gamma": "gamma",
}  # fmt: skip
_DISTRIBUTION = lazy_compile(
    r"(?:(?P<variable>[A-Z](?:_\w)?|\\bar\{?[A-Z]\}?) ?(?:\\sim|~|is) ?)?\\?(?P<name>mathcal\{?N\}?|[A-Za-z]{1,11})"
    r" ?\((?P<parameters>[^()]{1,40})\)"
)
_PART = lazy_compile(
    r"(?:(?P<null>H_?\{?0\}?|(?:the )?null(?: hypothesis)?(?: \(?H_?\{?0\}?\)?)?)"
    r"|(?:the )?(?:H_?\{?[aA1]\}?|alternative(?: hypothesis)?(?: \(?H_?\{?[aA1]\}?\)?)?))\s?(?::|is)\s?"
)
_AGAINST = lazy_compile(r"\s*(?:,|;|\b(?:and|versus|vs\.?|against))*\s*\Z")


class Distribution(NamedTuple):
    """A distribution with its parameters, and the variable that has it, if that is said."""

    variable: str
    name: str
    parameters: tuple[str, ...]


def decision(text: str) -> str | None:
    """``reject`` of "Reject H_0" and "The null hypothesis is rejected.", ``keep`` of "Fail to reject H_0"."""
    text = text.rstrip(". ")
    match = (
        _DECISION.fullmatch(text[:1].lower() + text[1:]) or _DECISION.fullmatch(text)
        if len(text) <= MAX_LENGTH
        else None
    )
    if match is None:
        return None
    denied = bool(match["not"] or match["never"] or match["lacking"])
    rejects = (match["verb"] or match["done"] or match["evident"]).startswith("reject")
    if denied and not rejects:
        return None
    return "reject" if rejects and not denied else "keep"


def distribution(text: str) -> Distribution | None:
    """``X \\sim N(10, 4)``, ``\\mathcal{N}(10, 4)`` and ``Normal(10, 4)``."""
    match = _DISTRIBUTION.fullmatch(text) if len(text) <= MAX_LENGTH else None
    name = (
        _DISTRIBUTIONS.get(match["name"].lower().replace("{", "").replace("}", "").removeprefix("mathcal"))
        if match
        else None
    )
    if match is None or name is None:
        return None
    parameters = tuple(_parameter(part) for part in match["parameters"].split(","))
    return Distribution(match["variable"] or "", name, parameters)


def same_distribution(gold: Distribution, answer: Distribution) -> bool:
    """Whether two distributions are the same, and not those of different variables."""
    same = gold.name == answer.name and gold.parameters == answer.parameters
    return same and (not (gold.variable and answer.variable) or gold.variable == answer.variable)


def _parameter(text: str) -> str:
    text = normal(text)
    number = read_number(text)
    return str(number.value) if number and not number.unit else squeezed(text)


def stated_hypotheses(text: str) -> str | None:
    """``H_0: \\mu = 50, H_a: \\mu \\ne 50`` and "Null hypothesis: ...; alternative hypothesis: ..."."""
    if len(text) > MAX_LENGTH:
        return None
    text = text[:1].lower() + text[1:] if text[:4].lower() in ("null", "the ") else text
    parts = list(_PART.finditer(text))
    if len(parts) != 2 or parts[0].start() or bool(parts[0]["null"]) == bool(parts[1]["null"]):
        return None
    ends = (parts[1].start(), len(text))
    said = [
        ("null" if part["null"] else "other", squeezed(normal(_AGAINST.sub("", text[part.end() : end]))))
        for part, end in zip(parts, ends, strict=True)
    ]
    return " ".join(f"{name}: {value}" for name, value in sorted(said)) if all(value for _, value in said) else None
