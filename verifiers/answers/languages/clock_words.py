# ruff: noqa: E501, RUF001, SIM905  (words of other languages)
"""How other languages tell the time: their patterns, and their words for parts of the day."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

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
LANGUAGES = {
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
OTHER_FORMS = {  # of the hours from 1 to 12
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
MINUTES_OF = {  # by another case than the numbers have
    "ru": "пяти=5 десяти=10 пятнадцати=15 двадцати=20 двадцати-пяти=25",
    "fi": "viittä=5 kymmentä=10 kahtakymmentä=20",
    "fa": "پنج=5 ده=10 بیست=20",
    "uk": "п'яти=5 десяти=10 двадцяти=20 двадцяти-п'яти=25",
}
NAMED = {  # noon and midnight, as all of the text
    **dict.fromkeys("midi|à midi|mediodía|al mediodía|meio-dia|ao meio-dia|mezzogiorno|a mezzogiorno|полдень|в полдень|正午|中午|정오|öğlen|nửa trưa".split("|"), "12 pm"),
    **dict.fromkeys("minuit|à minuit|medianoche|a medianoche|meia-noite|à meia-noite|mezzanotte|a mezzanotte|mitternacht|um mitternacht|полночь|в полночь|午夜|半夜|자정|gece yarısı|nửa đêm|tengah malam|เที่ยงคืน|منتصف الليل".split("|"), "12 am"),
    "เที่ยง": "12 pm", "เที่ยงวัน": "12 pm", "เที่ยงตรง": "12 pm",
}  # fmt: skip


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


def one_of(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))
