# ruff: noqa: RUF001  (letters of other alphabets)
"""Statements of an answer in languages other than English and Chinese: "La réponse est 19.", "Ответ: 19"."""

from __future__ import annotations

import re
from collections import deque

from grpo_env.lazy_regex import lazy_compile

from ..languages.translated import NO_SOLUTION, truth_in_english
from .extracted import MAX_ANSWERS, ExtractedAnswer, extracted
from .statements import statement

# How the words for "answer" start; their endings may follow: Svaret, Jawabannya.
ANSWER: dict[str, tuple[str, ...]] = {
    "Arabic, Persian, Urdu": (
        "فالجواب",
        "فالإجابة",
        "والجواب",
        "پاسخ",
        "الإجابة",
        "الاجابة",
        "الجواب",
        "إجابة",
        "جواب",
    ),
    "Bengali": ("উত্তর",),
    "Bulgarian, Serbian": ("отговор", "одговор"),
    "Catalan, Galician, Portuguese": ("resposta", "gabarito"),
    "Croatian, Serbian, Slovenian": ("odgovor",),
    "Czech, Slovak": ("odpověď", "odpoved", "odpoveď", "výsledek", "výsledok"),
    "Danish, Norwegian, Swedish": ("svar",),
    "Dutch": ("antwoord",),
    "Estonian, Finnish": ("vastus", "vastaus"),
    "Filipino": ("sagot",),
    "French": ("réponse", "reponse"),
    "German": ("antwort", "endergebnis"),
    "Greek": ("απάντηση",),
    "Hebrew": ("תשובה", "התשובה"),
    "Gujarati, Punjabi": ("જવાબ", "ਜਵਾਬ"),
    "Hindi, Marathi, Nepali": ("उत्तर",),
    "Hungarian": ("válasz",),
    "Indonesian, Malay": ("jawab",),
    "Italian": ("risposta",),
    "Polish": ("odpowied",),
    "Romanian": ("răspuns", "raspuns"),
    "Russian": ("ответ",),
    "Spanish": ("respuesta",),
    "Swahili": ("jibu",),
    "Tamil, Telugu, Kannada, Malayalam": ("பதில்", "விடை", "సమాధానం", "ఉత్తర", "ഉത്തരം"),
    "Thai": ("คำตอบ",),
    "Turkish": ("cevap", "yanıt"),
    "Ukrainian": ("відповід",),
    "Vietnamese": ("đáp án", "đáp số", "câu trả lời"),
}
ANSWER_WITH_PARTICLE: dict[str, tuple[str, ...]] = {
    "Japanese": ("答え", "解答", "回答", "正解"),
    "Korean": ("정답", "답"),
}
"""Languages in which the word for "is" follows the answer: 答えは18です。"""

_STEMS = [stem for stems in ANSWER.values() for stem in stems]
_HINTS_IN_ASCII = tuple(stem for stem in _STEMS if stem.isascii())
_PARTICLE_STEMS = [stem for stems in ANSWER_WITH_PARTICLE.values() for stem in stems]
_HINTS = ("chọn", "ตอบ", *(stem for stem in _STEMS if not stem.isascii()), *_PARTICLE_STEMS)

