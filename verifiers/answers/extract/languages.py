"""How other languages mark an answer, deny it and take it back: those of MGSM's prompts and two neighbors.

The words for answer are those of MGSM's prompts (openai/simple-evals, mgsm_eval.py).
"""

from __future__ import annotations

from typing import NamedTuple


class _Language(NamedTuple):
    answer: str
    verbs: str
    denies: str
    changes: str
    """What doubts or changes a number: about, almost, more than, if, half, million."""
    takes_back: str


_GERMAN = _Language(
    "antwort", "ist lautet", "nicht kein keine",
    "etwa ungefähr fast kaum mehr weniger kleiner größer als wenn pro halb falsch wohl millionen tausend",
    "moment warte nein",
)  # fmt: skip
_SPANISH = _Language(
    "respuesta", "es son", "no",
    "casi cerca unos aproximadamente más menos si media mayor menor millones mil", "espera no",
)  # fmt: skip
_FRENCH = _Language(
    "réponse", "est", "non pas",
    "environ presque plus moins supérieur supérieure inférieur inférieure si demi demie millions mille",
    "attends attendez non",
)  # fmt: skip
_PORTUGUESE = _Language(
    "resposta", "é são", "não", "quase cerca mais menos se meia maior menor milhões mil", "espera não"
)
_ITALIAN = _Language(
    "risposta", "è sono", "non", "circa quasi più meno se mezzo mezza minore maggiore milioni mila", "aspetta no"
)
_RUSSIAN = _Language(
    "ответ", "—", "не нет неверно",
    "примерно около почти больше меньше более менее если полтора тысяч тысячи миллион миллиона миллионов",
    "подождите стоп нет",
)  # fmt: skip
_SWAHILI = _Language("jibu", "ni", "si", "karibu zaidi chini kama nusu", "hapana subiri")
_ALL = (_GERMAN, _SPANISH, _FRENCH, _PORTUGUESE, _ITALIAN, _RUSSIAN, _SWAHILI)


def _either(words: list[str]) -> str:
    return "|".join(word for line in words for word in line.split())


ANSWER = _either([language.answer for language in _ALL]) + "|答案|答え|정답|উত্তর|คำตอบ|సమాధానం"
IS = _either([language.verbs for language in _ALL])
NOT = _either([language.denies for language in _ALL])
CHANGES = _either([language.changes for language in _ALL])
TAKES_BACK = _either([language.takes_back for language in _ALL])
WITHOUT_SPACES = (
    "不|没|若|如果|大约|约|左右|多于|少于|以上|以下|未满|超过|接近|几乎|半|割|ない|ません|ではあり|およそ|ほど|未満|超|もし"
    "|아니|아닙|보다|될 수 없|약|이상|이하|미만|초과|নয়|প্রায়|বেশি|কম|ไม่|ประมาณ|มากกว่า|น้อยกว่า|เกือบ"
    "|కాదు|సుమారు|ఎక్కువ|తక్కువ|नहीं|लगभग|अधिक|कम|ليس|حوالي|أكثر|أقل|؟"
)
"""The words that deny, doubt or change a number where no spaces separate them, or in another script."""
