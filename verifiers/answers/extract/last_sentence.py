"""What a longer last sentence says, by the kind of the gold answer; its source is ``last_line``.

For a number: what its calculation ends with, a number that it states, or the result before it. For a list the numbers
that it lists, and for a text or a date what it names. The further readings in ``rules`` take these apart.
"""

from __future__ import annotations

import re
from itertools import pairwise

from grpo_env.lazy_regex import lazy_compile

from ..hedges import CORRECTS, DENIES, DOUBTS, LEAVES_OPEN, NEARLY, UNSURE, WRONG
from ..math.normal import normal
from ..quantities.currencies import SIGNS
from ..quantities.number_words import SMALL, in_digits
from ..quantities.units import measure_at_start
from .result import ExtractedAnswer, extracted

_CONCLUDES = lazy_compile(
    r"(?:so|thus|therefore|hence|then|altogether|in total|in all|overall|finally|in conclusion|(?:this|that) means)\b"
    r"[^\n]*\d",
    re.IGNORECASE,
)
# "The median is 2.", "There are 3 dots in each group.", "Ann needs $23.", up to the number (TabMWP, MathVista)
_SUBJECT = lazy_compile(r"[A-Z][^$]*\$?\Z")
_GIVES = lazy_compile(
    r"(?:(?<! it) (?:is|are|was|were|equals|has|have|had|made|sold|got|took|takes|\w{3,12}ed)"
    r" (?:a total of |in |for )?(?:-\s?)?\$?|\$)\Z"
)
# A line that only tries or recalls something: "Let x = 3", "Initially x = 3."
TRIES = lazy_compile(
    r"(?:let|suppos\w*|assum\w*|consider|try|test|check|substitut\w*|plug\w*|take|for|if|when|since|because|after|start\w*|initially|given"
    r"|many|one might|this contradicts)\b|\d+[.)]\s+[A-Za-z]",
    re.IGNORECASE,
)
LONGEST_SENTENCE = 400
# What stands behind the last sign of a calculation, with the words up to the end of the sentence.
_RESULT = lazy_compile(
    rf"\d[^=]*(?:[-+*/\u00d7\u00f7\u2013]|(?<=\d)\s?x\s?\d)[^=]*=\s*\$?\s*"
    rf"(?P<number>(?:-\s?)?(?:\\?[{SIGNS}]\s?)?\d[\d,]*(?:\.\d+)?(?:/\d+)?(?:\s?\\?%)?)"
    r"(?!\s?[-+*/^=(\d\\])(?P<rest>(?:(?!\.\s+[A-Z]|,\s(?:and|but|which)\b)[^\d=<>])*)\Z"
)
_OPERATOR = lazy_compile(r"[-+*/\u00d7\u00f7\u2013]|\bx\b")
_ARGUMENT = lazy_compile(r"\b(?:of|than|to|times|twice|double|over|below)\W*\Z")  # the square root of 9 + 16 = 25
_GOES_ON = lazy_compile(r"\d[^\w,]*(?:minus|plus|divided|times|squared)\b|,\D|\band\b")  # = 50 plus the tip
_UNKNOWN = lazy_compile(
    r"\d[xyzn]\b|(?<![\w'])[b-z] [-+*/] |\d [-+*/] [A-Za-z]+ [-+*/=]|[-+*/] [A-Za-z]+ [-+*/] \d"
)  # 4 * side + 20 = 60
DOUBTFUL = lazy_compile(
    rf"\b(?:{DOUBTS}|{WRONG}|{CORRECTS}|not|never|cannot|ago|let|suppose|assume)\b|n['\u2019]t\b|[?]", re.IGNORECASE
)
_NUMBER = lazy_compile(
    r"(?<![\w.,/^])\$?(?P<number>(?:-\s?)?(?:\d{1,3}(?:,\d{3}){1,3}|\d{1,12})(?:\.\d{1,12})?)(?![\w/^]|[.,]\d|-\w)"
)
_OPEN = lazy_compile(
    rf"\b(?:{DENIES}|{LEAVES_OPEN}|could|may|{NEARLY}|between(?= \W{{0,2}}\d)|at least|at most|up to"
    r"|(?:more|less|fewer) than|minus|negative|plus|sum|product|half|root)\b"
    r"|(?<![\w'\u2019/(])(?-i:[b-z])\b|[=\u2248~<>]",
    re.IGNORECASE,
)
_LISTED = lazy_compile(r"\A[^;:]*\band\b|\A[\w ]{0,40},\s*\Z", re.IGNORECASE)  # 12 nickels and 18 dimes; 12, 18
# "The ratio for 2015 is 1.73.", "The club was founded in 1908."; not "Last year it was 9."
_SAID = lazy_compile(r"(?:(?:approximately|about) (?=\$?\d[\d,]*\.\d))?(?P<said>\$?-?\d[\d.,]*%?(?: [a-z]+){0,4})\.?")
_PRONOUN = lazy_compile(r"\b(?:it|he|she|they|this|that)\s*\Z", re.IGNORECASE)
_APART = lazy_compile(r"[,;:]|\b(?:and|while|whereas)\b", re.IGNORECASE)
_DIGITS = lazy_compile(r"\d(?:[\d.,]*\d)?")
_UNLIKE_PERCENT = lazy_compile(
    r"\d(?:[\d.,]*\d)?(?![\d.,]*(?:\d|\s?%))"
)  # a 20% solution is only described by its number
_PART_OF = lazy_compile(r"\b(?:out of|of the)\s\Z")
_STEP = lazy_compile(r"(?!Total|Answer|Result|Sum)[A-Z][a-z]+(?: [a-z]+){0,2}: ")  # "Income: 50 * 3 = 150."
_NUMBER_WORD = lazy_compile(rf"\b(?:{'|'.join(word for word in SMALL if word != 'one')})\b")
_DIGIT = lazy_compile(r"\d")
_SENTENCES = lazy_compile(r"(?<=[.!?])(?<!\b[DM][rs]\.)(?<!\bMrs\.)(?<!\b[A-Z]\.)\s+(?=[A-Z])")
# "... is Bath.", "... was written by Jane Austen.", "... is located in Ohio.", "... is called a goad.": up to the name
_SAYS = lazy_compile(
    r"\b(?:(?:is|are|was|were)(?: (?:(?!\w+ly )\w+ )?(?:by|in|at|on|from))?|called|named|known as|titled):?\s+",
    re.IGNORECASE,
)
# "He is Dutch.", "Ben says it is Boston.", "Unlike Lyon it is Paris."; "The winner is Lyon and the loser is Paris."
_REPORTS = lazy_compile(
    r"\A(?:He|She|It|They|We|You|I)\b"
    r"|\b(?:think\w*|thought|believ\w*|says?|said|claim\w*|suppos\w*|assum\w*|according|unlike|instead|rather)\b",
    re.IGNORECASE,
)
_CLAUSES = lazy_compile(r"\b(?:and|while|whereas)\b|[;:]", re.IGNORECASE)
_ARTICLE = lazy_compile(r"\A(?:the|an?)\s", re.IGNORECASE)
_LONGEST_NAME = 4  # words
# "So Ezhou has a larger population.", "Bath is the city that was built as a spa."
_TOPIC = lazy_compile(
    r"(?:(?:so|thus|therefore|hence),?\s(?P<concluded>[^\n]{1,80}?)\s(?:is|are|was|were|has|have|had|came)"
    r"|(?P<defined>[^\n]{1,80}?)\s(?:is|are|was|were) the)\b(?![^\n]*\bby\b)",
    re.IGNORECASE,
)
# "Domhnall Gleeson plays General Hux.", "The Confederate Army won this battle."
_ACTS = lazy_compile(
    r"(?:The\s)?(?P<name>[A-Z][\w.'-]*(?:\s[A-Z][\w.'-]*){0,4})\s"
    r"(?:[a-z]{2,}(?:s|ed)|won|wrote|sang|had|became|took|led|is|was|are|were)\s(?!that\b|whether\b)(?![^\n]*(?:\bby\b|;))"
)
_ASIDE = lazy_compile(  # The Full Monty (1997), 灭霸(Thanos) (ACG-SimpleQA)
    r"(['\"*]?[A-Za-z][^()\n]{1,40}?)\s*\((?![^()]*[A-Z][a-z]{2})[^()\n]{1,80}\)\.?"
    r"|([\u4e00-\u9fff]{1,20})[(\uff08][^()\uff08\uff09\u4e00-\u9fff\n]{1,60}[)\uff09]"
)