_ADJECTIVE = (
    r"(?:finales?|final|finala|finală|correctas?|correctes?|correct|corretta|correta|exacta?e?|esatta|juste|końcowa|ostateczna"
    r"|prawidłowa|poprawna|cuối cùng|đúng|akhir|yang (?:benar|tepat)|muktamad"
    r"|ה?סופית|ה?נכונה|la mwisho|sahihi|نهایی|صحیح|درست|النهائية|النهائي|الصحيحة)"
)
_IS = (
    r"(?:(?:est|es|és|è|é|ist|lautet|is|to|brzmi|jest|je|là|är|er|este|adalah|ialah|on|sont|son|sono|são|sind|zijn|είναι|هي|هو"
    r"|היא|הוא|ni|है|हैं|होगा|আহে|হল|হলো|হলঃ|হবে|হচ্ছে|ay|on|yra|ir|ye|است|ہے)(?![\w\u0900-\u0dff])|คือ)"
)
_NOT = (
    r"(?:n['’]est pas|no es|non è|não é|nao é|nu este|no és|nie jest|to nie|není|не|không phải(?: là)?|bukan(?:lah)?"
    r"|(?:ist|lautet) nicht|is niet|är inte|er ikke|ei ole)(?!\w)"
)
_MARKER = lazy_compile(
    rf"(?<!\w)(?:{'|'.join(_STEMS)})(?:[^\W\d_]|[\u0900-\u0963\u0971-\u0dff]){{0,6}}(?:\s{_ADJECTIVE}){{0,2}}"
    r"[*_ \t\xa0]{0,4}"
    rf"(?:(?P<no>{_NOT})|(?:{_IS}(?:\s?[:：])?|[:：=]|[—–](?=\s))[*_:\s]{{0,9}}(?=\S))"
    r"|(?<!\w)(?<!không )(?<!đừng )(?<!nên )(?<!phải )(?<!thể )"
    r"(?:chọn(?:\s(?:đáp án|phương án|câu|ý))?|đáp án|ตอบ|odp\.)\s(?=\**(?:[A-H](?![^\W_])|\$|[-\d]|ข้อ|ตัวเลือก))"
    r"|(?:cevap|yanıt)\s(?=\**[A-E]\**\s(?:şıkkı|seçeneği)(?:d[ıi]r)?[.!]?\**\s*(?:\n|\Z))"
    r"|jawaban(?:nya)?\s(?=\**\(?[A-E]\)?\**[.!]?\**\s*(?:\n|\Z))"
    r"|(?:\A|\n)[*_ \t]{0,4}ตอบ[*_:\s]{1,9}(?=\S)"
    rf"|(?:{'|'.join(_PARTICLE_STEMS)})(?:は、?|은|는|[*_ ]{{0,4}}[:：】])[*_:：\s]{{0,9}}(?=\S)",
    re.IGNORECASE,
)
# "Si la respuesta es 18, ..."
_ASSUMED = lazy_compile(
    r"(?<!\w)(?:si|se|wenn|falls|sofern|als|om|hvis|dersom|jeśli|jeżeli|gdyby|если|якщо|nếu|eğer|jika|kalau|dacă|pokud|ha|jos"
    r"|もし|만약)(?!\w)[^.!?\n,;:]{0,40}\Z",
    re.IGNORECASE,
)
_REASON = lazy_compile(
    r",?\s+(?:(?:а не|und nicht|et non(?: pas)?|y no|e não|en niet|a nie|och inte|og ikke)\s(?=[\d$])"
    r"|parce qu|car\b|puisqu|porque\b|pois\b|perché\b|poiché\b|weil\b|denn\b|da\b|omdat\b|want\b|eftersom\b"
    r"|fordi\b|ponieważ|bo\b|потому|так как|поскольку|vì\b|çünkü|karena\b|deoarece\b|protože|koska\b|mert\b|لأن|כי\b)",
    re.IGNORECASE,
)
_COPULA = lazy_compile(r"\s?(?:となります|になります|となる|でした|である|です|だ|입니다|이다|이에요|예요)\Z")
_OR = lazy_compile(
    r"(?<=[^\W_])[,.]?\s(?:oder|ou|oppure|eller|lub|albo|или|або|hoặc|veya|atau|vagy|nebo|sau|ή|o|of|または|또는)\s",
    re.I,
)
_WRONG = lazy_compile(
    r"(?<!\w)(?:falsch|nicht|faux|pas|falso|incorrect[oa]|incorrec?te|sbagliat[oa]|errad[oa]|fout|niet|fel|inte|ikke|fałszyw[ae]"
    r"|nie|неверно|неправильно|не|sai|không|yanlış|değil\w*|salah|bukan|ではない|ではありません)(?!\w)",
    re.IGNORECASE,
)


def in_other_languages(text: str) -> ExtractedAnswer | None:
    """What statements in the languages of the table name, if there are any."""
    if not is_hinted(text):
        return None
    answers, denied, end = [], False, 0
    for marker in deque(_MARKER.finditer(text), maxlen=MAX_ANSWERS):
        if _ASSUMED.search(text, max(0, marker.start() - 60), marker.start()):
            continue
        if marker["no"]:
            denied = True
            continue
        stated, at = statement(text, marker.end())
        if truth_in_english(stated) or NO_SOLUTION.fullmatch(stated.strip(" .")):
            answers.append(stated)
            end = at
            continue
        answer = _OR.sub(" or ", _COPULA.sub("", _REASON.split(stated, maxsplit=1)[0]))
        if not answer or _WRONG.search(answer):
            denied = True
        else:
            answers.append(answer)
            end = at
    if not answers:
        return ExtractedAnswer(("",), "a_line", denied=True) if denied else None
    return extracted(answers, "a_line", end=end)


def is_hinted(text: str) -> bool:
    """Whether a text has a word of the table, which is cheap to find out."""
    lower = text.lower()
    if "odp." in lower or any(stem in lower for stem in _HINTS_IN_ASCII):
        return True
    return not text.isascii() and any(stem in lower for stem in _HINTS)
