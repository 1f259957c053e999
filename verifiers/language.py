"""The language of the reasoning, piece by piece, without formulas and code."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from grpo_env.core import Case, Completion, Example, Format, Score, Verifier
from grpo_env.errors import UsageError, install, nearest
from grpo_env.lazy_regex import lazy_compile
from grpo_env.registry import verifier

from .blocks import passage
from .segments import spans
from .words import MARKS, normalized, words

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

ENOUGH = 40  # letters: 96 % of English pieces of 20 to 30 letters are recognized, 99.8 % of those with 40 and more
LONG = 200  # words after which an unending sentence is split
MOST = 1000  # pieces that are classified in a longer text

# The most common languages of the web. With all hundred, lists of names are taken for Latin and Breton.
_WEB = (
    "ar bg bn cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv ms nl no pl pt ro ru sk sl sr sv ta th tr uk "
    "ur vi zh"
)
_COMMON = frozenset(_WEB.split())
# Languages that cannot be told apart by a sentence count as one.
_SAME = ({"bs", "hr", "sr"}, {"no", "nn"}, {"id", "ms"})

# The languages of these scripts; any other language may be in every other script.
_WRITTEN_IN = {
    "CJK": frozenset(("zh", "ja")),
    "HANGUL": frozenset(("ko",)),
    "CYRILLIC": frozenset(("ba", "be", "bg", "kk", "ky", "mk", "mn", "ru", "sr", "tg", "tt", "uk", "uz")),
    "ARABIC": frozenset(("ar", "fa", "ku", "ps", "ug", "ur")),
    "DEVANAGARI": frozenset(("hi", "mr", "ne", "sa")),
    "BENGALI": frozenset(("as", "bn")),
    "GREEK": frozenset(("el",)),
    "HEBREW": frozenset(("he",)),
    "THAI": frozenset(("th",)),
    "TAMIL": frozenset(("ta",)),
}
_NOT_LATIN = frozenset.union(*_WRITTEN_IN.values()) - {"sr", "ku", "kk", "uz"}
_CHINESE_OR_JAPANESE = ("CJK", "HIRAGANA", "KATAKANA", "IDEOGRAPHIC", "HALFWIDTH", "KATAKANA-HIRAGANA")

_CODE = lazy_compile(r"```[^`]*+```|`[^`\n]*+`|https?://\S++")
_FORMULA = lazy_compile(
    r"\$\$[^$]*+\$\$|\$[^$\n]*+\$|\\\((?:[^\\]|\\(?![()]))*+\\\)|\\\[(?:[^\\]|\\(?![\[\]]))*+\\\]|<<[^<>\n]*+>>"
)
_COMMAND = lazy_compile(r"\\(?:begin|end)\{[^{}\n]{0,30}\}|\\[A-Za-z]++")
# This many words in a row are prose anywhere: "$5 for the apples and $7" is no formula, and text cannot hide in one.
_WORD = rf"[^\W\d_][\w{MARKS}]++"
_PROSE_IN_FORMULA, _PROSE_IN_CODE = (
    lazy_compile(rf"(?<![\w{MARKS}]){_WORD}(?:[ ,;:.'-][ ]?{_WORD}){{{more},}}+|[\u3041-\u30ff\u3400-\u9fff]{{4,}}+")
    for more in (2, 4)
)


@verifier("language_consistency")
@dataclass(frozen=True)
class LanguageConsistency(Verifier):
    """The fraction of words that are in the target ``language``, from 0 to 1.

    Numbers, single letters, formulas, code and URLs are ignored, except for three words in a row in a formula and five
    in code. py3langid assigns one of 41 common languages or the target to each sentence (1,000 evenly spaced ones of
    more). A few words of another language in the same script go unnoticed, and short pieces count as the target
    language if the script fits. A text with fewer than 40 letters (14 Chinese ones) is unscored (``not_applicable``);
    one without a reasoning block scores 0 (``no_answer``).

    Source: DeepSeek-R1 (2025), section 2.3.2, which adds the proportion to the accuracy reward.
    """

    format: Format = field(default_factory=Format)
    language: str = "en"
    """The ISO 639-1 code of the language: en, zh, de, ..."""
    where: Literal["reasoning", "all"] = "reasoning"
    """The text to use: the ``reasoning`` block (all of it, if the format names none), or ``all``."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<think>First we count the eggs that are left, then we sell them.</think>", 1.0, "English"),
        Case(
            "<think>Zuerst zählen wir die Eier, $x = 16 - 7$, und verkaufen sie.</think>",
            1.0,
            "German",
            options={"language": "de"},
        ),
        Case(
            "<think>我们先数一数还剩多少个鸡蛋。So we sell all the eggs for two dollars each.</think>",
            10 / 23,
            "13 Chinese characters and 10 English words",
        ),
        Case(
            "<think>我们先数一数还剩多少个鸡蛋，然后把它们卖掉。</think>",  # noqa: RUF001
            1.0,
            "Chinese",
            options={"language": "zh"},
        ),
        Case("<think>Zuerst zählen wir die Eier und verkaufen sie dann.</think>", 0.0, "another language"),
        Case("<think>$x = 16 - 7$</think>", None, "no words"),
        Case("First we count the eggs that are left, then we sell them.", 0.0, "no reasoning block"),
    )

    def __post_init__(self) -> None:
        known = [code for code in _identifier().labels if len(code) == 2]
        if self.language not in known:
            raise UsageError(
                f"language_consistency: unknown language {self.language!r}; {nearest(self.language, known)}"
            )

    def __call__(self, example: Example, completion: Completion) -> Score:
        text = passage(self.where, self.format, completion)
        if text is None:
            return Score(0.0, "no_answer", explanation="no reasoning block")
        pieces = _pieces(_prose(normalized("NFC", text)))
        if sum(piece.letters for piece in pieces) < ENOUGH:
            return Score(None, "not_applicable", explanation="too few words to identify the language")
        pieces = pieces[:: -(-len(pieces) // MOST)]
        known = _COMMON | {self.language}
        present = frozenset({self.language, *(_name(piece, known) for piece in _joined(pieces))})
        counts: Counter[str] = Counter()
        for piece in pieces:
            counts[_name(piece, present)] += len(piece.words)
        accepted = next((same for same in _SAME if self.language in same), {self.language})
        fraction = sum(counts[code] for code in accepted) / counts.total()
        most_common = ", ".join(f"{code} {count}" for code, count in counts.most_common(4))
        return Score(fraction, explanation=f"{fraction:.0%} {self.language}; words by language: {most_common}")


class _Piece(NamedTuple):
    script: str
    words: list[str]

    @property
    def letters(self) -> int:
        """The number of letters and of spaces between words; a Chinese character counts as three."""
        return sum(len(word) + 1 if word.isascii() or len(word) > 1 else 3 for word in self.words)


def _prose(text: str) -> str:
    """The text without code, formulas and commands."""
    text = _CODE.sub(lambda match: _prose_in(_PROSE_IN_CODE, match.group()), text)
    text = _FORMULA.sub(lambda match: _prose_in(_PROSE_IN_FORMULA, _COMMAND.sub("", match.group())), text)
    return _COMMAND.sub(" ", text)


def _prose_in(prose: re.Pattern[str], text: str) -> str:
    return f" {' '.join(prose.findall(text))} "


def _pieces(text: str) -> list[_Piece]:
    """The words of each sentence, by script."""
    pieces = []
    for start, end in spans(text, 0, len(text), "sentence"):
        by_script: dict[str, list[str]] = {}
        for word in words(text[start:end]):
            script = _script(word[0])
            if script and (len(word) > 1 or not word.isascii()):
                by_script.setdefault(script, []).append(word)
        for script, script_words in by_script.items():
            starts = range(0, len(script_words), LONG)
            pieces += [_Piece(script, script_words[first : first + LONG]) for first in starts]
    return pieces


def _joined(pieces: list[_Piece]) -> list[_Piece]:
    """Pieces of one script joined until they are long enough to classify; a rest that is too short is dropped."""
    joined: list[_Piece] = []
    waiting: dict[str, _Piece] = {}
    for script, piece_words in pieces:
        piece = waiting.setdefault(script, _Piece(script, []))
        piece.words.extend(piece_words)
        if piece.letters >= ENOUGH:
            joined.append(waiting.pop(script))
    return joined


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    """The script in a letter's Unicode name, the same for Chinese and Japanese; empty for a digit."""
    name = unicodedata.name(letter, "").split(" ")[0] if letter.isalpha() else ""
    return "CJK" if name in _CHINESE_OR_JAPANESE else name


def _name(piece: _Piece, languages: frozenset[str]) -> str:
    """The language of a piece, out of ``languages``; the name of its script if none of them uses it."""
    possible = languages & _WRITTEN_IN.get(piece.script, languages - _NOT_LATIN)
    if len(possible) < 2:
        return next(iter(possible), piece.script)
    return str(_narrowed(possible).classify(" ".join(piece.words))[0])


@lru_cache(maxsize=64)
def _narrowed(languages: frozenset[str]) -> LanguageIdentifier:
    identifier = copy(_identifier())
    identifier.set_languages(languages)
    return identifier


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    """py3langid with its bundled model."""
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError as error:
        raise UsageError(f"language_consistency needs py3langid: {install('language')}") from error
    return LanguageIdentifier.from_model_file(MODEL_FILE)