def number_at_end(text: str) -> ExtractedAnswer | None:
    """The number that a last line ends its calculation with, or a last sentence that concludes.

    "In total she bought 4+12+60=76 cakes.": no other number stands behind it, and nothing doubts it. Next is the number
    that a sentence says. Of another conclusion, "So there are 30 rooms left.", the rule ``one number`` finds out
    whether it has only one; it reads a text of one sentence as well: "Ito received the prize in 1985." (SimpleQA)
    """
    line, sentence = line_and_sentence(text)
    if (result := calculated(line)) and (sentence == line or not _STEP.match(sentence)):
        return extracted([result], "last_line")
    if said := said_number(sentence) or _repeated(text, sentence):
        return extracted([said], "last_line")
    if concludes(with_digits := _with_digits(sentence)):
        return extracted([with_digits], "last_line")
    is_all = sentence == text.strip() and sentence[:1].isupper() and {"$", "="}.isdisjoint(sentence)
    is_statement = is_all and len(_DIGITS.findall(sentence)) == 1 and named(sentence)
    return extracted([sentence], "phrase") if is_statement else None


def calculated(text: str) -> str | None:
    """The result, with its unit, of a calculation that ends a text: "She bought 4+12+60=76 cakes." """
    result = _RESULT.search(text) if "=" in text else None
    if result is None or DOUBTFUL.search(text) or _UNKNOWN.search(text):
        return None
    return f"{result['number']} {measure_at_start(normal(result['rest'])) or ''}"


