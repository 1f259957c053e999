# ruff: noqa: E501, RUF001  (words of other languages)
r"""Words of other languages that a conclusion is known by, as alternatives for patterns: therefore, is, the statement.

Those of languages that write spaces are for whole words; ``..._INSIDE`` are for the others. ``_`` stands for a space.
"""

from __future__ import annotations

from .alternatives import alternatives

_THEREFORE = alternatives("""
    damit somit daher also folglich demnach insgesamt par_conséquent donc ainsi finalement au_total on_en_déduit_que
    d'où por_(?:lo_)?tanto así_que así entonces luego en_conclusión en_total en_consecuencia portanto logo assim então
    no_total por_isso em_conclusão in_conclusione in_totaal totaal in_tutto dengan_demikian quindi dunque pertanto
    perciò in_totale di_conseguenza dus daarom zatem więc dlatego stąd czyli razem alltså således därför altså derfor
    vậy(?:_nên)? do_đó vì_vậy vì_thế suy_ra jadi oleh_karena_itu maka sonuç_olarak buna_göre o_halde dolayısıyla yani
    tedy proto celkem tehát deci prin_urmare așadar siis joten kwa_hivyo kwa_hiyo hivyo таким_образом итак значит
    следовательно поэтому получается отже тому άρα επομένως إذن إذا لذلك وبالتالي بالتالي لذا ومنه إذًا לכן אם_כן अतः
    इसलिए इस_प्रकार সুতরাং অতএব তাই ดังนั้น เพราะฉะนั้น สรุป
    """)
_THEREFORE_INSIDE = alternatives("""
    所以 因此 因而 故 综上所述 综上 從而 从而 于是 於是 可得 可知 答[:：] よって したがって 従って ゆえに だから 以上より 따라서
    그러므로 그래서 결국 즉
    """)
THEREFORE = rf"(?:{_THEREFORE})(?!\w)|{_THEREFORE_INSIDE}"
THEREFORE_IN_ENGLISH = alternatives("also logo proto razem deci siis i_alt")
"""Words for "therefore" that are also English words or names."""
THEREFORE_BEHIND_THE_VERB = alternatives("""
    also somit damit folglich demnach donc ainsi por_(?:lo_)?tanto entonces portanto assim quindi dunque pertanto
    perciò dus daarom alltså således altså derfor därför więc zatem tedy teda tehát deci așadar siis значит итак
    следовательно таким_образом поэтому отже тому jadi dakle stoga
    """)
"""Those that may follow the first words of a sentence: "Er kommt also um halb acht an."."""
THEREFORE_BEFORE_THE_VALUE = alternatives(
    "also damit somit folglich dus donc bien ainsi entonces pues portanto quindi dunque więc zatem alltså altså"
)
SINCE = alternatives("""
    poiché siccome dato_che visto_che como puesto_que ya_que dado_que já_que visto_que da weil comme puisque
    étant_donné_que aangezien omdat ponieważ skoro так_как поскольку karena vì eftersom pentru_că protože
    """)
YES_OR_NO = alternatives("""
    sì sí sim ja oui si да tak ya có no nein non não нет nie nee nej tidak không da nu ano ne
    """)
IS = alternatives("""
    ist sind lautet lauten heißt sont son sono são est es è é is jest to är er este adalah là sarà será sera era était
    fue foi war was będzie будет blir wordt itakuwa ilikuwa είναι —_это это_был[ао]? это हैं? ni
    """)
IS_AT_END = alternatives("""
    となります になります となる になる です でした である だ 있습니다 입니다 이다 이에요 예요 됩니다 (?:이|가)_됩니다 [이가]_걸린다
    [이가]_걸립니다 がかかります がかかる かかります かかる में है हैं होगा होगी मिले था थी bulunur olur eder
    olarak_bulunur '?[dt][ıiuü]r olacaktır হয় হবে টি lang alt hoch breit groß long large haut weit
    """)
"""Verbs, copulas and adjectives that follow a value: 4時間です, 4 Meter lang."""
PER = alternatives("""
    mal_so keer_zo gånger_så ganger_så gange_så kali_lipat al_giorno alla_settimana al_mese all['’]anno all['’]ora
    à_l['’]heure por_(?:hora|día|dia|semana|mes|mês|año|ano|persona|pessoa) al_(?:día|mes|año)
    na_(?:godzinę|dzień|osobę) в_(?:час|день|неделю|месяц|год|минуту) im_(?:Monat|Jahr) i_timmen om_dagen günde saatte
    """)
"""Per hour, per day; times as much."""
STATEMENT = alternatives("""
    aussage behauptung affirmation proposition énoncé afirmación afirmação afirmativa proposición proposição enunciado
    affermazione proposizione enunciato stelling bewering uitspraak zdanie stwierdzenie påståendet påstanden
    утверждение высказывание твердження ifade önerme pernyataan mệnh_đề khẳng_định phát_biểu taarifa kauli tvrzení
    výrok állítás afirmația πρόταση الجملة العبارة القضية कथन উক্তি বক্তব্য ข้อความ ประพจน์ הטענה
    """)
STATEMENT_INSIDE = alternatives("命题 命題 说法 說法 结论 判断 陈述 論述 主張 記述 명제 진술 주장")
ARTICLE = alternatives("ein eine einen der die das un une uno una el la le il lo um uma o een het de en ett et")
