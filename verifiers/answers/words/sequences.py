"""Lists in words whose order matters: those of a known sequence, and those that the text around them calls an order.

``Mercury, Venus, Earth, Mars``; "In order of increasing mass they are muon, proton, neutron."
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from grpo_env.lazy_regex import lazy_compile

MAX_LENGTH = 300
MAX_ITEMS = 20
WINDOW = 300  # characters before the end of an answer in which the text may say that it is an order

_KNOWN = tuple(
    tuple(line.split(", "))
    for line in """
mercury, venus, earth, mars, jupiter, saturn, uranus, neptune
domain, kingdom, phylum, class, order, family, genus, species
prophase, metaphase, anaphase, telophase, cytokinesis
prophase, prometaphase, metaphase, anaphase, telophase, cytokinesis
interphase, prophase, metaphase, anaphase, telophase
leptotene, zygotene, pachytene, diplotene, diakinesis
g1, s, g2, m
cell, tissue, organ, organ system, organism, population, community, ecosystem, biosphere
cells, tissues, organs, organ systems, organism
egg, larva, pupa, adult
zygote, morula, blastula, gastrula
duodenum, jejunum, ileum
crust, mantle, outer core, inner core
troposphere, stratosphere, mesosphere, thermosphere, exosphere
precambrian, paleozoic, mesozoic, cenozoic
cambrian, ordovician, silurian, devonian, carboniferous, permian, triassic, jurassic, cretaceous
cretaceous, paleogene, neogene, quaternary
new moon, waxing crescent, first quarter, waxing gibbous, full moon, waning gibbous, last quarter, waning crescent
physical, data link, network, transport, session, presentation, application
red, orange, yellow, green, blue, indigo, violet
radio waves, microwaves, infrared, visible light, ultraviolet, x-rays, gamma rays
introduction, growth, maturity, decline
expansion, peak, contraction, trough
glycolysis, krebs cycle, electron transport chain
initiation, elongation, termination
fetch, decode, execute
new, ready, running, terminated
""".strip().splitlines()
)
"""Sequences that are known by their order."""
_BETWEEN = lazy_compile(r"\s*[,;]\s*(?:and\s+)?|\s+and\s+")
_WORD = lazy_compile(r"[^\W\d_]{2}")
_ARTICLE = lazy_compile(r"\A(?:the|an?)\s")
_EXTREME = r"(?:[a-z]{2,12}est|(?:inner|outer)most|most(?: [a-z]+)?|least(?: [a-z]+)?)"
_OPPOSITES = "|".join(
    rf"{one}\w* to (?:the )?{other}|{other}\w* to (?:the )?{one}"
    for one, other in (
        ("low", "high"), ("small", "large"), ("first", "last"), ("start", "finish"), ("beginning", "end"),
        ("broad", "narrow"), ("general", "specific"), ("top", "bottom"), ("left", "right"), ("inside", "outside"),
        ("early", "late"), ("old", "new"), ("old", "young"), ("near", "far"), ("best", "worst"), ("weak", "strong"),
        ("short", "long"), ("slow", "fast"), ("simple", "complex"), ("light", "heavy"), ("cold", "hot"),
    )
)  # fmt: skip
_ORDERED = lazy_compile(
    r"\bin (?:the |an? |its |their )?(?:(?!no\b|any\b|alphabetical\b|either\b|random\b)[a-z]+ ){0,2}"
    r"(?:order|sequence)\b(?! to\b| that\b)"
    r"|\b(?:order|sequence|ranking) (?:of (?:[a-z]+ ){1,4})?(?:is|from|would be|must be|will be)\b"
    r"|\b(?:order|sequence|ranking)\W{0,4}:|\bchronological"
    r"|\b(?:ascending|descending|increasing|decreasing) order\b"
    r"|\b(?:ranked|arranged|sorted|ordered)(?: by| from| according|:)"
    rf"|\bfrom (?:the )?{_EXTREME}\b[^.\n]{{0,40}}? to (?:the )?{_EXTREME}\b"
    rf"|\bfrom (?:the )?(?:{_OPPOSITES})|\bfrom the (?:inside|outside|top|bottom|ground)\b",
    re.IGNORECASE,
)  # fmt: skip


def is_in_another_order(gold: str, answer: str, before: str) -> bool:
    """Whether an answer has the items of a gold answer whose order matters in another order.

    It does if they follow each other in a known sequence, or if the text ``before`` the end of the answer says so.
    """
    items = _items(gold)
    if not items or len(answer) > MAX_LENGTH:
        return False
    places = [_place(item, answer.casefold()) for item in items]
    if -1 in places or places == sorted(places):
        return False
    return _are_known(items) or _ORDERED.search(before[-WINDOW:]) is not None


def _items(gold: str) -> list[str]:
    """The items of a list in words, in small letters; none if it is no list, or has an item twice."""
    if len(gold) > MAX_LENGTH or ("," not in gold and ";" not in gold and " and " not in gold):
        return []
    items = [_ARTICLE.sub("", item.strip(" .").casefold()) for item in _BETWEEN.split(gold)]
    are_words = 1 < len(items) <= MAX_ITEMS and all(items) and any(map(_WORD.search, items))
    return items if are_words and len(set(items)) == len(items) else []


def _place(item: str, text: str) -> int:
    """Where an item stands in a text as a word of its own; -1 if it does not."""
    match = re.search(rf"(?<![^\W_]){re.escape(item)}(?![^\W_])", text)
    return match.start() if match else -1


def _are_known(items: Sequence[str]) -> bool:
    """Whether three or more items follow each other in a known sequence, in either direction."""
    if len(items) < 3:
        return False
    runs = (tuple(items), tuple(reversed(items)))
    return any(
        known[at : at + len(run)] == run
        for known in _KNOWN
        for run in runs
        if run[0] in known
        for at in (known.index(run[0]),)
    )