def stated_calculation(text: str) -> str | None:
    """The result, with its unit, where the numbers of a text are one calculation: ``48 hours / 1.5 = 32 recipes``."""
    calculation, _, behind = text.rpartition("=")
    before, *between = _DIGITS.split(calculation)
    goes_on = _ARGUMENT.search(before) or _GOES_ON.search(behind)
    return calculated(text) if not goes_on and all(map(_OPERATOR.search, between[:-1])) else None


def _with_digits(sentence: str) -> str:
    """A sentence without digits, with the number in words that it states in digits: "There are 6 seasons." """
    word = None if _DIGIT.search(sentence) else _NUMBER_WORD.search(sentence)
    if word is None or not _GIVES.search(sentence[max(0, word.start() - 30) : word.start()]):
        return sentence
    return sentence[: word.start()] + (in_digits(sentence[word.start() :]) or sentence[word.start() :])


def _repeated(text: str, sentence: str) -> str | None:
    """The result right before a conclusion that repeats it beside other numbers, all of which the text has already.

    "t = 2", "So they are 250 miles apart after 2 hours."
    """
    before = text.rstrip().removesuffix(sentence)
    _, equals, after = before.rpartition("=")
    result = _NUMBER.match(after.lstrip(" $")) if equals else None
    if result is None or result["number"] not in sentence:
        return None
    numbers, are_listed = _several_numbers(sentence)
    for at, match in enumerate(numbers):
        if match["number"] == result["number"] and not _PART_OF.search(sentence[: match.start()]):
            is_listed = any(are_listed[max(0, at - 1) : at + 1])
            is_new = not set(_UNLIKE_PERCENT.findall(sentence)) <= set(_DIGITS.findall(before))
            unit = measure_at_start(normal(sentence[match.end() :]))
            return None if is_listed or is_new else f"{match['number']} {unit or ''}"
    return None


