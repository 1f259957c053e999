# ruff: noqa: E501, RUF001, SIM905  (words of other languages)
"""Times of day in words of other languages: halb acht, las tres y cuarto, пів на третю, पौने चार बजे, 七点三刻."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from .numerals import in_figures, languages_of, numbers_below

MAX_LENGTH = 240

_HOURS_OF = {
    "M": range(1, 12), "N": range(10, 17), "A": range(12, 21), "E": range(15, 24), "X": range(18, 30),
}  # fmt: skip
"""The hours that the morning, noon, the afternoon, the evening and the night have; those from 24 on are of the next day."""


class SpokenClock(NamedTuple):
    """A time of day in English, and the text around it."""

    time: str
    rest: str


class _Language(NamedTuple):
    """How a language tells the time.

    ``forms`` are the minutes from the hour and how that is said: ``{h}`` is the hour to 12, ``{H}`` to 24, ``{m}`` are
    minutes, which are added (``+m``) or taken away (``-m``). Those with ``!`` need a part of the day beside them, those with ``?`` that or what stands ``at`` a time.
    ``parts`` are the words for parts of the day, ``at`` stands before a time, ``hours`` are the words from 1 to 12 if they
    are not those of ``numerals``, ``later`` how much later they are in our day.
    """

    forms: str
    parts: str
    at: str = ""
    hours: str = ""
    exact: str = ""
    later: int = 0


_ROMANCE_MINUTES = "(?: minutos| minuti)?"
_LANGUAGES = {
    "de": _Language(
        "-30+m {m}(?: minuten)? nach halb {h}; -30-m {m}(?: minuten)? vor halb {h}; -30 halb {h}; +15 viertel nach {h}; -15 viertel vor {h};"
        " -15 dreiviertel {h}; -45 viertel {h}; +m {m}(?: minuten)? nach {h}; -m {m}(?: minuten)? vor {h}; +m {H} uhr(?: und)? {m}(?: minuten)?; 0 {H} uhr; 0! {h}",
        "M morgens|am morgen|vormittags|am vormittag|in der früh|früh; N mittags|am mittag; A nachmittags|am nachmittag; E abends|am abend; X nachts|in der nacht",
        "um ", exact="genau|punkt",
    ),
    "nl": _Language(
        "-30+m {m}(?: minuten)? over half {h}; -30-m {m}(?: minuten)? voor half {h}; -30 half {h}; +15 kwart over {h}; -15 kwart voor {h};"
        " +m {m}(?: minuten)? over {h}; -m {m}(?: minuten)? voor {h}; 0 {H} uur precies; 0! {H}(?: uur)?",
        "M 's ochtends|'s morgens|in de ochtend|in de morgen; A 's middags|in de middag|namiddag; E 's avonds|in de avond; X 's nachts|in de nacht", "om ",
    ),
    "sv": _Language(
        "-30+m {m}(?: minuter)? över halv {h}; -30-m {m}(?: minuter)? i halv {h}; -30 halv {h}; +15 kvart över {h}; -15 kvart i {h}; +m {m}(?: minuter)? över {h};"
        " -m {m}(?: minuter)? i {h}; 0? {h}",
        "M på morgonen|på förmiddagen; A på eftermiddagen; E på kvällen; X på natten", "(?:klockan|kl[.]?|vid) ",
    ),
    "no": _Language(
        "-30+m {m}(?: minutter)? over halv {h}; -30-m {m}(?: minutter)? på halv {h}; -30 halv {h}; +15 kvart over {h}; -15 kvart på {h}; +m {m}(?: minutter)? over {h};"
        " -m {m}(?: minutter)? på {h}; 0? {h}",
        "M om morgenen|på morgenen|om formiddagen|på formiddagen; A om ettermiddagen|på ettermiddagen; E om kvelden|på kvelden; X om natten|på natten|om natta", "(?:klokken|klokka|kl[.]?) ",
    ),
    "da": _Language(
        "-30+m {m}(?: minutter)? over halv {h}; -30-m {m}(?: minutter)? i halv {h}; -30 halv {h}; +15 kvart(?:er)? over {h}; -15 kvart(?:er)? i {h}; +m {m}(?: minutter)? over {h};"
        " -m {m}(?: minutter)? i {h}; 0? {h}",
        "M om morgenen|om formiddagen; A om eftermiddagen; E om aftenen; X om natten", "(?:klokken|kl[.]?) ",
    ),
    "fr": _Language(
        "+15 {H} heures? et quart; -15 {H}(?: heures?)? moins (?:le |un )?quart; +30 {H} heures? et demie?; -m {H} heures? moins {m}(?: minutes)?;"
        " +m {L} heures {m}; +m? {H} heures?(?: et)? {m}(?: minutes)?; 0? {H} heures?",
        "M du matin|le matin; A de l'après-midi|l'après-midi; E du soir|le soir", "[àa] ", exact="précises?|pile",
    ),
    "es": _Language(
        "+15 {h} y cuarto; -15 {h} menos cuarto; -15 (?:un )?cuarto para las? {h}; +30 {h} y media; -30 media para las? {h}; +45? {h} y tres cuartos;"
        f" -m {{m}}{_ROMANCE_MINUTES} para las? {{h}}; -m {{h}} menos {{m}}{_ROMANCE_MINUTES}; +m las? {{H}}(?: y| con)? {{m}}{_ROMANCE_MINUTES}; 0 las? {{h}} en punto; +m! {{h}} (?:y|con) {{m}}; 0? {{H}}(?: horas?)?",
        "M de la mañana|de la madrugada|por la mañana; N del mediodía; A de la tarde|por la tarde; X de la noche|por la noche", "(?:a )?las? ", exact="en punto",
    ),
    "pt": _Language(
        "+15 {h} e (?:um )?quarto; -15 {h} menos (?:um )?quarto; -15 (?:um )?quarto para as? {h}; +30 {h} e meia; +30! {h} horas? e meia;"
        f" -m {{m}}{_ROMANCE_MINUTES} para as? {{h}}; -m {{h}} menos {{m}}{_ROMANCE_MINUTES}; +m [àa]s? {{H}}(?: horas?)? e {{m}}{_ROMANCE_MINUTES}; +m! {{h}} e {{m}}; 0? {{H}}(?: horas?)?",
        "M da manhã|da madrugada|de manhã; A da tarde|à tarde; X da noite|à noite", "(?:às?|pelas) ", exact="em ponto",
    ),
    "it": _Language(
        "+15 {h} e un quarto; -15 {h} meno (?:un )?quarto; -15 (?:un )?quarto all[ea'] ?{h}; +45? {h} e tre quarti; +30 {h} e mezz[ao]; -m {h} meno {m}(?: minuti)?;"
        " +m (?:alle|le|all'|ore|dalle) ?{H} e {m}(?: minuti)?; +m! {h} e {m}; 0 (?:alle|le) {H} in punto; 0? {H}",
        "M di mattina|del mattino|della mattina; A del pomeriggio|di pomeriggio; E di sera|della sera; X di notte|della notte", "(?:alle ore |alle |le |all')", exact="in punto",
    ),
    "ro": _Language(
        "+15? {h} și (?:un )?sfert; -15 {h} fără (?:un )?sfert; -15 fără (?:un )?sfert {h}; +30? {h} și jumătate; -m {h} fără {m}(?: minute)?; +m (?:la )?ora {H} și {m}(?: de)?(?: minute)?; 0! {H}",
        "M dimineața|dimineata; N la prânz; A după-amiaza|după-amiază; E seara; X noaptea", "(?:la ora|ora|la) ", exact="fix",
    ),
    "ru": _Language(
        "-30 (?:половин[аыуе]|пол)[ -]?{ordinal}; -45 четверть {ordinal}; -15 без (?:четверти|пятнадцати(?: минут)?) {h}; -m без {m}(?: минут[ыу]?)? {h}; -60+m {m} минут[ыа]? {ordinal}; +m! {h} час(?:а|ов)? {m} минут[ыа]?(?! назад); 0! {h}(?: час(?:а|ов)?)?",
        "M утра|утром; A дня; E вечера|вечером; X ночи", "(?:в|к) ",
        "час/один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать", exact="ровно",
    ),
    "uk": _Language(
        "-30 пів(?:на)? на {ordinal}; -45 чверть на {ordinal}; +15 чверть (?:по|після) {ordinal}; -15 за чверть(?: до)? (?:{h}|{other}); -15 без чверті {other}; -m за {m}(?: хвилин)?(?: до)? {other}; -60+m {m}(?: хвилин[иа]?)? на {ordinal};"
        " +m {m}(?: хвилин[иа]?)? (?:по|після) {ordinal}; +m? {other}(?: година| годині)? {m}(?: хвилин[иа]?)?; 0? {other}(?: година| годині)?",
        "M ранку|вранці; A дня|пополудні; E вечора|ввечері; X ночі", "(?:о|об|в|у) ", "перша друга третя четверта п'ята шоста сьома восьма дев'ята десята одинадцята дванадцята",
    ),
    "bg": _Language(
        "+30? {h} и половина; +15? {h} и четвърт; -15 {h} без четвърт; -m {h} без {m}(?: минути)?; 0! {h}(?: часа?)?",
        "M сутринта; N на обяд; A следобед; E вечерта; X през нощта", "в ", "един два три четири пет шест седем осем девет десет единадесет/единайсет дванадесет/дванайсет",
    ),
    "pl": _Language(
        "-30 wpół do {ordinal}; +15 (?:kwadrans|piętnaście)(?: minut)? po {ordinal}; -15 za (?:kwadrans|piętnaście) {other}; -m za {m}(?: minut[ya]?)? {other}; +m {m}(?: minut[ya]?)? po {ordinal}; +m? {other} {m}; 0? {other}",
        "M rano|nad ranem|przed południem; A po południu; E wieczorem; X w nocy", "(?:o godzinie|godzina|godzinę|o) ",
        "pierwsza druga trzecia czwarta piąta szósta siódma ósma dziewiąta dziesiąta jedenasta dwunasta",
    ),
    "cs": _Language(
        "-30 půl {ordinal}; -15 tři ?čtvrtě na {h}; -45 čtvrt na {h}; -m za {m}(?: minut[ya]?)? {h}; +m! {h} (?:hodin[ya]?|a) {m}(?: minut[ya]?)?; 0! {h}(?: hodin[ya]?)?",
        "M ráno|dopoledne|brzy ráno; N v poledne; A odpoledne; E večer; X v noci", "(?:v|ve|o) ", "jedna/jednu/jeden dvě/dva tři čtyři pět šest sedm osm devět deset jedenáct dvanáct",
    ),
    "sk": _Language(
        "-30 pol {ordinal}; -15 tri ?štvrte na {h}; -45 štvrť na {h}; -m o {m} minút {h}; 0! {h}(?: hodín| hodiny)?",
        "M ráno|doobeda|predpoludním; A popoludní|poobede; E večer; X v noci", "o ", "jedna/jednu dve tri štyri päť šesť sedem osem deväť desať jedenásť dvanásť",
    ),
    "hr": _Language(
        "-30 pola {h}; +30? {h} i pola?; -15 (?:četvrt|petnaest) do {h}; +15? {h} i (?:četvrt|petnaest); -m {m}(?: minuta)? do {h}; +m? {h}(?: sati?)? i {m}(?: minuta)?; 0! {h}(?: sat[ia]?)?",
        "M ujutro|prije podne|jutros; A popodne|poslije podne|poslijepodne; E navečer|uveče|uvečer; X noću", "(?:u|do) ", "jedan dva tri četiri pet šest sedam osam devet deset jedanaest dvanaest", exact="sati",
    ),
    "tr": _Language(
        "+15 {other} çeyrek (?:geçe|geçiyor|geçti); -15 {ordinal} çeyrek (?:kala|var); +m {other} {m}(?: dakika)? (?:geçe|geçiyor|geçti); -m {ordinal} {m}(?: dakika)? (?:kala|var); +30 {h} buçukta; +30? {h} buçuk(?:tur)?; 0! {h}(?:'?[dt][ae])?",
        "M sabah|sabahleyin; N öğlen|öğle; A öğleden sonra; E akşam|akşamüstü|akşamleyin; X gece|geceleyin", "(?:saat|saati) ",
    ),
    "hu": _Language(
        "-30 fél {h}; -15 háromnegyed {h}; -45 negyed {h}; -m {m} perc múlva {h}; +m {m} perccel múlt {h}; +m! {H} óra {m}(?: perc)?; 0! {H}(?: óra)?",
        "M reggel|délelőtt|hajnalban|hajnali; A délután|délutáni; E este|esti; X éjjel|éjszaka", "", exact="kor|re|ra|órakor|óra",
    ),
    "fi": _Language(
        "-30 puoli {h}; +15 varttia yli {h}; -15 varttia vaille {h}; +m {m} (?:minuuttia )?yli {h}; -m {m} (?:minuuttia )?vaille {h}; 0? {h}",
        "M aamulla|aamupäivällä; A iltapäivällä; E illalla; X yöllä", "(?:kello|klo) ",
    ),
    "el": _Language(
        "+30? {h} και μισή; +30? {other}; +15? {h} και (?:ένα )?τέταρτο; -15 {h} παρά (?:ένα )?τέταρτο; -m {h} παρά {m}(?: λεπτά)?; +m (?:στις|στη|ώρα) {h} και {m}(?: λεπτά)?; 0! {h}(?: η ώρα)?",
        "M το πρωί|π[.]μ; N το μεσημέρι; A το απόγευμα|μ[.]μ; E το βράδυ; X τη νύχτα", "(?:στις|στη|η ώρα) ", "μία/μια δύο/δυο τρεις τέσσερις πέντε έξι επτά/εφτά οκτώ/οχτώ εννέα/εννιά δέκα έντεκα δώδεκα",
    ),
    "id": _Language(
        "-30 setengah {h}; +30? {h} setengah; +30 {h} (?:lewat tiga puluh(?: menit)?); +15 {h} (?:lewat|lebih|liwat) (?:seperempat|suku); -15 {h} kurang (?:seperempat|suku); -m {h} kurang {m}(?: menit| minit)?;"
        " +m {h} (?:lewat|lebih) {m}(?: menit| minit)?; 0? {h}",
        "M pagi|subuh|dini hari|pagi hari; N siang|tengah hari|siang hari; A petang|sore|sore hari; X malam|malam hari", "(?:pukul|jam) ", exact="tepat",
    ),
    "vi": _Language(
        "+30 {H} giờ rưỡi; -m {H} giờ kém {m}(?: phút)?; +m? {H} giờ {m}(?: phút)?; 0 {H} giờ đúng; 0! {H} giờ(?: đúng)?",
        "M sáng|buổi sáng; N trưa|buổi trưa; A chiều|buổi chiều; E tối|buổi tối; X đêm|ban đêm", "(?:lúc|vào lúc) ",
    ),
    "sw": _Language(
        "+30! saa {h} na nusu; +15! saa {h} na robo; -15! saa {h} kasoro ?robo; -m! saa {h} kasoro (?:dakika )?{m}; +m! saa {h} na (?:dakika )?{m}; 0! saa {h}(?: kamili)?",
        "M asubuhi|alfajiri; N mchana; E alasiri|jioni; X usiku", "", "moja mbili tatu nne tano sita saba nane tisa kumi kumi-na-moja kumi-na-mbili", exact="kamili", later=6,
    ),
    "tl": _Language(
        "+30 ala[s]?[- ]{h} (?:y|i)?[ -]?(?:medya|media); 0! ala[s]?[- ]{h}",
        "M ng umaga; N ng tanghali; A ng hapon; X ng gabi", "", "una dos/dose tres kwatro/kuwatro singko sais siyete otso nuwebe diyes/dyis onse dose",
    ),
    "hi": _Language(
        "+30 साढ़े {h} ?बजे; -15 पौने {h} ?बजे; +15 सवा {h} ?बजे; +90 डेढ़ ?बजे; +150 ढाई ?बजे; -15 पौन ?बजे; +75 सवा ?बजे; +m {h} ?बजकर {m}(?: ?मिनट)?; -m {h} ?बजने में {m}(?: ?मिनट)?;"
        " +30 साडे ?{h} ?वाजता; -15 पावणे ?{h} ?वाजता; +15 सव्वा ?{h} ?वाजता; 0 {h} ?(?:बजे|वाजता)",
        "M सुबह|प्रातः|तड़के|सवेरे|सकाळी; N दोपहर|दुपारी; E शाम|सायं|संध्याकाळी; X रात|रात्री", "(?:ठीक|को|के) ",
    ),
    "bn": _Language(
        "+30 সাড়ে {h}টা(?:য়|র)?; -15 (?:পৌনে|পোনে) {h}টা(?:য়|র)?; +15 (?:সোয়া|সওয়া) {h}টা(?:য়|র)?; +90 দেড়টা(?:য়)?; +150 আড়াইটা(?:য়)?; +m {h}টা(?: বেজে)? {m}(?: ?মিনিট)?(?:ে)?; -m {h}টা বাজতে {m}(?: ?মিনিট)?(?: বাকি)?; 0 {h}টায়; 0! {h}টা",
        "M সকাল|সকালে|ভোর|ভোরে; N দুপুর|দুপুরে; A বিকাল|বিকেল|বিকেলে|বিকালে; E সন্ধ্যা|সন্ধ্যায়; X রাত|রাতে", "",
    ),
    "ar": _Language(
        "+30 {h} والنصف; +25 {h} والنصف إلا خمس(?: دقائق)?; +15 {h} (?:والربع|وربع); -15 {h} إلا (?:ربعا|ربع|الربع); +20 {h} (?:والثلث|وثلث); -20 {h} إلا (?:ثلثا|ثلث|الثلث); +m {h} و ?{m}(?: دقيقة| دقائق)?; -m {h} إلا {m}(?: دقيقة| دقائق)?; 0 الساعة {h}; 0! {h}",
        "M صباحا|صباح|فجرا; N ظهرا; A بعد الظهر|عصرا; E مساء; X ليلا", "(?:في )?(?:تمام )?(?:الساعة )",
        "الواحدة الثانية الثالثة الرابعة الخامسة السادسة السابعة الثامنة التاسعة العاشرة الحادية-عشرة/الحادية-عشر الثانية-عشرة/الثانية-عشر", exact="تماما",
    ),
    "fa": _Language(
        "+30? {h} و نیم; +15? {h} و ربع; -15 (?:یک )?ربع به {h}; -m {m} دقیقه به {h}; +m? {h} و {m} دقیقه; 0! {h}",
        "M صبح|بامداد; N ظهر; A بعد ?از ?ظهر|بعدازظهر|عصر; X شب", "(?:در )?(?:ساعت )",
    ),
    "ur": _Language(
        "+30 ساڑھے {h} بجے; -15 پونے {h} بجے; +15 سوا {h} بجے; +90 ڈیڑھ بجے; +150 ڈھائی بجے; +m {h} بج کر {m}(?: منٹ)?; -m {h} بجنے میں {m}(?: منٹ)?; 0 {h} بجے",
        "M صبح|صبح کے; N دوپہر|دوپہر کے; A سہ پہر; E شام|شام کے; X رات|رات کے", "",
    ),
    "he": _Language(
        "+30? {h} וחצי; +15? {h} ורבע; -15 רבע ל{h}; -m {m}(?: דקות)? ל{h}; +m (?:בשעה |ב){h} ו{m}(?: דקות)?; 0 בשעה {h}; 0! ב?{h}",
        "M בבוקר|לפנות בוקר; N בצהריים; A אחר הצהריים|אחרי הצהריים|אחה\"צ; E בערב; X בלילה", "(?:בשעה |ב)?",
        "אחת שתיים שלוש ארבע חמש שש שבע שמונה תשע עשר אחת-עשרה שתים-עשרה/שתיים-עשרה", exact="בדיוק",
    ),
}  # fmt: skip
_OTHER_FORMS = {  # of the hours from 1 to 12
    ("ru", "ordinal"): "первого второго третьего четвёртого/четвертого пятого шестого седьмого восьмого девятого десятого одиннадцатого двенадцатого",
    ("uk", "ordinal"): "першу/першої другу/другої третю/третьої четверту/четвертої п'яту/п'ятої шосту/шостої сьому/сьомої восьму/восьмої дев'яту/дев'ятої десяту/десятої одинадцяту/одинадцятої дванадцяту/дванадцятої",
    ("uk", "other"): "перша/першій/першої друга/другій/другої третя/третій/третьої четверта/четвертій/четвертої п'ята/п'ятій/п'ятої шоста/шостій/шостої сьома/сьомій/сьомої восьма/восьмій/восьмої дев'ята/дев'ятій/дев'ятої десята/десятій/десятої одинадцята/одинадцятій/одинадцятої дванадцята/дванадцятій/дванадцятої",
    ("pl", "ordinal"): "pierwszej drugiej trzeciej czwartej piątej szóstej siódmej ósmej dziewiątej dziesiątej jedenastej dwunastej",
    ("pl", "other"): "pierwsza/pierwszej druga/drugiej trzecia/trzeciej czwarta/czwartej piąta/piątej szósta/szóstej siódma/siódmej ósma/ósmej dziewiąta/dziewiątej dziesiąta/dziesiątej jedenasta/jedenastej dwunasta/dwunastej",
    ("cs", "ordinal"): "jedné/první druhé třetí čtvrté páté šesté sedmé osmé deváté desáté jedenácté dvanácté",
    ("sk", "ordinal"): "jednej druhej tretej štvrtej piatej šiestej siedmej ôsmej deviatej desiatej jedenástej dvanástej",
    ("el", "other"): "μιάμιση δυόμισι/δυόμιση τρεισήμισι/τρεισίμισι τεσσερισήμισι πεντέμισι εξίμισι εφτάμισι/επτάμισι οχτώμισι/οκτώμισι εννιάμισι δεκάμισι εντεκάμισι δωδεκάμισι",
    ("tr", "other"): "biri/1'i ikiyi/2'yi üçü/3'ü dördü/4'ü beşi/5'i altıyı/6'yı yediyi/7'yi sekizi/8'i dokuzu/9'u onu/10'u on-biri/11'i on-ikiyi/12'yi",
    ("tr", "ordinal"): "bire/1'e ikiye/2'ye üçe/3'e dörde/4'e beşe/5'e altıya/6'ya yediye/7'ye sekize/8'e dokuza/9'a ona/10'a on-bire/11'e on-ikiye/12'ye",
}  # fmt: skip
_MINUTES_OF = {  # by another case than the numbers have
    "ru": "пяти=5 десяти=10 пятнадцати=15 двадцати=20 двадцати-пяти=25",
    "fi": "viittä=5 kymmentä=10 kahtakymmentä=20",
    "fa": "پنج=5 ده=10 بیست=20",
    "uk": "п'яти=5 десяти=10 двадцяти=20 двадцяти-п'яти=25",
}
_NAMED = {  # noon and midnight, as all of the text
    **dict.fromkeys("midi|à midi|mediodía|al mediodía|meio-dia|ao meio-dia|mezzogiorno|a mezzogiorno|полдень|в полдень|正午|中午|정오|öğlen|nửa trưa".split("|"), "12 pm"),
    **dict.fromkeys("minuit|à minuit|medianoche|a medianoche|meia-noite|à meia-noite|mezzanotte|a mezzanotte|mitternacht|um mitternacht|полночь|в полночь|午夜|半夜|자정|gece yarısı|nửa đêm|tengah malam|เที่ยงคืน|منتصف الليل".split("|"), "12 am"),
    "เที่ยง": "12 pm", "เที่ยงวัน": "12 pm", "เที่ยงตรง": "12 pm",
}  # fmt: skip
_SLOT = lazy_compile(r"\{(\w+)\}")
_KEY = lazy_compile(r"[^\W\d_]{3,}(?=[^\W\d_]\?)|(?<![^\W\d_])[^\W\d_]{3,}(?![^\W\d_]|\?)")
_FORM = lazy_compile(r"(?P<offset>[+-]?\d+)?(?P<sign>[+-])?(?:m)?(?P<needs>[!?])? .*")
_PLAIN = lazy_compile(
    r"(?:\d+|over|i|e|y|a|o|na|do|la|las|le|para|menos|meno|half|[ :.])+"
)  # no time without other words
_DIGIT = lazy_compile(r"\d")
_EDGE = r"\w\u0900-\u0963\u0966-\u0dff"
_TANWIN = lazy_compile("[\u064b-\u0652]")
_SCRIPTS = (
    ("\u0e00-\u0e7f", ()), ("\u0600-\u06ff", ("ar", "fa", "ur")), ("\u0900-\u0963\u0966-\u097f", ("hi",)), ("\u0980-\u09ff", ("bn",)),
    ("\u0590-\u05ff", ("he",)), ("\u0370-\u03ff", ("el",)), ("\u0400-\u04ff", ("ru", "uk", "bg")),
)  # fmt: skip
_OTHERS = ("ru", "uk", "bg", "ar", "fa", "ur", "hi", "bn", "he", "el")
_LATIN = tuple(language for language in _LANGUAGES if language not in _OTHERS)
_SHORT = {
    "sv": (" i ", " på "),
    "no": (" på ",),
    "da": (" i ",),
    "pt": (" e ",),
    "it": (" e ",),
    "es": (" y ",),
    "pl": (" o ", "o "),
}
"""Short words that stand in times of these languages."""


def spoken_clock(text: str, whole: bool = False) -> SpokenClock | None:
    """The time of day that a text tells in words of another language, as its only number; ``whole`` if it is all of it."""
    if len(text) > MAX_LENGTH:
        return None
    text = _plain(text)
    if named := _NAMED.get(text.strip(" .。")):
        return SpokenClock(named, "")
    return _found(text, whole)


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFC", _TANWIN.sub("", text)) if not text.isascii() else text
    return text.replace("’", "'").replace("İ", "i").lower().strip()


@lru_cache(maxsize=256)
def _found(text: str, whole: bool) -> SpokenClock | None:
    if not text.isascii() and _UNSPACED.search(text):
        return _east_asian(text, whole)
    candidates = _candidates(text)
    sure = languages_of(text) if candidates else ()
    likely = tuple(language for language in candidates if language in sure)
    for languages in (likely, candidates):
        found = {clock for language in languages if (clock := _told(text, language, whole))}
        if found:  # the language that tells it with most of the words
            least = min(len(clock.rest.split()) for clock in found)
            best = [clock for clock in found if len(clock.rest.split()) == least]
            return best[0] if len({clock.time for clock in best}) == 1 else None
    return None


def _candidates(text: str) -> tuple[str, ...]:
    """The languages that a text may be in."""
    if not text.isascii():
        for letters, languages in _SCRIPTS:
            if re.search(f"[{letters}]", text):
                return languages
    return tuple(language for language in _LATIN if any(hint in text for hint in _hints(language)))


def _told(text: str, language: str, whole: bool) -> SpokenClock | None:
    """The time that a text tells in one language, once."""
    pattern = _pattern(language)
    for match in pattern.finditer(text):
        rest = f"{text[: match.start()]} {text[match.end() :]}"
        if whole and rest.strip(" .,!"):
            continue
        if _PLAIN.fullmatch(match[0]) and language not in languages_of(text):
            continue  # 6 over 5
        if _DIGIT.search(in_figures(rest, (language,)) or rest) or pattern.search(rest):
            continue
        groups = {name: value for name, value in match.groupdict().items() if value is not None}
        form = _FORM.fullmatch(_forms(language)[next(int(name[1:]) for name in groups if name[0] == "f")])
        assert form is not None
        near = {_part(language, groups[side]) for side in ("before", "behind") if side in groups}
        is_marked = "behind" in groups or ("before" in groups and ("at" in groups or not _LANGUAGES[language].at))
        if (form["needs"] == "!" and not is_marked) or (form["needs"] == "?" and not (is_marked or "at" in groups)):
            continue
        parts = near or {_part(language, word[0]) for word in _parts(language).finditer(rest)}
        if len(parts) > 1:
            continue
        minutes = int(form["offset"] or 0)
        if (said := next((groups[name] for name in groups if name[0] == "m"), None)) is not None:
            minutes += _minutes(language)[said] * (-1 if form["sign"] == "-" else 1)
        hour = next((_hours(language)[groups[name]] for name in groups if name[0] == "h"), 0)
        hour += _LANGUAGES[language].later
        if time := clock_time(hour, minutes, next(iter(parts), "")):
            return SpokenClock(time, _parts(language).sub(" ", rest))
    return None


def clock_time(hour: int, minutes: int, part: str = "") -> str | None:
    """``3:45 pm`` of the hour 4, -15 minutes and the afternoon; ``None`` if that part of the day has no such hour."""
    total = 60 * hour + minutes
    if not 0 <= total < 25 * 60 or abs(minutes) > 150:
        return None
    hours = {hour % 24 for hour in _HOURS_OF.get(part, ())}
    if total >= 13 * 60 and hour > 12:
        of_day = total // 60 % 24
        return f"{of_day}:{total % 60:02}" if not part or of_day in hours else None
    total %= 12 * 60
    if not part:
        return f"{total // 60 or 12}:{total % 60:02}"
    for of_day in (total, total + 12 * 60):
        if of_day // 60 in hours:
            return f"{of_day // 60 % 12 or 12}:{of_day % 60:02} {'am' if of_day < 12 * 60 else 'pm'}"
    return None


@lru_cache(maxsize=64)
def _hints(language: str) -> tuple[str, ...]:
    """Words of which a time in a language has one, which are cheap to look for."""
    words = _KEY.findall(
        f"{_SLOT.sub(' ', ' '.join(_forms(language)))} {' '.join(_part_words(language))} {_LANGUAGES[language].at}"
    )
    return (*_SHORT.get(language, ()), *dict.fromkeys(words))


@lru_cache(maxsize=64)
def _forms(language: str) -> tuple[str, ...]:
    return tuple(form.strip() for form in unicodedata.normalize("NFC", _LANGUAGES[language].forms).split(";"))


@lru_cache(maxsize=64)
def _hours(language: str) -> dict[str, int]:
    """The words for hours in all their forms."""
    hours = {str(hour): hour for hour in range(25)} | {
        word: value for word, value in numbers_below(language, 25).items() if value or word
    }
    lists = [_LANGUAGES[language].hours, *(words for (of, _), words in _OTHER_FORMS.items() if of == language)]
    for words in lists:
        for hour, forms in enumerate(words.split(), 1):
            hours.update((form.replace("-", " "), hour) for form in forms.split("/"))
    return hours


@lru_cache(maxsize=64)
def _minutes(language: str) -> dict[str, int]:
    """The words for minutes, in figures too."""
    others = dict(pair.replace("-", " ").split("=") for pair in _MINUTES_OF.get(language, "").split())
    figures = {f"{minute:0{width}}": minute for minute in range(60) for width in (1, 2)}
    return figures | numbers_below(language, 60) | {word: int(value) for word, value in others.items()}


@lru_cache(maxsize=64)
def _part_words(language: str) -> dict[str, str]:
    """The words for parts of the day, and which they are."""
    classes = (words.split(None, 1) for words in _LANGUAGES[language].parts.split(";"))
    return {word.strip(): name for name, words in classes for word in words.split("|")}


@lru_cache(maxsize=64)
def _parts(language: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![{_EDGE}])(?:{_one_of(_part_words(language))})(?![{_EDGE}])")


def _part(language: str, word: str) -> str:
    words = _part_words(language)
    return words.get(word) or next(words[pattern] for pattern in words if re.fullmatch(pattern, word))


def _one_of(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


@lru_cache(maxsize=64)
def _pattern(language: str) -> re.Pattern[str]:
    """All that a language says for times, with the number of the form in the name of its group."""
    spec = _LANGUAGES[language]
    words = numbers_below(language, 13)
    of_hours = {
        hour: value for hour, value in _hours(language).items() if hour.isdigit() or hour in numbers_below(language, 25)
    }
    special = {name: listed for (of, name), listed in _OTHER_FORMS.items() if of == language}
    own = _listed(spec.hours)
    to_12 = own or [word for word, value in words.items() if 0 < value < 13]
    digits = r"1[0-2]|[1-9]" if not _LANGUAGES[language].later else ""
    names = {
        "h": "|".join(filter(None, (_one_of(to_12), digits))),
        "H": _one_of([*of_hours, *own]),
        "L": _one_of(hour for hour, value in of_hours.items() if value > 12),
        "m": _one_of(_minutes(language)),
        **{name: _one_of(_listed(listed)) for name, listed in special.items()},
    }
    forms = []
    for number, form in enumerate(_forms(language)):
        _, _, template = form.partition(" ")
        forms.append(f"(?P<f{number}>{_filled(template, names, number)})")
    parts, exact = _one_of(_part_words(language)), spec.exact and rf"(?: ?(?:{spec.exact}))?"
    at = f"(?P<at>{spec.at})?" if spec.at else ""
    return re.compile(
        rf"(?<![{_EDGE}.,:])(?:(?P<before>{parts}),? )?{at}(?:{'|'.join(forms)}){exact}(?:,? (?P<behind>{parts}))?(?![{_EDGE}:%]|[.,]\d)"
    )


def _listed(words: str) -> list[str]:
    return [form.replace("-", " ") for forms in words.split() for form in forms.split("/")]


def _filled(template: str, names: dict[str, str], number: int) -> str:
    """A form with the words that it may have for its hour and its minutes."""
    count = iter(range(9))

    def fill(match: re.Match[str]) -> str:
        kind = "m" if match[1] == "m" else "h"
        return f"(?P<{kind}{number}_{next(count)}>{names[match[1]]})"

    return _SLOT.sub(fill, template)


# Chinese, Japanese, Korean and Thai write without spaces.
_SINO = r"[一二三四五六七八九十两兩〇零]{1,3}|\d{1,2}"
_SINO_DIGITS: dict[str, int] = dict(
    zip("一二三四五六七八九일이삼사오육칠팔구两兩", [*range(1, 10), *range(1, 10), 2, 2], strict=True)
)
_EAST_PARTS = {
    **dict.fromkeys("上午 早上 清晨 早晨 凌晨 清早 午前 朝 未明 明け方 오전 아침 새벽".split(), "M"),
    **dict.fromkeys("中午 昼 正午 낮".split(), "N"), **dict.fromkeys("下午 午後 오후".split(), "A"),
    **dict.fromkeys("傍晚 夕方 저녁".split(), "E"), **dict.fromkeys("晚上 夜里 夜晚 深夜 半夜 夜 밤".split(), "X"),
}  # fmt: skip
_KOREAN_HOURS = dict(zip("한 두 세 네 다섯 여섯 일곱 여덟 아홉 열 열한 열두".split(), range(1, 13), strict=True))
_CHINESE_TIME = lazy_compile(
    rf"(?P<part>{_one_of(_EAST_PARTS)})?的? ?(?:差(?P<to>一刻|(?:{_SINO})分钟?)(?:到)?)?(?P<hour>{_SINO})(?:[点點]|时(?!间))(?:(?P<half>半)|(?P<quarter>[一三])刻|过?(?P<minute>{_SINO})分?"
    rf"|差(?P<less>一刻|(?:{_SINO})分)|(?P<sharp>[钟鐘整正]))?(?![钟鐘\d一二三四五六七八九十])"
)
_JAPANESE_TIME = lazy_compile(
    rf"(?P<part>{_one_of(_EAST_PARTS)})?の? ?(?P<hour>{_SINO})時(?!間)(?:(?P<half>半)|(?P<minute>{_SINO})分(?P<before>前)?|(?P<sharp>ちょうど))?(?![間前過ごす頃])"
)
_KOREAN_TIME = lazy_compile(
    rf"(?P<part>{_one_of(_EAST_PARTS)})? ?(?P<hour>{_one_of(_KOREAN_HOURS)}|\d{{1,2}}) ?시(?!간)(?: ?(?P<half>반)| ?(?P<minute>[일이삼사오육칠팔구십]{{1,3}}|\d{{1,2}}) ?분(?P<before> ?전)?)?(?! ?(?:전|쯤|경|이후|부터|까지))"
)
_THAI_NUMBER = "หนึ่ง|สอง|สาม|สี่|ห้า|หก|เจ็ด|แปด|เก้า|สิบเอ็ด|สิบ|[1-9]|1[01]"
_THAI_TIME = lazy_compile(
    rf"(?:ตี ?(?P<dawn>{_THAI_NUMBER})|บ่าย ?(?:(?P<afternoon>{_THAI_NUMBER}) ?)?โมง(?:เย็น)?|(?P<evening>{_THAI_NUMBER}) ?โมงเย็น|(?P<morning>{_THAI_NUMBER}) ?โมงเช้า"
    rf"|(?P<night>{_THAI_NUMBER}) ?ทุ่ม|(?P<midnight>เที่ยงคืน)|(?P<noon>เที่ยง(?:วัน)?))(?: ?(?P<half>ครึ่ง)| ?(?P<minute>[\u0e00-\u0e7f]{{2,14}}?|\d{{1,2}}) ?นาที)?(?:ตรง)?"
)
_THAI_HOURS = {
    "dawn": (0, range(1, 6)), "afternoon": (12, range(1, 6)), "evening": (12, range(3, 7)), "morning": (0, range(6, 12)), "night": (18, range(1, 6)),
}  # fmt: skip
"""What is added to an hour, and the hours that there are."""
_UNSPACED = lazy_compile("[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_THAI = lazy_compile("[\u0e00-\u0e7f]")
_CHINESE_POINT = lazy_compile("[点點时]")


def _east_asian(text: str, whole: bool) -> SpokenClock | None:
    """The time in a text without spaces."""
    if _THAI.search(text):
        pattern, told = _THAI_TIME, _thai
    elif "시" in text:
        pattern, told = _KOREAN_TIME, _east
    else:
        pattern, told = (_CHINESE_TIME, _east) if _CHINESE_POINT.search(text) else (_JAPANESE_TIME, _east)
    matches = [match for match in pattern.finditer(text) if match.end() > match.start()]
    if len(matches) != 1 or (whole and (matches[0].start() or text[matches[0].end() :].strip(" .。"))):
        return None
    rest = f"{text[: matches[0].start()]} {text[matches[0].end() :]}"
    if _DIGIT.search(in_figures(rest) or rest):
        return None
    time = told(matches[0])
    return SpokenClock(time, rest) if time else None


def _east(match: re.Match[str]) -> str | None:
    """The time of a match in Chinese, Japanese or Korean, if it is more than an hour."""
    groups = match.groupdict()
    hour = _KOREAN_HOURS.get(match["hour"]) or _sino(match["hour"])
    if not any(groups.get(name) for name in ("part", "half", "quarter", "minute", "to", "less", "sharp")):
        return None
    minutes = 30 if groups.get("half") else 0
    if quarter := groups.get("quarter"):
        minutes = 15 if quarter == "一" else 45
    if minute := groups.get("minute"):
        minutes = _sino(minute) * (-1 if groups.get("before") else 1)
    if less := groups.get("to") or groups.get("less"):
        if minutes:
            return None
        minutes = -15 if "刻" in less else -_sino(less.rstrip("钟分"))
    return clock_time(hour, minutes, _EAST_PARTS.get(match["part"] or "", ""))


def _sino(text: str) -> int:
    """A number below 100 in figures or in Chinese or Korean words."""
    if text.isdecimal():
        return int(text)
    tens, ten, units = text.replace("십", "十").rpartition("十")
    return (10 * (_SINO_DIGITS.get(tens, 1) if ten else 0)) + _SINO_DIGITS.get(units.lstrip("零〇"), 0)


def _thai(match: re.Match[str]) -> str | None:
    """The time of a match in Thai, whose hours are counted four times a day."""
    said = numbers_below("th", 60)
    minute = match["minute"] or ""
    minutes = 30 if match["half"] else int(minute) if minute.isdecimal() else said.get(minute, 0)
    if minute and not minutes:
        return None
    if match["noon"] or match["midnight"]:
        return f"12:{minutes:02} {'pm' if match['noon'] else 'am'}"
    for name, (starts, known) in _THAI_HOURS.items():
        if word := match[name]:
            hour = int(word) if word.isdecimal() else said[word]
            return f"{starts + hour}:{minutes:02}{' am' if not starts else ''}" if hour in known else None
    return f"13:{minutes:02}"
