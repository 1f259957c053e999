# ruff: noqa: RUF001  (Greek letters)
"""Statistics in words: tests of hypotheses and distributions.

``Reject H_0`` and "The null hypothesis is rejected."; ``H_0: \\mu = 50, H_1: \\mu > 50``; ``X \\sim N(0, 1)``.

Each function reads one form, and returns ``None`` for any other text. Texts are in the spelling of ``codes.plain``.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from ..quantities.number import read_number
from ..spelling.normal import normal, squeezed

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
_LEVEL = r"(?:(?:\\?alpha|\u03b1) ?= ?)?(?:0?\.\d{1,4}|\d{1,2}(?:\.\d{1,2})? ?(?:\\?%|percent))"
_AT_LEVEL = lazy_compile(
    rf",? (?:at|with) (?:the |a )?(?:(?:significance )?level (?:of )?)?\$?(?P<level>{_LEVEL})\$?"
    r"(?: (?:significance )?level| level of significance| significance)?\Z"
)
_IN_FAVOR = lazy_compile(
    r" in favou?r of (?:the alternative(?: hypothesis)?(?: \(?H_?\{?[aA1]\}?\)?)?|H_?\{?[aA1]\}?)\Z"
)
_DISTRIBUTIONS = {
    "n": "normal", "normal": "normal", "b": "binomial", "bin": "binomial", "binom": "binomial",
    "binomial": "binomial", "poi": "poisson", "pois": "poisson", "po": "poisson", "poisson": "poisson",
    "exp": "exponential", "exponential": "exponential", "u": "uniform", "unif": "uniform", "uniform": "uniform",
    "chisquare": "chi-square", "chi-square": "chi-square", "chisquared": "chi-square", "chi-squared": "chi-square",
    "chi^2": "chi-square", "χ^2": "chi-square", "t": "t",
    "geo": "geometric", "geom": "geometric", "geometric": "geometric", "beta": "beta", "gamma": "gamma",
}  # fmt: skip
_NAMED_DISTRIBUTION = r"(?P<variable>[A-Z](?:_\w)?|\\bar\{?[A-Z]\}?) ?(?:\\sim|~|is|has|follows) ?"
_DISTRIBUTION = lazy_compile(
    rf"(?:{_NAMED_DISTRIBUTION})?(?P<name>\\?mathcal\{{?N\}}?|\\?[A-Za-z]{{1,11}}|\\chi\^\{{?2\}}?|χ\^2)"
    r" ?[(\[](?P<parameters>[^()\[\]]{1,60})[)\]]"
)
_INDEXED = lazy_compile(
    rf"(?:{_NAMED_DISTRIBUTION})?(?:(?P<name>t|\\chi\^\{{?2\}}?|χ\^2)_\{{?(?P<parameters>\d{{1,3}})\}}?"
    r"|\\chi_\{?(?P<of_chi>\d{1,3})\}?\^\{?2\}?)"
)
_IN_WORDS = lazy_compile(
    rf"(?:(?:an? |the )?(?:{_NAMED_DISTRIBUTION})?)(?:an? |the )?(?P<name>[A-Za-z]{{4,11}}|chi-?squared?|t)"
    r"(?:(?: |-)(?:distribution|random variable)|ly distributed| distributed)?"
    r"(?: with| on| over)?(?: the interval)? (?P<parameters>[^ ].{0,80})",
    re.IGNORECASE,
)
_STANDARD_NORMAL = lazy_compile(r"(?:an? |the )?(?i:standard normal)(?: distribution| variable| random variable)?")
_SKEW = lazy_compile(
    r"(?:(?:the )?distribution is |it is |an? )?(?:(?P<before>right|left|(?:posi|nega)tive(?:ly)?)"
    r"[ -]skew(?:ed|ness)?"
    r"|skewed (?:to the )?(?P<behind>right|left))(?: distribution)?",
    re.IGNORECASE,
)
_BETWEEN = lazy_compile(r"\s?;\s?|\s?,\s?(?:and )?| and ")
_BOUNDS = lazy_compile(r"^(?:from |between )?[(\[]?(\S{1,12}) ?(?:,| to| and) ?(\d\S{0,11}?)[)\]]?$")
_PARAMETER = lazy_compile(
    r"(?:the |an? )?(?P<name>\\?[A-Za-zμσλ]{1,10}(?: (?:[a-z]{2,11}|\\?[a-zλ]{1,6})){0,2}(?:\^\{?2\}?)?|σ\^2)"
    r"(?: of)? ?(?:=|is|:)? ?"
    r"(?P<value>-?[\d\\.].{0,20})|(?P<count>\d{1,6}) (?P<behind>degrees of freedom|trials|df)"
)
_PARAMETERS = {
    "mean": "mean", "mu": "mean", "μ": "mean", "average": "mean", "expectedvalue": "mean",
    "variance": "variance", "sigma^2": "variance", "sigma^{2}": "variance", "σ^2": "variance",
    "standarddeviation": "deviation", "sd": "deviation", "sigma": "deviation", "σ": "deviation",
    "lambda": "rate", "λ": "rate", "rate": "rate", "rateparameter": "rate", "ratelambda": "rate",
    "rateparameterlambda": "rate", "parameter": "parameter", "parameterlambda": "rate", "meanlambda": "mean",
    "df": "freedom", "degreesoffreedom": "freedom",
    "n": "trials", "trials": "trials", "p": "chance", "parametern": "trials", "parameterp": "chance",
    "successprobability": "chance", "probabilityofsuccess": "chance", "probability": "chance",
}  # fmt: skip
_KNOWN = {
    "normal": ("mean", "variance"), "binomial": ("trials", "chance"), "poisson": ("rate",), "exponential": ("rate",),
    "geometric": ("chance",), "chi-square": ("freedom",), "t": ("freedom",),
}  # fmt: skip
"""The parameters of a distribution in the order that its short notation has."""
_PART = lazy_compile(
    r"(?:(?P<null>H_?\{?0\}?|(?:the )?[Nn]ull(?: hypothesis)?(?: \(?H_?\{?0\}?\)?)?)"
    r"|(?:the )?(?:H_?\{?[aA1]\}?|[Aa]lternative(?: hypothesis)?(?: \(?H_?\{?[aA1]\}?\)?)?))\s?(?::|is)\s?"
)
_AGAINST = lazy_compile(r"\s*(?:,|;|\b(?:and|versus|vs\.?|against))*\s*\Z")


class Distribution(NamedTuple):
    """A distribution with its parameters, and the variable that has it, if that is said."""

    variable: str
    name: str
    parameters: tuple[str, ...]


class Decision(NamedTuple):
    """Whether the null hypothesis is rejected, and the level of significance, if that is said."""

    rejects: bool
    level: str


def decision(text: str) -> Decision | None:
    """``Reject H_0`` and "The null hypothesis is rejected at the 5% level."; "Fail to reject H_0"."""
    if len(text) > MAX_LENGTH:
        return None
    text = text.rstrip(". ")
    level = _AT_LEVEL.search(text)
    text = _IN_FAVOR.sub("", text[: level.start()] if level else text)
    match = _DECISION.fullmatch(text[:1].lower() + text[1:]) or _DECISION.fullmatch(text)
    if match is None:
        return None
    denied = bool(match["not"] or match["never"] or match["lacking"])
    rejects = (match["verb"] or match["done"] or match["evident"]).startswith("reject")
    return None if denied and not rejects else Decision(rejects and not denied, _level(level["level"]) if level else "")


def _level(text: str) -> str:
    """A level of significance as a fraction: of ``5%`` and ``\\alpha = 0.05``."""
    digits = re.sub(r"[^\d.]", "", text)
    return str(Fraction(digits) / (100 if "%" in text or "percent" in text else 1))


def same_decision(gold: Decision, answer: Decision) -> bool:
    """Whether two decisions are the same, and not at different levels."""
    return gold.rejects == answer.rejects and (not (gold.level and answer.level) or gold.level == answer.level)


def distribution(text: str) -> Distribution | None:
    """``X \\sim N(10, 4)``, ``\\mathcal{N}(10, 4)``, ``Normal(10, 4)`` and "normal with mean 10 and variance 4"."""
    if len(text) > MAX_LENGTH:
        return None
    if _STANDARD_NORMAL.fullmatch(text):
        return Distribution("", "normal", ("0", "1"))
    if match := _INDEXED.fullmatch(text):  # t_9
        name, stated = match["name"] or "chi^2", [match["parameters"] or match["of_chi"]]
    elif match := _DISTRIBUTION.fullmatch(text):
        name, stated = match["name"], match["parameters"].split(",")
    elif match := _IN_WORDS.fullmatch(text):
        name = match["name"].removesuffix("ly")
        stated = _BETWEEN.split(_BOUNDS.sub(r"\1; \2", match["parameters"].strip(" ()")))
    else:
        return None
    name = name.lower().strip("\\ ").removeprefix("mathcal").strip("{}").replace("^{2}", "^2")
    known = _DISTRIBUTIONS.get(name, "")
    parameters = _in_order(known, [_stated(part) for part in stated]) if known else None
    return Distribution(re.sub("[{}]", "", match["variable"] or ""), known, parameters) if parameters else None


def _stated(text: str) -> tuple[str, str]:
    """What a parameter is called, if that is said, and its value."""
    match = _PARAMETER.fullmatch(text.strip())
    if match is None:
        return "", _value(text)
    name = match["name"] or match["behind"]
    return _PARAMETERS.get(name.lower().replace("\\", "").replace(" ", ""), "?"), _value(
        match["value"] or match["count"]
    )


def _in_order(name: str, stated: list[tuple[str, str]]) -> tuple[str, ...] | None:
    """The values of parameters in the order that the short notation has; ``None`` if it is not clear which they are."""
    known = _KNOWN.get(name, ())
    if not all(label for label, _ in stated):
        are_named = any(label for label, _ in stated)
        return None if are_named else tuple(value for _, value in stated)
    values = dict(stated)
    if name == "normal" and "deviation" in values:
        number = read_number(values.pop("deviation"))
        if number is None:
            return None
        values["variance"] = str(number.value**2)
    if name == "exponential" and "mean" in values:
        number = read_number(values.pop("mean"))
        if number is None or not number.value:
            return None
        values["rate"] = str(1 / number.value)
    if name in ("poisson", "chi-square", "t") and len(values) == 1 and set(values) <= {"parameter", "mean", "rate"}:
        values = dict.fromkeys(known, *values.values()) if name == "poisson" or "parameter" in values else {}
    if len(stated) != len(values) or set(values) != set(known):
        return None
    return tuple(values[label] for label in known)


def same_distribution(gold: Distribution, answer: Distribution) -> bool:
    """Whether two distributions are the same, and not those of different variables."""
    same = gold.name == answer.name and gold.parameters == answer.parameters
    return same and (not (gold.variable and answer.variable) or gold.variable == answer.variable)


def _value(text: str) -> str:
    text = normal(text)
    number = read_number(text)
    return str(number.value) if number and not number.unit else squeezed(text)


def skew(text: str) -> str | None:
    """``right-skewed``, "skewed to the right" and "positively skewed"."""
    match = _SKEW.fullmatch(text) if len(text) <= MAX_LENGTH else None
    side = (match["before"] or match["behind"]).lower() if match else ""
    return ("right" if side.startswith(("right", "positive")) else "left") if side else None


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