def _several_numbers(sentence: str) -> tuple[list[re.Match[str]], list[bool]]:
    """The numbers of a plain sentence with several, and for each pair of neighbors whether they are listed."""
    numbers = list(_NUMBER.finditer(sentence))
    if len(numbers) < 2 or TRIES.match(sentence) or DOUBTFUL.search(sentence) or _OPEN.search(sentence):
        return [], []
    return numbers, [bool(_LISTED.search(sentence[a.end() : b.start()])) for a, b in pairwise(numbers)]


def said_number(sentence: str) -> str | None:
    """The number at the end of a sentence that says it: another one may only describe its subject, "for 2015"."""
    said = list(_SAYS.finditer(sentence))
    number = _SAID.fullmatch(sentence, said[0].end()) if len(said) == 1 else None
    if number is None or _PRONOUN.search(sentence[: said[0].start()]) or named(sentence) is None:
        return None
    words = _DIGITS.split(sentence)[1:-1]
    is_new = bool(words) or not concludes(sentence)  # else the rule ``one number`` decides
    is_same = len(set(_DIGITS.findall(sentence))) == 1  # "5 occurs most often, so the mode is 5."
    return number["said"] if is_new and (is_same or not any(map(_APART.search, words[-1:]))) else None


def numbers_at_end(text: str) -> ExtractedAnswer | None:
    """A last sentence that concludes with a list of numbers: see the rule ``listed``."""
    _, sentence = line_and_sentence(text)
    return extracted([sentence], "last_line") if _CONCLUDES.match(sentence) and listed_numbers(sentence) else None


def listed_numbers(sentence: str) -> list[str]:
    """The numbers of a plain sentence that lists them: "So she has 12 nickels and 18 dimes." """
    numbers, are_listed = _several_numbers(sentence)
    return [match["number"] for match in numbers] if numbers and all(are_listed) else []


def line_and_sentence(text: str) -> tuple[str, str]:
    """The last line, at most ``LONGEST_SENTENCE`` characters of it, and the last sentence in that."""
    line = text.rstrip()[-LONGEST_SENTENCE:].rpartition("\n")[2].strip().replace("\u2212", "-")
    return line, _SENTENCES.split(line)[-1]


def name_at_end(text: str) -> ExtractedAnswer | None:
    """A last sentence that names something: "The city that was built as a spa is Bath." See the rule ``named``."""
    _, sentence = line_and_sentence(text)
    return extracted([sentence], "last_line") if named(sentence) else None


def named(sentence: str) -> str | None:
    """What a plain sentence says that its subject is; or its subject, if the rest of it only describes that.

    It is one of the two, whatever the gold answer is, so that "Lyon is the Boston." does not name both.
    """
    if UNSURE.search(sentence) or _REPORTS.search(sentence):
        return None
    if aside := _ASIDE.fullmatch(sentence):
        return aside[1] or aside[2]
    said, topic = list(_SAYS.finditer(sentence)), _TOPIC.match(sentence)
    if said and _CLAUSES.search(sentence, said[0].end(), said[-1].start()):
        return None
    subject = topic["concluded"] or topic["defined"] if topic else None
    rest = sentence[said[-1].end() :] if said else None
    if topic is None and (acts := _ACTS.match(sentence)) and (not rest or (rest[0].islower() and _describes(rest, ""))):
        return acts["name"]
    return subject if subject and (rest is None or _describes(rest, subject)) else rest


def _describes(rest: str, subject: str) -> bool:
    """Whether the rest of a sentence is no name: it is long, or in lower case, as a name for its subject is not."""
    is_name = _ARTICLE.sub("", subject)[:1].isupper()
    return len(rest.split()) > _LONGEST_NAME or (is_name and rest.islower())


def concludes(sentence: str) -> bool:
    """Whether a sentence begins like a conclusion and has a number, or states one: "So there are 30 empty rooms." """
    if _CONCLUDES.match(sentence):
        return True
    number = _DIGIT.search(sentence) if sentence.endswith(".") else None
    if number is None or not {"$", "="}.isdisjoint(sentence[number.start() :]):
        return False
    before = sentence[: number.start()]
    return bool(_GIVES.search(before[-30:]) and _SUBJECT.match(before)) and not _REPORTS.search(before)
