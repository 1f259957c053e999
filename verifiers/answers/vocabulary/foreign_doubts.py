# ruff: noqa: RUF001  (words of other languages)
r"""Words of other languages that deny, doubt, compare or count from what a text says, as alternatives for patterns.

Those of languages that write spaces are for whole words; ``..._INSIDE`` are for the others. ``_`` stands for a space.
"""

from __future__ import annotations

from .alternatives import alternatives

DENIES = alternatives(r"""
    cerca nicht kein\w* oder etwa ungefähr circa ca fast zwischen bis vielleicht statt pas ou environ entre
    peut-être no aproximadamente casi quizás? si não nem quase talvez non quasi tra fra forse niet geen of ongeveer
    tussen misschien nie lub około prawie między może inte eller ungefär ikke không hoặc khoảng gần bukan atau
    sekitar değil\w* veya yaklaşık belki nebo asi než vagy körülbelül ei tai noin au karibu не или около почти между
    або δεν ή περίπου ليس\w* لا أو حوالي לא או בערך नहीं या लगभग প্রায় না অথবা বা அல்ல இல்லை சுமார் அல்லது அதிகம்
    குறைவு கிட்டத்தட்ட కాదు లేదు లేదా సుమారు దాదాపు కంటే ఎక్కువ తక్కువ نیست نیستند نه حدود تقریبا تقریباً بیش بیشتر
    کمتر یا شاید آیا نہیں زیادہ کیا nije nisu više manje oko ili možda ako između barem повече може viac menej alebo
    okolo možno hindi halos mahigit higit kulang siguro wala नाही नाहीत सुमारे जवळपास जास्त किंवा करीब hai\w+i
    hawa\w+i hazi\w+i haku\w+ ha[uk]\w{2,}i אינה אינו איננו איננה weder ob wenn falls falsch außer ohne ne presque
    faux fausse sauf sans jamais tampoco falso falsa incorrect\w* sin salvo nunca acaso errad\w* sem senza mai ani
    albo bez czy ej kanske omkring mellem måske enn chưa hay nếu có_thể sai tidak hampir mungkin jika yok eğer
    yanlış mi mı mu mü not or about if není aproximativ sio siyo hapana ни нет либо примерно если может возможно
    неверно ли приблизно ليست لن لم تقريبا\w* إذا_كان ربما غير هل لو אם यदि शायद क्या নয় নেই যদি কি
    """)
"""Not, or, if, maybe, about."""
DENIES_INSIDE = alternatives("不 或 约 約 大约 左右 ない または 아니 또는 ไม่ หรือ ประมาณ")
COMPARES = alternatives(r"""
    supérieur\w* inférieur\w* superior\w* inferior\w* près vicin\w* kaum wohl über unter knapp rund gut doppelt\w*
    hälfte viertel kwart kvart kvarter quart cuarto quarto kwadrans çeyrek четверт[иь] moitié double mitad doble
    metà doppio dobro metade oltre sopra sotto acima abaixo encima ponad poniżej powyżej połowa över under over
    boven onder fler flera yli felett alatt peste sub над свыше выше ниже половин\w* вдвое trên dưới vượt đôi atas
    bawah üzeri altında üstünde \w{2,}m[ae]z חצי demie? medi[ao] mei[ao] mezz[ao] halb\w* half halv półtora rưỡi
    yarım noch mindestens höchstens mehr weniger kleiner größer als pro älter jünger nur_noch minus moins plus
    chaque par menos más mayor menor cada mais maior ogni né meno più maggiore minore meer minder mniej więcej niż
    mindre mer än mellan end hơn kém ít nhiều từ đến mỗi kurang lebih antara setiap fazla arasında her méně více
    mezi nu zaidi chini kati менее более меньше больше чем каждый каждая каждые каждую ще أقل أكثر بين פחות יותר कम
    ज्यादा अधिक बीच কম বেশি
    """)
"""More, less, above, half, twice, each."""
COMPARES_INSIDE = alternatives(r"""
    没 沒 非 未 至少 至多 最多 以上 以下 之间 多于 少于 大于 小于 超过
    如果 若 假设 可能 也许 吗 每 比 差 多余 除 錯 错 倍 半 [時时分秒]速 [시분초]속
    ません なく もしく あるい およそ たぶん かも より か。 でしょうか もし ごと 毎
    않 없 혹은 이거나 거나 약_ 정도 이상 이하 보다 사이 만약 아마 매_ 마다 틀
    มากกว่า น้อยกว่า ระหว่าง ถ้า อาจ ต่อ ละ(?=\s|\d)
    """)
BEFORE_OR_AFTER = alternatives(r"""
    avant après antes después depois prima dopo bis tot po vor nach seit ab jusqu\w* depuis dès desde hasta até fino
    voor na vanaf före efter før från fra przed od do před előtt után ennen jälkeen înainte după sau до после перед
    після sebelum setelah trước önce sonra kabla baada πριν μετά قبل بعد לפני אחרי पहले बाद আগে পরে через sesudah
    sejak từ পর తర్వాత ముందు பிறகு முன்
    """)
NEAR_A_TIME = alternatives(r"""
    kurz spätestens frühestens erst_ab vers bijna rond nästan cirka dalle etter till til kolem коло قبل_از بعد_از से
    থেকে پہلے
    """)
"""Shortly, at the latest, towards."""
NEAR_A_TIME_INSIDE = alternatives("之前 之后 以前 以后 前に 頃 ごろ 전에 이후 쯤 ก่อน หลัง")
EXCEPT_OR_EVERY = alternatives(r"""
    jede\w* elke iedere varje hver każd\w+ кажд\w+ кожн\w+ každ\w+ minden joka kila svak\w+ tous_les
    todos_(?:los|as|os) tutti excepto exceto eccetto tranne behalve utom unntatt undtagen oprócz кроме окрім kromě
    okrem osim hariç kecuali trừ isipokuwa kivéve paitsi εκτός باستثناء छोड़कर
    """)
WITHDRAWS_AT_START = alternatives(r"""
    nein moment halt stopp non attends attendez espera espere perdón não aspetta нет стоп подождите постойте nee wacht
    nej vänta vent chwila zaraz moment počkat hayır bekle khoan tunggu subiri hapana
    """)
"""No, wait: before a comma at the beginning of a sentence."""
WITHDRAWS = alternatives(r"""
    stimmt_(?:so_)?nicht ist_(?:aber_)?(?:falsch|nicht_richtig|nicht_korrekt) korrigiere korrektur korrigierte_antwort
    c'est_faux est_(?:fausse|incorrecte?) je_me_suis_trompée? correction es_incorrect[oa] está_mal me_equivoqué
    corrección está_errad[oa] correção è_sbagliat[oa] è_errat[oa] correzione mi_sono_sbagliat[oa] это_неверно
    это_неправильно это_ошибка я_ошиб\w* исправл\w* to_błąd pomyłka poprawka klopt_niet is_fout yanlış düzeltme sai_rồi
    không_đúng đính_chính salah koreksi خطأ تصحيح عفوا गलत सुधार ভুল
    """)
"""That what was said before is wrong."""
WITHDRAWS_INSIDE = alternatives(
    "不对 不對 错了 錯了 更正 等等 有误 間違 誤り 訂正 いや、 いいえ、 아니, 아니요, 틀렸 잘못 정정 ผิด แก้ไข"
)
