# ruff: noqa: RUF001  (apostrophes)
"""What a short sentence says: "White plays e4.", "The invoice was issued on 5 March 2024.", "John Smith won the race."

Only the whole of what the sentence says is read, and only if the sentence cannot mean anything else: nothing around
what it says denies, doubts, compares, counts or corrects it, or is a number itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grpo_env.lazy_regex import lazy_compile

from ..quantities.units import measure_at_start, read_unit
from ..spelling.normal import normal
from ..vocabulary.currencies import SIGNS
from ..vocabulary.doubts import CORRECTS, EARLIER, MONTH, NEARLY, RULES_OUT, TRIES, UNSURE

MAX_LENGTH = 160
MAX_LEAD = 12  # words before what is said
MAX_NAME = 4  # words that a date or code may have before its first digit


def _words(table: str) -> str:
    return "|".join(table.split())


_AGAINST_WORDS = _words(r"""
    doubt\w* disput\w* contradict\w* suspect\w* changed? moved? switch\w* corrected updat\w* renam\w* replac\w*
    convert\w* different (?<!years\s)(?<!year\s)(?<!months\s)old
    older later others? another rest unlike contrary opposite invalid myth trap
    suppos\w* assum\w* thinks? thought believe\w* seems? appears?(?!\sin\b) hopes? claims? claimed expect\w* estimat\w*
    likely unlikely unsure uncertain unclear closest bounds? limits? maximum minimum
    most least worst candidates? approximations? difference(?=\s(?:from|to|with)\b)
    reciprocal inverse negation complement half halves twice double
    triple thrice times minus negative plus more less fewer each every per apiece percent short missing extra
    additional also both too hmm+ though although yet only cancel\w* postpon\w* skip\w* fail\w* lack\w* refus\w* deny
    denies denied lost loses? forgot\w* stop\w* quit remov\w* reduc\w* increas\w* decreas\w* question example answers?
    runner-up
    """)
_AGAINST = lazy_compile(
    rf"{UNSURE.pattern}"
    rf"|\b(?:{_AGAINST_WORDS}|{CORRECTS}|{RULES_OUT}|{EARLIER}|{NEARLY}|used to|would (?:have|be)|should have|at first"
    r"|so far|before(?=$)|close to|left over|left out|one of)\b|[不没非或若设]|可能|如果",
    re.IGNORECASE,
)
TRUTHS = ("yes", "no", "true", "false")  # see ``hedging``
_BEFORE = lazy_compile(
    r"(?<!\bwas )(?<!\bwere )(?<!\bis )(?<!\bare )(?<!\bcomes )(?<!\bcame )(?<!leaves )(?<!departs )"
    r"(?<!starts )\bfrom\Z"
    r"|\b(?:before|after|until|till|since|between|over|under|above|below|beyond|around|within|past|near|besides"
    r"|off)\Z|(?<!ed )(?<!en )(?<!nt )by\Z",
    re.IGNORECASE,
)
_NUMBER = lazy_compile(
    r"\d|\b(?:zero|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million)\b", re.I
)
_ORDER = lazy_compile(r"\b(?:errors?|first|second|third|fourth|last|next)\b", re.IGNORECASE)
_VERBS = _words(r"""
    is are was were 's ’s costs? takes? took lasts? lasted weighs? weighed measures? measured contains? contained has
    have had holds? held plays? played uses? used needs? needed requires? required reads? shows? showed says? said
    displays? displayed receives? received gets? got earns? earned scores? scored won wins? sells? sold pays? paid
    spends? spent saves? saved makes? made totals? totall?ed equals? lives? lived stayed happen(?:s|ed)? occurs?
    occurred falls? fell goes went drove walked travel(?:s|led|ed)? covers? covered gives? gave returns? returned
    outputs? prints? printed
    yields? produces? produced raises? raised throws? threw worked visits? visited buys? bought eats? ate sees? saw
    wears? wore speaks? ordered chose picked recommends? called mentions? mentioned means? lies located named choose
    pick select play listens? specif(?:y|ies|ied) encodes? codes
    """)
_LINKS = _words("""
    exactly now therefore thus precisely just worth left called named located scheduled set due held
    available still currently place been at on in for with
    """)
_VERB = lazy_compile(
    r"(?:(?<=\s)|(?=['’]s ))(?:(?:should|must|can|may) be [a-z]{2,10}(?:ed|en)|[a-z]{4,12}s via|will be|must be"
    r"|should be|has to be|comes? to|came to|adds up to|amounts? to|amounted to"
    rf"|(?:works|comes|worked|came) out (?:to|at)|[a-z]{{3,12}}s at|stands for|belongs to|comes from|{_VERBS})"
    r"(?: (?:[a-z]{2,}(?:ed|en|wn|rn|lt|nt|ht) (?:by(?= [A-Z])|on|at|in|for|to|as|with)|known as|equal to|a total of"
    rf"|(?<=went )to|(?<=goes )to|(?:(?<=was )|(?<=were )|(?<=is )|(?<=are ))from|{_LINKS}))*:?\s"
)
_COMMAND = lazy_compile(
    r"(?:You (?:should|can|could|may|must) |Please )?(?:turn|bake|cook|heat|choose|pick|select|take|use|enter|type"
    r"|press|dial|call|visit|run|go(?: to)?|move|play|open|send|e-?mail|contact|preheat|set|store|keep)"
    r"(?: the [a-z]+(?= (?:at|to|for|on)\b))?(?: (?:at|to|with|on|for))? (?P<rest>\S.*)",
    re.IGNORECASE,
)
_CLEFT = lazy_compile(r"[Ii]t (?:is|was) (?P<rest>\S.{0,60}?) (?P<tail>(?:who|that|which) [a-z][a-z ]{2,60})")
_INVERTED = lazy_compile(
    r"(?P<rest>\S.{0,60}?) (?P<tail>(?:is|was|are|were)"
    r" (?:(?:the|my|his|her|our|your|their|its) [A-Za-z][A-Za-z' ]{2,60}|thrown"
    r"|raised|returned|used|shown|displayed|printed|chosen|selected|played|responsible|needed|required|necessary))"
)
_DONE = lazy_compile(
    r"(?P<rest>[A-Z].{0,60}?) (?P<tail>(?:won|wins|did|happened|wrote|invented|discovered|painted|scored|made|said)"
    r"(?: [A-Za-z]+){0,6})"
)
_FORMULA = lazy_compile(r"(?P<lead>[^$\d]*[^\W\d_][^$\d]*)\$(?P<rest>[^$]+)\$(?P<tail>[^$\d]*)")
# What is given, tried or done on the way.
_NO_RESULT = lazy_compile(
    rf"\b(?:{TRIES}|sets?|setting|defin\w*|denot\w*"
    r"|add(?:s|ed|ing)|subtract\w*|multipl\w*|divid\w*|dropp\w*|shar(?:es|ed|ing)|split\w*|differ(?:s|ed|ing))\b",
    re.I,
)
_COUNTED = lazy_compile(
    r"(?P<lead>[A-Z][^\d$]*? (?:[a-z]{2,}ed|it|them|in|with|a total of) (?:exactly )?)(?P<rest>\S+(?: [a-z]+){0,3})"
)
_ENDS = lazy_compile(r"\b[35]['\u2032\u2019]")  # of a strand
_IN_ORDER = lazy_compile(
    r"(?P<lead>\S.*\bin (?:the|this|that) (?:following )?(?:order|sequence):?) "
    r"(?P<rest>\S+(?: ?(?:,|->|\u2192|>) ?\S+){1,19})"
)
_FORMULAS = lazy_compile(
    r"(?P<lead>[^$\d]*[^\W\d_][^$\d]*)(?P<rest>\$[^$]+\$(?:(?:, and |, | and )\$[^$]+\$){1,5})(?P<tail>[^$\d]*)"
)
_EACH = lazy_compile(r"\A(?:Each|Every)(?: [a-z]+)?(?= )")  # gets $18
_EACH_AT_END = lazy_compile(r" (?:each|apiece|per person)\Z")
_PRONOUNS = ("It", "That", "This", "He", "She", "There", "Here", "What", "Who")
_IS = lazy_compile(r"\s(?:is|are|was|were)\s")
_DOES = lazy_compile(r"(?P<lead>It|(?:The|This) [a-z]+(?: [a-z]+)?) (?P<rest>[a-z]{4,}s)")
_OFTEN = lazy_compile(r"\S+ times", re.IGNORECASE)
_LEADS_TO = lazy_compile(
    rf"{_VERBS}|{_LINKS}|[a-z]+ed|to|as|leaves?|departs?|starts?|begins?|opens?|closes?|ends?|arrives?|runs?|from"
)
_TAIL = lazy_compile(
    r"(?: (?:to|in|on|at|for|of|with|by)|,? (?:as (?:stated|shown|written|given|listed|indicated)|according to"
    r"|based on))(?P<tail>(?: [A-Za-z][\w'’-]*){1,6})\Z"
)


def stated(gold: str, kind: str, text: str) -> Iterator[str]:
    """What a sentence may say is the answer: all that follows its verb, or that without its end."""
    text = " ".join(text.split()).rstrip(".!。 ")
    if len(text) > MAX_LENGTH or " " not in text or not text[:1].isalnum() or "?" in text or gold.lower() in TRUTHS:
        return
    if kind == "number" and text[0].isdigit() and not _IS.search(text):
        return  # "5 apples cost 10 dollars" names another number besides
    for lead, said, tail in _readings(gold, kind, text):
        around = _ENDS.sub("", f"{_EACH.sub('', lead, count=1)} {tail}")
        if is_against(around) or _NUMBER.search(around) or _BEFORE.search(lead.rstrip()):
            continue
        if kind == "number" and _ORDER.search(around):
            continue
        if kind == "number" and is_against(_EACH_AT_END.sub("", said)) and not _OFTEN.fullmatch(said):
            continue
        yield said
        if each := _EACH_AT_END.search(said):
            yield said[: each.start()]
        if (end := _TAIL.search(said)) and not _NUMBER.search(end["tail"]):
            yield said[: end.start()]


def is_against(text: str) -> bool:
    """Whether a word denies, doubts, compares or corrects."""
    return _AGAINST.search(MONTH.sub("", text)) is not None


def _readings(gold: str, kind: str, text: str) -> Iterator[tuple[str, str, str]]:
    """What a sentence may say, with what stands before and behind it."""
    if order := _IN_ORDER.fullmatch(text):
        yield order["lead"], order["rest"], ""
    if kind == "set" and (formulas := _FORMULAS.fullmatch(text)) and not _NO_RESULT.search(formulas["lead"]):
        yield formulas["lead"], ", ".join(re.findall(r"\$([^$]+)\$", formulas["rest"])), formulas["tail"]
    if "$" in text and kind in ("number", "formula", "set", "tuple"):
        if (formula := _FORMULA.fullmatch(text)) and not _NO_RESULT.search(formula["lead"]):
            tail = formula["tail"]
            unit = measure_at_start(normal(tail)) if kind in ("number", "formula") else None
            if unit and read_unit(f" {tail.strip()}", 0):  # dollars per share
                tail = ""
            yield formula["lead"], formula["rest"] + (rf"\text{{ {unit}}}" if unit else ""), tail
        if kind != "number":
            return
    counted = _COUNTED.fullmatch(text) if kind == "number" else None
    if counted and _NUMBER.match(counted["rest"].lstrip(SIGNS)) and not _NO_RESULT.search(counted["lead"]):
        yield counted["lead"], counted["rest"], ""
    patterns = (_CLEFT, _COMMAND, _INVERTED, _DONE) if kind == "words" else (_CLEFT, _COMMAND, _INVERTED)
    if kind == "words" and gold.islower() and (does := _DOES.fullmatch(text)):
        yield does["lead"], does["rest"], ""
    for pattern in patterns:
        if match := pattern.fullmatch(text):
            yield text[: match.start("rest")], match["rest"], match.groupdict().get("tail") or ""
    for verb in _VERB.finditer(text):
        subject = text[: verb.start()].split()
        is_owner = verb[0][:1] in "'\u2019" and subject and subject[-1][0].isupper() and subject[-1] not in _PRONOUNS
        if len(subject) <= MAX_LEAD and subject != ["There"] and not is_owner:  # "People's Republic"
            yield text[: verb.end()], text[verb.end() :], ""
    if (
        (kind in ("date", "time", "code") or ":" in gold)
        and re.search(r"\d", gold)
        and (first := re.search(r"\d", text))
    ):
        words = text.split(" ")
        at = text[: first.start()].count(" ")
        for start in range(at, max(1, at - MAX_NAME), -1):
            if _LEADS_TO.fullmatch(words[start - 1]):
                yield " ".join(words[:start]), " ".join(words[start:]), ""
