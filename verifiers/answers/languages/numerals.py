# ruff: noqa: E501, RUF001, SIM905  (words of other languages)
"""Numbers in words of other languages: ``quince``, ``siebenundzwanzig``, ``on sekiz``, 千二百, ``sette ottavi``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from ..vocabulary.foreign_words import AND, UNITS

MAX_LENGTH = 240
_MAX_WORDS = 7


class _Language(NamedTuple):
    """How a language counts.

    ``small`` are the words from 1 to 19 and ``tens`` those from 20 to 90, ``/`` between forms of one. ``joined`` are
    tens with units, ``hundreds`` the words from 100 to 900, ``rest`` what joins them with the rest. ``one`` are forms of
    1 that are no article, ``half`` "and a half", ``parts`` what a number is divided by, from 2 to 10.
    """

    small: str
    tens: str = ""
    joined: str = "{ten} {unit}"
    hundreds: str = ""
    rest: tuple[str, ...] = (" ",)
    thousand: str = ""
    parts: str = ""
    half: str = ""


_LANGUAGES = {
    "de": _Language(
        "ein/eins/eine/einen/einem/einer zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn",
        "zwanzig dreißig/dreissig vierzig fünfzig sechzig siebzig achtzig neunzig", "{unit}und{ten}",
        "hundert/einhundert zweihundert dreihundert vierhundert fünfhundert sechshundert siebenhundert achthundert neunhundert",
        ("", "und"), "tausend", "halb/halbes/halbe/halben drittel/dritteln viertel/vierteln fünftel/fünfteln sechstel siebtel achtel/achteln neuntel zehntel/zehnteln",
    ),
    "nl": _Language(
        "een/één twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien",
        "twintig dertig veertig vijftig zestig zeventig tachtig negentig", "{unit}en{ten}",
        "honderd tweehonderd driehonderd vierhonderd vijfhonderd zeshonderd zevenhonderd achthonderd negenhonderd",
        ("",), "duizend", "half/halve derde kwart/vierde vijfde zesde zevende achtste negende tiende", "en een half/en een halve",
    ),
    "sv": _Language(
        "en/ett två tre fyra fem sex sju åtta nio tio elva tolv tretton fjorton femton sexton sjutton arton nitton",
        "tjugo trettio fyrtio femtio sextio sjuttio åttio nittio", "{ten}{unit}",
        "hundra/etthundra tvåhundra trehundra fyrahundra femhundra sexhundra sjuhundra åttahundra niohundra",
        ("",), "tusen", "halv/halvt tredjedel/tredjedelar fjärdedel/fjärdedelar femtedel/femtedelar sjättedel/sjättedelar sjundedel/sjundedelar åttondel/åttondelar niondel/niondelar tiondel/tiondelar",
        "och en halv/och ett halvt",
    ),
    "no": _Language(
        "en/ett to tre fire fem seks sju/syv åtte ni ti elleve tolv tretten fjorten femten seksten sytten atten nitten",
        "tjue tretti førti femti seksti sytti åtti nitti", "{ten}{unit}", "hundre/etthundre tohundre trehundre firehundre femhundre sekshundre sjuhundre/syvhundre åttehundre nihundre",
        ("", " og "), "tusen", "halv tredjedel/tredjedeler fjerdedel/fjerdedeler/kvart femtedel/femtedeler sjettedel/sjettedeler sjudel/sjudeler åttedel/åttedeler nidel/nideler tidel/tideler", "og en halv/og et halvt",
    ),
    "da": _Language(
        "en/et to tre fire fem seks syv otte ni ti elleve tolv tretten fjorten femten seksten sytten atten nitten",
        "tyve tredive fyrre halvtreds tres halvfjerds firs halvfems", "{unit}og{ten}", "hundrede/ethundrede tohundrede trehundrede firehundrede femhundrede sekshundrede syvhundrede ottehundrede nihundrede",
        (" og ",), "tusind", "halv tredjedel/tredjedele fjerdedel/fjerdedele/kvart femtedel/femtedele sjettedel/sjettedele syvendedel/syvendedele ottendedel/ottendedele niendedel/niendedele tiendedel/tiendedele", "og en halv/og et halvt",
    ),
    "fr": _Language(
        "un/une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf",
        "vingt trente quarante cinquante soixante", "{ten}-{unit}",
        "cent deux-cent/deux-cents trois-cent/trois-cents quatre-cent/quatre-cents cinq-cent/cinq-cents six-cent/six-cents sept-cent/sept-cents huit-cent/huit-cents neuf-cent/neuf-cents",
        ("-",), "mille", "demi/demie tiers quart/quarts cinquième/cinquièmes sixième/sixièmes septième/septièmes huitième/huitièmes neuvième/neuvièmes dixième/dixièmes",
        "et demi/et demie",
    ),
    "es": _Language(
        "un/uno/una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve",
        "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa", "{ten} y {unit}",
        "cien/ciento doscientos/doscientas trescientos/trescientas cuatrocientos/cuatrocientas quinientos/quinientas seiscientos/seiscientas setecientos/setecientas ochocientos/ochocientas novecientos/novecientas",
        (" ",), "mil", "medio/media/medios tercio/tercios cuarto/cuartos quinto/quintos sexto/sextos séptimo/séptimos octavo/octavos noveno/novenos décimo/décimos",
        "y medio/y media",
    ),
    "pt": _Language(
        "um/uma dois/duas três quatro cinco seis sete oito nove dez onze doze treze catorze/quatorze quinze dezesseis/dezasseis dezessete/dezassete dezoito dezenove/dezanove",
        "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa", "{ten} e {unit}",
        "cem/cento duzentos/duzentas trezentos/trezentas quatrocentos/quatrocentas quinhentos/quinhentas seiscentos/seiscentas setecentos/setecentas oitocentos/oitocentas novecentos/novecentas",
        (" e ",), "mil", "meio/meia/meios terço/terços quarto/quartos quinto/quintos sexto/sextos sétimo/sétimos oitavo/oitavos nono/nonos décimo/décimos",
        "e meio/e meia",
    ),
    "it": _Language(
        "un/uno/una due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove",
        "venti trenta quaranta cinquanta sessanta settanta ottanta novanta", "{ten}{unit}",
        "cento duecento trecento quattrocento cinquecento seicento settecento ottocento novecento", ("",), "mille/mila",
        "mezzo/mezza/mezzi terzo/terzi quarto/quarti quinto/quinti sesto/sesti settimo/settimi ottavo/ottavi nono/noni decimo/decimi",
        "e mezzo/e mezza",
    ),
    "ro": _Language(
        "un/o/unu/una doi/două trei patru cinci șase șapte opt nouă zece unsprezece doisprezece/douăsprezece treisprezece paisprezece cincisprezece șaisprezece șaptesprezece optsprezece nouăsprezece",
        "douăzeci treizeci patruzeci cincizeci șaizeci șaptezeci optzeci nouăzeci", "{ten} și {unit}", "o-sută două-sute trei-sute patru-sute cinci-sute șase-sute șapte-sute opt-sute nouă-sute",
        (" ",), "mie/mii", "jumătate treime/treimi sfert/pătrime/pătrimi cincime/cincimi", "și jumătate",
    ),
    "pl": _Language(
        "jeden/jedna/jedną dwa/dwie/dwóch/dwoje trzy/trzech cztery/czterech pięć/pięciu sześć/sześciu siedem/siedmiu osiem/ośmiu dziewięć/dziewięciu dziesięć/dziesięciu jedenaście/jedenastu dwanaście/dwunastu trzynaście/trzynastu czternaście/czternastu piętnaście/piętnastu szesnaście/szesnastu siedemnaście/siedemnastu osiemnaście/osiemnastu dziewiętnaście/dziewiętnastu",
        "dwadzieścia/dwudziestu trzydzieści/trzydziestu czterdzieści/czterdziestu pięćdziesiąt sześćdziesiąt siedemdziesiąt osiemdziesiąt dziewięćdziesiąt",
        "{ten} {unit}", "sto dwieście trzysta czterysta pięćset sześćset siedemset osiemset dziewięćset", (" ",), "tysiąc/tysiące/tysięcy",
        "druga/drugich trzecia/trzecie/trzecich czwarta/czwarte/czwartych piąta/piąte/piątych szósta/szóste/szóstych siódma/siódme/siódmych ósma/ósme/ósmych dziewiąta/dziewiąte dziesiąta/dziesiąte/dziesiątych",
        "i pół",
    ),
    "cs": _Language(
        "jeden/jedna/jedno/jednu dva/dvě tři čtyři pět šest sedm osm devět deset jedenáct dvanáct třináct čtrnáct patnáct šestnáct sedmnáct osmnáct devatenáct",
        "dvacet třicet čtyřicet padesát šedesát sedmdesát osmdesát devadesát", "{ten} {unit}", "sto dvě-stě tři-sta čtyři-sta pět-set šest-set sedm-set osm-set devět-set",
        (" ",), "tisíc/tisíce", "polovina/poloviny třetina/třetiny čtvrtina/čtvrtiny pětina/pětiny šestina/šestiny sedmina/sedminy osmina/osminy devítina/devítiny desetina/desetiny", "a půl",
    ),
    "ru": _Language(
        "один/одна/одну/одному/одной два/две/двух/двум три/трёх/трех/трём/трем четыре/четырёх/четырех/четырём/четырем пять/пяти шесть/шести семь/семи восемь/восьми девять/девяти десять/десяти одиннадцать/одиннадцати двенадцать/двенадцати тринадцать/тринадцати четырнадцать/четырнадцати пятнадцать/пятнадцати шестнадцать/шестнадцати семнадцать/семнадцати восемнадцать/восемнадцати девятнадцать/девятнадцати",
        "двадцать/двадцати тридцать/тридцати сорок/сорока пятьдесят/пятидесяти шестьдесят/шестидесяти семьдесят/семидесяти восемьдесят/восьмидесяти девяносто/девяноста",
        "{ten} {unit}", "сто/ста двести триста четыреста пятьсот шестьсот семьсот восемьсот девятьсот", (" ",), "тысяча/тысячи/тысяч",
        "вторая/вторых/второй треть/трети/третья/третьей/третям четверть/четверти/четвертям/четвёртая/четвёртых пятая/пятых/пятой шестая/шестых/шестой седьмая/седьмых/седьмой восьмая/восьмых/восьмой девятая/девятых/девятой десятая/десятых/десятой",
        "с половиной",
    ),
    "uk": _Language(
        "один/одна/одну два/дві/двом три/трьом чотири/чотирьом п'ять/п’ять/п'яти шість/шести сім/семи вісім/восьми дев'ять/дев’ять десять/десяти одинадцять дванадцять тринадцять чотирнадцять п'ятнадцять/п’ятнадцять шістнадцять сімнадцять вісімнадцять дев'ятнадцять/дев’ятнадцять",
        "двадцять тридцять сорок п'ятдесят/п’ятдесят шістдесят сімдесят вісімдесят дев'яносто/дев’яносто", "{ten} {unit}", "сто двісті триста чотириста п'ятсот шістсот сімсот вісімсот дев'ятсот",
        (" ",), "тисяча/тисячі/тисяч",
        "друга/других третина/третини/третя/третіх чверть/чверті/четверта/четвертих п'ята/п'ятих шоста/шостих сьома/сьомих восьма/восьмих дев'ята/дев'ятих десята/десятих", "з половиною",
    ),
    "tr": _Language(
        "bir iki üç dört beş altı yedi sekiz dokuz on on-bir on-iki on-üç on-dört on-beş on-altı on-yedi on-sekiz on-dokuz",
        "yirmi otuz kırk elli altmış yetmiş seksen doksan", "{ten} {unit}", "yüz iki-yüz üç-yüz dört-yüz beş-yüz altı-yüz yedi-yüz sekiz-yüz dokuz-yüz", (" ",), "bin",
        half="buçuk",
    ),
    "id": _Language(
        "satu dua tiga empat lima enam tujuh delapan sembilan sepuluh sebelas dua-belas tiga-belas empat-belas lima-belas enam-belas tujuh-belas delapan-belas sembilan-belas",
        "dua-puluh tiga-puluh empat-puluh lima-puluh enam-puluh tujuh-puluh delapan-puluh sembilan-puluh", "{ten} {unit}",
        "seratus dua-ratus tiga-ratus empat-ratus lima-ratus enam-ratus tujuh-ratus delapan-ratus sembilan-ratus", (" ",), "ribu/seribu",
        "perdua/setengah pertiga/sepertiga perempat/seperempat perlima/seperlima perenam/seperenam pertujuh perdelapan/seperdelapan persembilan persepuluh/sepersepuluh", "setengah",
    ),
    "vi": _Language(
        "một hai ba bốn năm sáu bảy tám chín mười mười-một mười-hai mười-ba mười-bốn mười-lăm mười-sáu mười-bảy mười-tám mười-chín",
        "hai-mươi ba-mươi bốn-mươi năm-mươi sáu-mươi bảy-mươi tám-mươi chín-mươi", "{ten} {unit}",
        "một-trăm hai-trăm ba-trăm bốn-trăm năm-trăm sáu-trăm bảy-trăm tám-trăm chín-trăm", (" ", " linh ", " lẻ "), "nghìn/ngàn", half="rưỡi",
    ),
    "sw": _Language(
        "moja/mmoja mbili/wawili/mawili tatu/watatu/matatu nne/wanne/manne tano/watano/matano sita saba nane/wanane/manane tisa kumi kumi-na-moja kumi-na-mbili/kumi-na-wawili kumi-na-tatu/kumi-na-watatu kumi-na-nne kumi-na-tano/kumi-na-watano kumi-na-sita kumi-na-saba kumi-na-nane kumi-na-tisa",
        "ishirini thelathini arobaini hamsini sitini sabini themanini tisini", "{ten} na {unit}", "mia-moja/mia mia-mbili mia-tatu mia-nne mia-tano mia-sita mia-saba mia-nane mia-tisa", (" na ", " "), half="na nusu",
    ),
    "hu": _Language(
        "egy kettő/két három négy öt hat hét nyolc kilenc tíz tizenegy tizenkettő/tizenkét tizenhárom tizennégy tizenöt tizenhat tizenhét tizennyolc tizenkilenc",
        "húsz/huszon harminc negyven ötven hatvan hetven nyolcvan kilencven", "{ten}{unit}", "száz kétszáz/kettőszáz háromszáz négyszáz ötszáz hatszáz hétszáz nyolcszáz kilencszáz", ("",), "ezer",
        "fél harmad negyed ötöd hatod heted nyolcad kilenced tized", "és fél",
    ),
    "fi": _Language(
        "yksi kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän kymmenen yksitoista kaksitoista kolmetoista neljätoista viisitoista kuusitoista seitsemäntoista kahdeksantoista yhdeksäntoista",
        "kaksikymmentä kolmekymmentä neljäkymmentä viisikymmentä kuusikymmentä seitsemänkymmentä kahdeksankymmentä yhdeksänkymmentä", "{ten}{unit}", "sata kaksisataa kolmesataa neljäsataa viisisataa kuusisataa seitsemänsataa kahdeksansataa yhdeksänsataa", ("",), "tuhat/tuhatta",
        "puoli/puolikas/puolta kolmasosa/kolmasosaa/kolmannes/kolmannesta neljäsosa/neljäsosaa/neljännes/neljännestä viidesosa/viidesosaa kuudesosa/kuudesosaa seitsemäsosa/seitsemäsosaa kahdeksasosa/kahdeksasosaa yhdeksäsosa/yhdeksäsosaa kymmenesosa/kymmenesosaa",
        "ja puoli",
    ),
    "el": _Language(
        "ένα/ένας/μία/μια δύο/δυο τρία/τρεις τέσσερα/τέσσερις πέντε έξι επτά/εφτά οκτώ/οχτώ εννέα/εννιά δέκα έντεκα δώδεκα δεκατρία/δεκατρείς δεκατέσσερα/δεκατέσσερις δεκαπέντε δεκαέξι δεκαεπτά/δεκαεφτά δεκαοκτώ/δεκαοχτώ δεκαεννέα/δεκαεννιά",
        "είκοσι τριάντα σαράντα πενήντα εξήντα εβδομήντα ογδόντα ενενήντα", "{ten} {unit}", "εκατό/εκατόν διακόσια/διακόσιες τριακόσια/τριακόσιες τετρακόσια/τετρακόσιες πεντακόσια/πεντακόσιες εξακόσια/εξακόσιες επτακόσια/επτακόσιες οκτακόσια/οκτακόσιες εννιακόσια/εννιακόσιες", (" ",), "χίλια/χίλιες/χιλιάδες",
        "μισό/μισά τρίτο/τρίτα τέταρτο/τέταρτα πέμπτο/πέμπτα έκτο/έκτα έβδομο/έβδομα όγδοο/όγδοα ένατο/ένατα δέκατο/δέκατα", "και μισό/και μισή",
    ),
    "he": _Language(
        "אחד/אחת שניים/שתיים/שני/שתי שלושה/שלוש/שלושת ארבעה/ארבע חמישה/חמש שישה/שש שבעה/שבע שמונה תשעה/תשע עשרה/עשר אחד-עשר/אחת-עשרה שנים-עשר/שתים-עשרה שלושה-עשר/שלוש-עשרה ארבעה-עשר/ארבע-עשרה חמישה-עשר/חמש-עשרה שישה-עשר/שש-עשרה שבעה-עשר/שבע-עשרה שמונה-עשר/שמונה-עשרה תשעה-עשר/תשע-עשרה",
        "עשרים שלושים ארבעים חמישים שישים שבעים שמונים תשעים", "{ten} ו{unit}", "מאה מאתיים שלוש-מאות ארבע-מאות חמש-מאות שש-מאות שבע-מאות שמונה-מאות תשע-מאות", (" ", " ו"), "אלף",
        "חצי/חצאים שליש/שלישים רבע/רבעים חמישית/חמישיות שישית/שישיות שביעית/שביעיות שמינית/שמיניות תשיעית/תשיעיות עשירית/עשיריות", "וחצי",
    ),
    "ar": _Language(
        "واحد/واحدة اثنان/اثنين/اثنتان/اثنتين ثلاثة/ثلاث أربعة/أربع خمسة/خمس ستة/ست سبعة/سبع ثمانية/ثماني/ثمان تسعة/تسع عشرة/عشر أحد-عشر/إحدى-عشرة اثنا-عشر/اثني-عشر/اثنتا-عشرة/اثنتي-عشرة ثلاثة-عشر/ثلاث-عشرة أربعة-عشر/أربع-عشرة خمسة-عشر/خمس-عشرة ستة-عشر/ست-عشرة سبعة-عشر/سبع-عشرة ثمانية-عشر/ثماني-عشرة تسعة-عشر/تسع-عشرة",
        "عشرون/عشرين ثلاثون/ثلاثين أربعون/أربعين خمسون/خمسين ستون/ستين سبعون/سبعين ثمانون/ثمانين تسعون/تسعين", "{unit} و{ten}",
        "مئة/مائة مئتان/مئتين/مائتان/مائتين ثلاثمئة/ثلاثمائة أربعمئة/أربعمائة خمسمئة/خمسمائة ستمئة/ستمائة سبعمئة/سبعمائة ثمانمئة/ثمانمائة تسعمئة/تسعمائة", (" و",), "ألف/آلاف",
        "نصف ثلث/أثلاث/ثلثا/ثلثي ربع/أرباع خمس/أخماس سدس/أسداس سبع/أسباع ثمن/أثمان تسع/أتساع عشر/أعشار", "ونصف/والنصف",
    ),
    "sk": _Language(
        "jeden/jedna/jedno/jednu dva/dve tri štyri päť šesť sedem osem deväť desať jedenásť dvanásť trinásť štrnásť pätnásť šestnásť sedemnásť osemnásť devätnásť",
        "dvadsať tridsať štyridsať päťdesiat šesťdesiat sedemdesiat osemdesiat deväťdesiat", "{ten}{unit}", "sto dvesto tristo štyristo päťsto šesťsto sedemsto osemsto deväťsto",
        (" ",), "tisíc", "polovica/polovice tretina/tretiny štvrtina/štvrtiny pätina/pätiny šestina/šestiny sedmina/sedminy osmina/osminy devätina/devätiny desatina/desatiny", "a pol",
    ),
    "hr": _Language(
        "jedan/jedna/jedno/jednu dva/dvije/dve tri četiri pet šest sedam osam devet deset jedanaest dvanaest trinaest četrnaest petnaest šesnaest sedamnaest osamnaest devetnaest",
        "dvadeset trideset četrdeset pedeset šezdeset sedamdeset osamdeset devedeset", "{ten} {unit}", "sto/stotinu dvjesto/dvesta/dvjesta tristo/trista četiristo petsto/petsto šeststo/šesto sedamsto osamsto devetsto",
        (" ", " i "), "tisuća/tisuće/hiljada/hiljade/hiljadu/tisuću", "polovina/polovine/polovica/polovice trećina/trećine četvrtina/četvrtine/četvrt petina/petine šestina/šestine sedmina/sedmine osmina/osmine devetina/devetine desetina/desetine", "i pol/i po",
    ),
    "bg": _Language(
        "един/една/едно два/две/двама три/трима четири/четирима пет/петима шест/шестима седем осем девет десет единадесет/единайсет дванадесет/дванайсет тринадесет/тринайсет четиринадесет/четиринайсет петнадесет/петнайсет шестнадесет/шестнайсет седемнадесет/седемнайсет осемнадесет/осемнайсет деветнадесет/деветнайсет",
        "двадесет/двайсет тридесет/трийсет четиридесет/четирийсет петдесет шестдесет/шейсет седемдесет осемдесет деветдесет", "{ten} и {unit}", "сто двеста триста четиристотин петстотин шестстотин седемстотин осемстотин деветстотин",
        (" ", " и "), "хиляда/хиляди", "половина трета/трети/третина четвърт/четвърти/четвъртина пета/пети шеста/шести седма/седми осма/осми девета/девети десета/десети", "и половина",
    ),
    "fa": _Language(
        "یک دو سه چهار پنج شش هفت هشت نه ده یازده دوازده سیزده چهارده پانزده شانزده هفده هجده/هیجده نوزده",
        "بیست سی چهل پنجاه شصت هفتاد هشتاد نود", "{ten} و {unit}", "صد/یکصد دویست سیصد چهارصد پانصد ششصد هفتصد هشتصد نهصد", (" و ",), "هزار",
        "دوم سوم چهارم پنجم ششم هفتم هشتم نهم دهم", "و نیم",
    ),
    "tl": _Language(
        "isa/isang dalawa/dalawang tatlo/tatlong apat/apat-na lima/limang anim/anim-na pito/pitong walo/walong siyam/siyam-na sampu/sampung labing-isa/labing-isang/labingisa/labingisang labindalawa/labindalawang labintatlo/labintatlong labing-apat/labing-apat-na/labingapat labinlima/labinlimang labing-anim/labing-anim-na/labinganim labimpito/labimpitong labingwalo/labingwalong labinsiyam/labinsiyam-na",
        "dalawampu/dalawampung tatlumpu/tatlumpung apatnapu/apatnapung limampu/limampung animnapu/animnapung pitumpu/pitumpung walumpu/walumpung siyamnapu/siyamnapung", "{ten}-t-{unit}",
        "isang-daan/sandaan/isang-daang dalawang-daan/dalawang-daang tatlong-daan/tatlong-daang apat-na-raan/apat-na-raang limang-daan/limang-daang anim-na-raan/anim-na-raang pitong-daan/pitong-daang walong-daan/walong-daang siyam-na-raan/siyam-na-raang", (" at ", " t "), "libo/libong",
        half="at kalahati/at kalahating",
    ),
    "ta": _Language(
        "ஒன்று/ஒரு இரண்டு மூன்று நான்கு/நாலு ஐந்து/அஞ்சு ஆறு ஏழு எட்டு ஒன்பது பத்து பதினொன்று பன்னிரண்டு பதிமூன்று பதினான்கு பதினைந்து பதினாறு பதினேழு பதினெட்டு பத்தொன்பது",
        "இருபது/இருபத்தி முப்பது/முப்பத்தி நாற்பது/நாற்பத்தி ஐம்பது/ஐம்பத்தி அறுபது/அறுபத்தி எழுபது/எழுபத்தி எண்பது/எண்பத்தி தொண்ணூறு/தொண்ணூற்றி", "{ten} {unit}",
        "நூறு/நூற்றி இருநூறு/இருநூற்றி முந்நூறு/முந்நூற்றி நானூறு/நானூற்றி ஐந்நூறு/ஐந்நூற்றி அறுநூறு/அறுநூற்றி எழுநூறு/எழுநூற்றி எண்ணூறு/எண்ணூற்றி தொள்ளாயிரம்", (" ",), "ஆயிரம்/ஆயிரத்து",
    ),
    "te": _Language(
        "ఒకటి/ఒక రెండు మూడు నాలుగు ఐదు ఆరు ఏడు ఎనిమిది తొమ్మిది పది పదకొండు పన్నెండు పదమూడు పద్నాలుగు/పధ్నాలుగు పదిహేను పదహారు పదిహేడు పద్దెనిమిది పంతొమ్మిది",
        "ఇరవై ముప్పై నలభై యాభై అరవై డెబ్బై ఎనభై తొంభై", "{ten} {unit}", "వంద/నూట రెండు-వందల మూడు-వందల నాలుగు-వందల ఐదు-వందల ఆరు-వందల ఏడు-వందల ఎనిమిది-వందల తొమ్మిది-వందల", (" ",), "వెయ్యి/వేలు/వేల",
    ),
    "th": _Language(
        "หนึ่ง สอง สาม สี่ ห้า หก เจ็ด แปด เก้า สิบ สิบเอ็ด สิบสอง สิบสาม สิบสี่ สิบห้า สิบหก สิบเจ็ด สิบแปด สิบเก้า",
        "ยี่สิบ สามสิบ สี่สิบ ห้าสิบ หกสิบ เจ็ดสิบ แปดสิบ เก้าสิบ", "{ten}{unit}", "ร้อย/หนึ่งร้อย สองร้อย สามร้อย สี่ร้อย ห้าร้อย หกร้อย เจ็ดร้อย แปดร้อย เก้าร้อย", ("",), "พัน",
    ),
}  # fmt: skip

_COUNTED = {
    "hi": "एक दो तीन चार पाँच/पांच छह/छः/छ सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह/पन्द्रह सोलह सत्रह अठारह उन्नीस बीस इक्कीस बाईस/बाइस तेईस/तेइस चौबीस पच्चीस छब्बीस सत्ताईस/सत्ताइस अट्ठाईस/अट्ठाइस उनतीस तीस इकतीस बत्तीस तैंतीस चौंतीस पैंतीस छत्तीस सैंतीस अड़तीस उनतालीस चालीस इकतालीस बयालीस तैंतालीस चौवालीस पैंतालीस छियालीस सैंतालीस अड़तालीस उनचास पचास इक्यावन बावन तिरपन चौवन पचपन छप्पन सत्तावन अट्ठावन उनसठ साठ इकसठ बासठ तिरसठ चौंसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर सत्तर इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर सतहत्तर अठहत्तर उन्यासी अस्सी इक्यासी बयासी तिरासी चौरासी पचासी छियासी सत्तासी अट्ठासी नवासी नब्बे इक्यानवे बानवे तिरानवे चौरानवे पचानवे/पंचानवे छियानवे सत्तानवे अट्ठानवे निन्यानवे सौ",
    "bn": "এক দুই তিন চার পাঁচ ছয় সাত আট নয় দশ এগারো/এগার বারো/বার তেরো/তের চৌদ্দ পনেরো/পনের ষোলো/ষোল সতেরো/সতের আঠারো/আঠার উনিশ বিশ/কুড়ি একুশ বাইশ তেইশ চব্বিশ পঁচিশ ছাব্বিশ সাতাশ আটাশ ঊনত্রিশ ত্রিশ একত্রিশ বত্রিশ তেত্রিশ চৌত্রিশ পঁয়ত্রিশ ছত্রিশ সাঁইত্রিশ আটত্রিশ ঊনচল্লিশ চল্লিশ একচল্লিশ বিয়াল্লিশ তেতাল্লিশ চুয়াল্লিশ পঁয়তাল্লিশ ছেচল্লিশ সাতচল্লিশ আটচল্লিশ ঊনপঞ্চাশ পঞ্চাশ একান্ন বায়ান্ন তিপ্পান্ন চুয়ান্ন পঞ্চান্ন ছাপ্পান্ন সাতান্ন আটান্ন ঊনষাট ষাট একষট্টি বাষট্টি তেষট্টি চৌষট্টি পঁয়ষট্টি ছেষট্টি সাতষট্টি আটষট্টি ঊনসত্তর সত্তর একাত্তর বাহাত্তর তিয়াত্তর চুয়াত্তর পঁচাত্তর ছিয়াত্তর সাতাত্তর আটাত্তর ঊনআশি আশি একাশি বিরাশি তিরাশি চুরাশি পঁচাশি ছিয়াশি সাতাশি আটাশি ঊননব্বই নব্বই একানব্বই বিরানব্বই তিরানব্বই চুরানব্বই পঁচানব্বই ছিয়ানব্বই সাতানব্বই আটানব্বই নিরানব্বই একশ/একশো",
    "mr": "एक दोन तीन चार पाच सहा सात आठ नऊ दहा अकरा बारा तेरा चौदा पंधरा सोळा सतरा अठरा एकोणीस वीस एकवीस बावीस तेवीस चोवीस पंचवीस सव्वीस सत्तावीस अठ्ठावीस एकोणतीस तीस एकतीस बत्तीस तेहतीस चौतीस पस्तीस छत्तीस सदतीस अडतीस एकोणचाळीस चाळीस एकेचाळीस बेचाळीस त्रेचाळीस चव्वेचाळीस पंचेचाळीस सेहेचाळीस सत्तेचाळीस अठ्ठेचाळीस एकोणपन्नास पन्नास",
    "ur": "ایک دو تین چار پانچ چھ/چھے سات آٹھ نو دس گیارہ بارہ تیرہ چودہ پندرہ سولہ سترہ اٹھارہ انیس بیس اکیس بائیس تئیس چوبیس پچیس چھبیس ستائیس اٹھائیس انتیس تیس اکتیس بتیس تینتیس چونتیس پینتیس چھتیس سینتیس اڑتیس انتالیس چالیس اکتالیس بیالیس تینتالیس چوالیس پینتالیس چھیالیس سینتالیس اڑتالیس انچاس پچاس",
}
"""Languages whose numbers below a hundred each have a word of their own."""
_SCALES = {
    word: value
    for value, words in {
        100: "सौ শত শো শ سو", 1000: "हज़ार हजार হাজার ہزار", 10**5: "लाख লাখ লক্ষ لاکھ", 10**7: "करोड़ कोटी কোটি کروڑ",
    }.items()
    for word in unicodedata.normalize("NFC", words).split()
}  # fmt: skip
"""What a number before it is multiplied by in these languages."""
_PARTS_COUNTED = {
    language: {unicodedata.normalize("NFC", word): value for value, word in parts.items()}
    for language, parts in {
        "hi": {3: "तिहाई", 4: "चौथाई"}, "mr": {3: "तृतीयांश", 4: "चतुर्थांश"}, "bn": {3: "তৃতীয়াংশ", 4: "চতুর্থাংশ", 5: "পঞ্চমাংশ"}, "ur": {3: "تہائی", 4: "چوتھائی"},
    }.items()
}  # fmt: skip
_QUARTERS = {
    word: value
    for value, words in {2: "साढ़े साडे সাড়ে ساڑھے", 1: "सवा सव्वा সোয়া সওয়া سوا", -1: "पौने पावणे পৌনে পোনে پونے"}.items()
    for word in unicodedata.normalize("NFC", words).split()
}
"""The quarters that are added to the number behind it: seven and a half is साढ़े सात."""

_ONE_AND_A_HALF = {
    "anderthalb": "1.5", "eineinhalb": "1.5", "anderhalf": "1.5", "anderhalve": "1.5", "полтора": "1.5", "полторы": "1.5",
    "półtora": "1.5", "półtorej": "1.5", "डेढ़": "1.5", "ढाई": "2.5", "দেড়": "1.5", "আড়াই": "2.5", "halvannan": "1.5", "halvanden": "1.5",
    "ثلثان": "2/3", "ثلثين": "2/3", "kétharmad": "2/3", "háromnegyed": "3/4", "kétötöd": "2/5", "háromötöd": "3/5", "négyötöd": "4/5", "zéro": "0", "cero": "0", "ноль": "0", "нуль": "0", "sıfır": "0", "μηδέν": "0", "אפס": "0", "صفر": "0", "शून्य": "0", "শূন্য": "0", "halvannen": "1.5", "полутора": "1.5", "півтора": "1.5", "півтори": "1.5", "полтораста": "150", "полутораста": "150", "півтораста": "150", "půldruhého": "1.5",
    "másfél": "1.5", "puolitoista": "1.5", "puoltatoista": "1.5", "μιάμιση": "1.5", "ενάμιση": "1.5", "ενάμισι": "1.5", "δυόμισι": "2.5", "δυόμιση": "2.5",
    "τρεισήμισι": "3.5", "τριάμισι": "3.5", "τεσσεράμισι": "4.5", "दीड": "1.5", "अडीच": "2.5", "ڈیڑھ": "1.5", "ڈھائی": "2.5",
    "ஒன்றரை": "1.5", "இரண்டரை": "2.5", "மூன்றரை": "3.5", "நான்கரை": "4.5", "நாலரை": "4.5", "ஐந்தரை": "5.5", "ஆறரை": "6.5", "ஏழரை": "7.5", "எட்டரை": "8.5", "ஒன்பதரை": "9.5", "பத்தரை": "10.5",
    "ఒకటిన్నర": "1.5", "రెండున్నర": "2.5", "మూడున్నర": "3.5", "నాలుగున్నర": "4.5", "ఐదున్నర": "5.5", "ఆరున్నర": "6.5", "ఏడున్నర": "7.5", "ఎనిమిదిన్నర": "8.5", "తొమ్మిదిన్నర": "9.5", "పదిన్నర": "10.5",
}  # fmt: skip
_POINTS = frozenset(
    "komma virgule coma vírgula virgola koma virgül phẩy przecinek čárka целых целая κόμμα נקודה दशमलव দশমিক فاصلة"
    " ممیز จุด pilkku virgulă punto".split()
)
_ZEROS = frozenset(
    "null nul noll zéro zero cero nolla nula nulla ноль нуль sıfır nol không sifuri μηδέν אפס صفر शून्य শূন্য ศูนย์".split()
)
_PART_FIRST = {"theluthi": 3, "robo": 4, "humusi": 5, "thumuni": 8}  # of Swahili, before its number
_JOINS = frozenset("و e și i и na at t ו og".split())  # what stands between thousands and the rest
_HALF_OF = frozenset(
    "medio media mezzo mezza meio meia pół yarım nửa demi půl pola pol fél puoli puolta μισό μισή חצי نصف  आधा आधी आधे अर्धा আধা آدھا نیم пів kalahating halv halvt halve".split()
)  # before a unit
_HALVES = {unicodedata.normalize("NFC", word): value for word, value in _ONE_AND_A_HALF.items()}
FUNCTION_WORDS = {
    language: frozenset(words.split())
    for language, words in {
        "de": "der die das ist sind und ein eine einen einem einer mit von für beträgt also damit somit es wir im zu wird hat haben insgesamt daher sich werden braucht kostet dauert folglich genau",
        "nl": "het een dus van de er totaal moet zijn heeft hij zij kost duurt daarom antwoord zich voor blijft hebben betalen",
        "sv": "är och det ett alltså så därför kostar tar den att har finns totalt blir svaret för av",
        "no": "er og det altså derfor koster tar den har totalt svaret av til det",
        "da": "er og det altså derfor koster tager den har alt svaret af til",
        "fr": "le la les est des du une donc et dans pour sont ainsi par il a au elle on ce cette dure coûte mesure faut reste y",
        "es": "el la los las es del por son se tiene tanto lo que entonces en conclusión cuesta mide dura quedan hay respuesta tienen necesitan",
        "pt": "o os as é do da dos das são portanto logo em no na tem custa mede há resposta ele ela assim restam",
        "it": "il lo la gli è di della dello quindi dunque sono pertanto ha costa misura dura si risposta ci restano a pari",
        "ro": "este sunt și deci un în are prin urmare sunt răspunsul la durează",
        "pl": "jest to w z wynosi więc zatem się ma na do trwa kosztuje odpowiedź po czyli ile zostało",
        "cs": "je to v tedy se má na proto celkem jsou trvá stojí zbývá",
        "ru": "в на это равна равен равно ответ значит поэтому стоит и было будет следовательно итак",
        "uk": "в на це дорівнює відповідь отже і тому коштує було",
        "tr": "ve buna göre bu için olarak dolayısıyla toplam vardır olur cevap sonuç saat sınıfta yaşında kalır öğrenci tane yani",
        "id": "adalah dan yang jadi jumlah ada buah harga tersebut orang dengan demikian di oleh sisa umur maka",
        "vi": "là vậy của có số giá đó còn được cần lại tất cả dài nặng",
        "sw": "ni ya kwa jibu hivyo na wa ana alibaki jumla hiyo kuna umri",
        "hu": "az tehát és van így válasz összesen marad kerül",
        "fi": "on siis ja vastaus yhteensä se maksaa kestää",
        "sk": "je to v teda sa má na preto spolu sú trvá stojí odpoveď ostalo",
        "hr": "je to u se ima na dakle stoga ukupno su traje iznosi odgovor košta ostaje",
        "tl": "ang ng sa mga ay na kaya samakatuwid ito siya natira kabuuang sagot may",
        "el": "είναι το ο η και άρα επομένως οι τα",
        "he": "הוא היא של לכן את יש",
    }.items()
}
"""Words that tell a language in Latin letters, Cyrillic, Greek or Hebrew from others."""

_LETTERS = (
    ("\u0e00-\u0e7f", ("th",)), ("گچپژیک", ("fa", "ur", "ar")), ("\u0600-\u06ff", ("ar", "fa")), ("\u0900-\u0963\u0966-\u097f", ("hi", "mr")),
    ("\u0980-\u09ff", ("bn",)), ("\u0b80-\u0bff", ("ta",)), ("\u0c00-\u0c7f", ("te",)),
    ("\u0590-\u05ff", ("he",)), ("\u0370-\u03ff", ("el",)), ("іїєґ", ("uk",)), ("\u0400-\u04ff", ("ru", "uk", "bg")),
)  # fmt: skip
_ENGLISH = frozenset(
    "once due fire hat sex on dos cent sept six elf ti sei ba sto but sat set to tres en a o no half kwart quart mil bin son en tres firs pet isa".split()
)
_ARTICLES = frozenset(form for numbers in _LANGUAGES.values() for form in numbers.small.split()[0].split("/")) - {
    "eins",
    "uno",
    "unu",
    "één",
}
_WORD = lazy_compile(r"[^\W\d_]+(?:(?<=[\u0400-\u04ff])['’][\u0400-\u04ff]+)?(?:[\u0900-\u0dff]+[^\W\d_]*)*")
_UNSPACED = lazy_compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_JAPANESE = {
    **dict(zip("一二三四五六七八九", range(1, 10), strict=True)),
    **dict(zip("일이삼사오육칠팔구", range(1, 10), strict=True)),
    "两": 2,
    "兩": 2,
}
_POWERS = {"十": 10, "百": 100, "千": 1000, "십": 10, "백": 100, "천": 1000}
_MYRIADS = {"万": 10**4, "萬": 10**4, "億": 10**8, "亿": 10**8, "만": 10**4, "억": 10**8}
_EAST_ASIAN = lazy_compile(
    r"(?P<lead>百分之|백분의)?(?P<number>\d+(?:,\d{3})*(?:\.\d+)?\s?[万萬億亿만억](?=\s?[\d千천])[\d,千百十천백십万萬億亿만억\s]*(?<!\s)"
    r"|(?<!\d)[一二三四五六七八九十百千万萬億亿两兩]+|(?<!\d)(?<!\d\s)(?:[일이삼사오육칠팔구]?[십백천만억]\s?|[일이삼사오육칠팔구](?=\s?(?:[십백천만억]|\Z|[원번개])))+[일이삼사오육칠팔구]?)"
)
_CHINESE_DATE = lazy_compile(
    "(?P<year>[一二][〇零○一二三四五六七八九]{3})年(?:(?P<month>十[一二]?|[一二三四五六七八九])月(?:(?P<day>[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])[日号號])?)?"
)
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867, "民國": 1911, "民国": 1911}
_YEAR_OF_ERA = lazy_compile(
    rf"(?P<era>{'|'.join(_ERAS)})(?P<year>\d{{1,3}}|元)年|(?:ปี )?(?:(?P<buddhist>พ\.ศ\.|พ\.ศ|พุทธศักราช) ?(?P<be>2[3-6]\d\d)|(?:ค\.ศ\.|ค\.ศ|คริสต์ศักราช) ?(?P<ce>[12]\d{{3}}))"
)
_CHINESE_CLOCK = lazy_compile(r"(?:十[一二]?|[一二三四五六七八九两])(?=[点點](?:[钟鐘半整]|\Z|。))")
_NATIVE_TENS = {
    "열": 10,
    "스물": 20,
    "스무": 20,
    "서른": 30,
    "마흔": 40,
    "쉰": 50,
    "예순": 60,
    "일흔": 70,
    "여든": 80,
    "아흔": 90,
}
_NATIVE = {
    "하나": 1,
    "한": 1,
    "둘": 2,
    "두": 2,
    "셋": 3,
    "세": 3,
    "넷": 4,
    "네": 4,
    "다섯": 5,
    "여섯": 6,
    "일곱": 7,
    "여덟": 8,
    "아홉": 9,
}
_KOREAN = lazy_compile(
    rf"(?<![\uac00-\ud7af])(?:(?P<ten>{'|'.join(_NATIVE_TENS)})\s?)?(?P<unit>{'|'.join(_NATIVE)})?"
    r"(?=\s?(?:개|명|마리|권|장|대|송이|그루|번|점|가지|자루|병|잔|살|시간|달|사람)(?:[^\uac00-\ud7af]|입니다|이다|가|를|은|는|에|이|\Z))"
)
_ONE_HALF_MORE = lazy_compile("(.+)(?:einhalb|ënhalf|enhalf|ënhalve|enhalve)")
_MILLIONS = tuple(
    [word] for word in "million millón milhão milione milion miljoen miljon milliarde milliard miliardo".split()
)
_GLUED = lazy_compile(
    "tausend|duizend|tusen|tusind|mille|mila|ezer|tuhat|einhalb|nhalf|nhalve|hundert|honderd|hundra|hundre|cento|száz|sata"
)
_MINUS = lazy_compile(
    r"(?<!\w)(?:minus|moins|menos|meno|min|miinus|mínusz|mínus|μείον|минус|мінус|eksi|âm|negativ[oa]|negatif|hasi|ลบ|ऋण|माइनस|মাইনাস|ঋণাত্মক|மைனஸ்|మైనస్|سالب|ناقص|منفی|منفي|מינוס) ?(?=\d)|(?<![\d)）])(?:负|負|零下|氷点下|マイナス|마이너스 ?|영하 ?|âm )(?=\d)",
    re.I,
)
_OF_ZERO = (
    "null",
    "nul",
    "noll",
    "fry",
    "zér",
    "zer",
    "cero",
    "нул",
    "minusgrad",
    "negativos",
    " 0",
    "alt",
    "nol",
    "μηδέν",
    "الصفر",
    "אפס",
    "शून्य",
)
_BELOW_ZERO = lazy_compile(  # sju grader under null, 7 градусов ниже нуля, 零下7度
    r"(?<![\d.,])(?P<number>\d{1,3}(?:[.,]\d{1,2})?) ?(?P<unit>[°℃C]{1,2}|[^\W\d_]{2,12}(?: (?:celsius|цельсия|celsjusza|celcius))?)? ?"
    r"(?:unter null|sous (?:zéro|0)|bajo (?:cero|0)|sotto (?:zero|lo zero)|abaixo de zero|negativos|ниже нуля|нижче нуля|onder (?:nul|het vriespunt)|under (?:noll|nollan|null|frysepunktet|fryspunkten)"
    r"|poniżej zera|pod nulou|ispod nule|sıfırın altında|di bawah nol|nollan alapuolella|sub zero|κάτω από το μηδέν|مئوية تحت الصفر|تحت الصفر|מתחת לאפס|शून्य से नीचे)(?!\w)"
    r"|(?<![\d.,])(?P<counted>\d{1,3}) ?minusgrade(?:r|n)?",
    re.IGNORECASE,
)
_PART_OF = lazy_compile(
    r"(?P<bottom>[一二三四五六七八九十]+|(?:[이삼사오육칠팔구]?십)?[일이삼사오육칠팔구]?)\s?[分분][之의の]\s?(?P<top>[一二三四五六七八九十]+|(?:[이삼사오육칠팔구]?십)?[일이삼사오육칠팔구]?)"
)
_OTHER_PART = lazy_compile(  # üçte bir, một phần ba
    r"(?<!\w)(?:(?P<below>iki|üç|dört|beş|altı|yedi|sekiz|dokuz|on)[dt][ae] (?P<above>bir|iki|üç|dört|beş|altı|yedi|sekiz|dokuz)"
    r"|(?P<top>một|hai|ba|bốn|năm|sáu|bảy|tám|chín) phần (?P<bottom>hai|ba|tư|bốn|năm|sáu|bảy|tám|chín|mười))(?!\w)",
    re.IGNORECASE,
)
_HALVED = lazy_compile(  # 2 horas y media, 2時間半
    r"(?P<number>\d{1,4}) ?(?P<unit>(?!heures?\b|giờ\b)[^\W\d_]{1,14}?)(?: (?:y medi[oa]|et demie?|e mezz[ao]|e mei[ao]|och en halv|och ett halvt|og en halv|en een half"
    r"|en een halve|und eine halbe|i pół|с половиной|з половиною|rưỡi)(?!\w)|(?<=時間)半|(?<=시간) ?반|(?<=小时)半)",
    re.IGNORECASE,
)
_IN_COINS = lazy_compile(  # 12 Euro und 50 Cent
    r"(?<![\d.,])(\d{1,6}) (euros?|€|zł|złot\w+|рубл\w+|руб\.?|грн\.?|гривен\w*|lei|reais|dollars?|dólares|dollari|pesos) (?:(?:und|et|y|e|i|и|en|con) )?(\d\d)"
    r"(?: (?:cent\w*|centimes?|céntimos?|cêntimos?|centavos?|groszy?|gr|копе\w+|коп|копійок|bani|ban|ct|cts|paise))?\.?(?![\w.,%])",
    re.IGNORECASE,
)
_HALF_COUNTED = lazy_compile(r"(?P<number>\d{1,4}|[一二三四五六七八九两])个半(?=小时|月)")
_THAI_ALONE = lazy_compile("(?:ลบ|ร้อยละ|คือ|เท่ากับ)? ?(?P<number>[\u0e00-\u0e7f]{2,40})")
_THAI_PART = lazy_compile("เศษ ?(.+?) ?ส่วน ?(.+)")
_THAI_COUNTED = "คน ชิ้น ลูก ตัว ใบ อัน เล่ม ผล บาท ปี วัน เดือน ชั่วโมง นาที วินาที เมตร เซนติเมตร กิโลเมตร กิโลกรัม กรัม ลิตร องศา แผ่น หน้า ครั้ง กล่อง คัน สตางค์ เปอร์เซ็นต์".split()


@lru_cache(maxsize=64)
def _below_100(language: str) -> dict[int, list[str]]:
    """The words of the numbers below 100 of a language."""
    spec = _LANGUAGES[language]
    below_100 = {value: forms.split("/") for value, forms in enumerate(spec.small.split(), 1)}
    for ten, forms in zip(range(20, 100, 10), spec.tens.split(), strict=False):
        below_100[ten] = forms.split("/")
        for unit in range(1, 10):
            pairs = product(forms.split("/"), below_100[unit])
            below_100[ten + unit] = [spec.joined.format(ten=word, unit=other) for word, other in pairs]
    if irregular := _IRREGULAR.get(language):
        irregular(below_100)
    return below_100


@lru_cache(maxsize=64)
def _table(language: str) -> dict[str, int]:
    """The numbers below 1000 of a language by their words, in lower case with spaces for hyphens."""
    if language in _COUNTED:
        listed = unicodedata.normalize("NFC", _COUNTED[language]).split()
        counted = {form: value for value, forms in enumerate(listed, 1) for form in forms.split("/")}
        if language == "bn":  # hundreds in one word
            counted |= {
                f"{word}{hundred}": 100 * value
                for word, value in counted.items()
                if value < 10
                for hundred in ("শো", "শ")
            }
        return counted
    spec, below_100 = _LANGUAGES[language], _below_100(language)
    table = {form: value for value, forms in below_100.items() for form in forms}
    for hundred, forms in zip(range(100, 1000, 100), spec.hundreds.split(), strict=False):
        for form in forms.split("/"):
            table[form] = hundred
            for value, others in below_100.items():
                table.update((f"{form}{rest}{other}", hundred + value) for rest in spec.rest for other in others)
    return {form.replace("-", " "): value for form, value in table.items()}


def numbers_below(language: str, end: int) -> dict[str, int]:
    """The words of the numbers below ``end`` of a language, with what they are; none for other languages."""
    known = language in _LANGUAGES or language in _COUNTED
    return {word: value for word, value in _table(language).items() if value < end} if known else {}


def _french(numbers: dict[int, list[str]]) -> None:
    others: dict[int, list[str]] = {}
    for ten in ("vingt", "trente", "quarante", "cinquante", "soixante"):
        value = next(number for number, forms in numbers.items() if forms == [ten])
        numbers[value + 1] = [f"{ten}-et-un", f"{ten}-et-une"]
    for below in range(10, 20):
        numbers[60 + below] = [f"soixante-{form}" for form in numbers[below]]
    numbers[71] = ["soixante-et-onze"]
    for value, words in (
        (70, ["septante"]),
        (80, ["huitante", "octante"]),
        (90, ["nonante"]),
    ):  # in Belgium, Switzerland
        others[value] = words
        for below in range(1, 10):
            joined = ["et-un", "et-une"] if below == 1 else []
            others[value + below] = [f"{word}-{form}" for word in words for form in (*joined, *numbers[below])]
    numbers[80] = ["quatre-vingts", "quatre-vingt"]
    for below in range(1, 20):
        numbers[80 + below] = [f"quatre-vingt-{form}" for form in numbers[below]]
    for value, forms in others.items():
        numbers[value] = numbers[value] + forms


def _italian(numbers: dict[int, list[str]]) -> None:
    for value in range(20, 100):
        if value % 10 in (1, 8):
            numbers[value] = [numbers[value - value % 10][0][:-1] + numbers[value % 10][0 if value % 10 == 8 else 1]]
            numbers[value] += [numbers[value][0][:-1]] if value % 10 == 1 else []
        elif value % 10 == 3:
            numbers[value] += [numbers[value][0][:-1] + "é"]


def _spanish(numbers: dict[int, list[str]]) -> None:
    units = ("", "ún uno una", "dós dos", "trés tres", "cuatro", "cinco", "séis seis", "siete", "ocho", "nueve")
    for unit in range(1, 10):
        numbers[20 + unit] = [f"veinti{form}" for form in units[unit].split()]


def _dutch(numbers: dict[int, list[str]]) -> None:
    for value in range(20, 100):
        if value % 10 in (2, 3):
            numbers[value] += [form.replace("een", "eën", 1).replace("ieen", "ieën") for form in numbers[value]]
            ten = numbers[value - value % 10][0]
            numbers[value] += [f"{numbers[value % 10][0]}ën{ten}"]


def _vietnamese(numbers: dict[int, list[str]]) -> None:
    for value in range(21, 100):
        ten = numbers[value - value % 10][0]
        numbers[value] += {1: [f"{ten} mốt"], 4: [f"{ten} tư"], 5: [f"{ten} lăm"]}.get(value % 10, [])


def _thai(numbers: dict[int, list[str]]) -> None:
    for ten in range(20, 100, 10):
        numbers[ten + 1] = [numbers[ten][0] + "เอ็ด"]


def _hungarian(numbers: dict[int, list[str]]) -> None:
    numbers[20] = ["húsz"]


_IRREGULAR: dict[str, Callable[[dict[int, list[str]]], None]] = {
    "fr": _french, "it": _italian, "es": _spanish, "nl": _dutch, "vi": _vietnamese, "th": _thai, "hu": _hungarian,
}  # fmt: skip


_THAI = lazy_compile(rf"(?:{'|'.join(sorted(_table('th'), key=len, reverse=True))})(?= ?(?:{'|'.join(_THAI_COUNTED)}))")


@lru_cache(maxsize=64)
def _words(language: str) -> frozenset[str]:
    """The words in the numbers of a language, but for hundreds in one word."""
    if language in _COUNTED:
        return frozenset(_table(language)).union(_HALVES, _SCALES, _QUARTERS, _parts(language))
    spec = _LANGUAGES[language]
    forms = [form for others in _below_100(language).values() for form in others]
    text = " ".join((*forms, spec.hundreds, spec.thousand, spec.half, spec.parts))
    return frozenset(re.split("[ /-]", text)).union(_HALVES, _HALF_OF)


@lru_cache(maxsize=1)
def _all_words() -> frozenset[str]:
    return frozenset().union(*(_words(language) for language in (*_LANGUAGES, *_COUNTED)))


def _may_be_any(words: set[str]) -> bool:
    """Whether one of some words may be in a number of any language."""
    return (
        not words.isdisjoint(_all_words())
        or any(len(word) > 7 and _GLUED.search(word) for word in words)
        or any("\u0e00" <= word[0] <= "\u0e7f" for word in words)
    )


def _may_count(words: set[str], language: str) -> bool:
    """Whether one of some words may be in a number of a language."""
    if not words.isdisjoint(_words(language)):
        return True
    return any(len(word) > 7 and _GLUED.search(word) for word in words)


@lru_cache(maxsize=64)
def _parts(language: str) -> dict[str, int]:
    """The words that divide a number in a language: 3 of ``tiers``."""
    spec = _LANGUAGES.get(language)
    if spec is None:
        return _PARTS_COUNTED.get(language, {})
    return {form: value for value, forms in enumerate(spec.parts.split(), 2) for form in forms.split("/")}


def languages_of(text: str) -> tuple[str, ...]:
    """The languages with a table here that a text may be in, by its letters or its function words."""
    for letters, languages in _LETTERS:
        if re.search(f"[{letters}]", text):
            return languages
    words = {word.lower() for word in _WORD.findall(text)}
    hits = {language: len(words & known) for language, known in FUNCTION_WORDS.items()}
    best = max(hits.values())
    return tuple(language for language, count in hits.items() if count == best) if best else ()


@lru_cache(maxsize=256)
def in_figures(text: str, languages: tuple[str, ...] | None = None) -> str | None:
    """A text with its numbers in words in figures, or ``None`` if it has none or more than one reading.

    Without ``languages`` it may be in any, and words that are English are none.
    """
    if len(text) > MAX_LENGTH:
        return None
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    if text.isascii() and not text[:1].isalpha() and languages is None:
        return halved if (halved := with_halves(text)) != text else None
    if part := _OTHER_PART.search(text):
        table = _table("tr" if part["below"] else "vi") | {"tư": 4}
        top, bottom = (
            table[_lower(word, "tr")] for word in (part["above"] or part["top"], part["below"] or part["bottom"])
        )
        return f"{text[: part.start()]}{top}/{bottom}{text[part.end() :]}"
    if east := _east_asian(text):
        return with_halves(east)
    words = {_lower(word, "tr" if "I" in word or "İ" in word else "") for word in _WORD.findall(text)} | set(
        _WORD.findall(text.lower())
    )
    may_be = languages if languages is not None else _by_letters(text) if _may_be_any(words) else ()
    by_language = {
        language: reading
        for language in may_be
        if (language == "th" or _may_count(words, language))
        and (reading := _in_figures(text, language, languages is None))
    }
    readings = set(by_language.values())
    if len(readings) > 1:  # that of the language which knows most of the words
        known = {language: len(words & _words(language)) for language in by_language}
        readings = {reading for language, reading in by_language.items() if known[language] == max(known.values())}
    if not readings and (halved := with_halves(text)) != text:
        return halved
    return readings.pop() if len(readings) == 1 else None


def _by_letters(text: str) -> tuple[str, ...]:
    return next(
        (languages for letters, languages in _LETTERS if re.search(f"[{letters}]", text)), tuple(FUNCTION_WORDS)
    )


def in_our_years(text: str) -> str:
    """A text with years of the Japanese, Chinese and Thai calendars in ours: ``1964年`` for 昭和39年, 1932 for พ.ศ. 2475."""

    def ours(match: re.Match[str]) -> str:
        if match["era"]:
            return f"{_ERAS[match['era']] + (1 if match['year'] == '元' else int(match['year']))}年"
        return str(int(match["be"]) - 543) if match["be"] else match["ce"]

    return _YEAR_OF_ERA.sub(ours, text)


def with_halves(text: str) -> str:
    """A text with ``2.5 horas`` for ``2 horas y media``, and ``-5`` for ``minus 5`` where no number is before it."""
    if (minus := _MINUS.search(text)) and not re.search(r"\d", text[: minus.start()]):
        text = text[: minus.start()] + "-" + text[minus.end() :]
    if money := _IN_COINS.search(text):
        text = f"{text[: money.start()]}{money[1]}.{money[3]} {money[2]}{text[money.end() :]}"
    if (
        any(word in text for word in _OF_ZERO)
        and (below := _BELOW_ZERO.search(text))
        and not re.search(r"\d", text[: below.start()] + text[below.end() :])
    ):
        text = (
            f"{text[: below.start()]}-{below['number'] or below['counted']} {below['unit'] or '°'}{text[below.end() :]}"
        )
    text = _HALF_COUNTED.sub(lambda match: f"{_JAPANESE.get(match['number'], match['number'])}.5", text)
    return _HALVED.sub(lambda match: f"{match['number']}.5 {match['unit']}", text)


def _in_figures(text: str, language: str, is_bare: bool) -> str | None:
    """The text with figures if it is in one language."""
    found = list(_thai_numbers(text) if language == "th" else _numbers(text, language, is_bare))
    pieces, at = [], 0
    for start, end, value in found:
        pieces += [text[at:start], value]
        at = end
    figures = with_halves("".join(pieces) + text[at:])
    return figures if figures != text else None


def _thai_numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """Where numbers stand before what they count in a text without spaces."""
    table = _table("th")
    if whole := _THAI_ALONE.fullmatch(text):
        if whole["number"] in table:
            yield *whole.span("number"), str(table[whole["number"]])
        elif (part := _THAI_PART.fullmatch(whole["number"])) and part[1] in table and part[2] in table:
            yield *whole.span("number"), f"{table[part[1]]}/{table[part[2]]}"
        return
    for match in _THAI.finditer(text):
        yield match.start(), match.end(), str(table[match[0]])


def _numbers(text: str, language: str, is_bare: bool) -> Iterator[tuple[int, int, str]]:
    """Where numbers stand in a text, and what they are in figures."""
    table, parts = _table(language), _parts(language)
    spec = _LANGUAGES.get(language)
    thousands = frozenset(spec.thousand.split("/")) if spec and spec.thousand else frozenset()
    halves = [half.split() for half in spec.half.split("/")] if spec and spec.half else []
    spans = [match.span() for match in _WORD.finditer(text)]
    words = [_lower(text[start:end], language) for start, end in spans]
    at = 0
    while at < len(words):
        if spec is None and (scaled := _scaled(words, at, table)):
            figures, count = scaled
            yield spans[at][0], spans[at + count - 1][1], figures
            at += count
            continue
        value, count = _longest(words, at, table)
        if count == 0 and (glued := _glued(words[at], table, thousands)):
            value, count = glued, 1
        end = at + count
        is_thousand = end < len(words) and words[end] in thousands
        if is_thousand and count == 0 and language == "tr" and not _longest(words, end + 1, table)[1]:  # a thousand
            is_thousand = False
        if text[: spans[at][0]].rstrip()[-1:].isdigit() or (at and words[at - 1] in ("pour", "por", "per", "pro")):
            at += 1  # 2 mil, 3 quarts, pour cent
            continue
        if is_thousand:
            value, end = (value or 1) * 1000, end + 1
            joins = end < len(words) and words[end] in _JOINS
            more, others = _longest(words, end + joins, table)
            if not others and language == "ar" and end < len(words):
                more, others = _longest([words[end].removeprefix("و"), *words[end + 1 :]], 0, table)
            value, end = (value + more, end + others + joins) if others else (value, end)
        figures = str(value)
        if end == at and words[at] in _ZEROS and (places := _places(words, at + 1, table)):
            yield spans[at][0], spans[places[1] - 1][1], f"0.{places[0]}"
            at = places[1]
            continue
        if end == at and words[at] in _PART_FIRST:
            top, others = _longest(words, at + 1, table)
            yield spans[at][0], spans[at + others][1], f"{top or 1}/{_PART_FIRST[words[at]]}"
            at += others + 1
            continue
        if end == at and words[at] == "elfu":  # of Swahili, before its number
            value, others = _longest(words, at + 1, {word: number for word, number in table.items() if number < 100})
            more, rest = _longest(words, at + 1 + others, table)
            yield spans[at][0], spans[at + others + rest][1], str(1000 * (value or 1) + more)
            at += others + rest + 1
            continue
        if end == at and (half := _ONE_HALF_MORE.fullmatch(words[at])) and half[1] in table:
            figures, end = f"{table[half[1]]}.5", at + 1
            yield spans[at][0], spans[at][1], figures
            at = end
            continue
        if end == at and words[at] in _HALVES:
            figures, end = _HALVES[words[at]], at + 1
        elif (
            end == at
            and words[at] in _HALF_OF
            and at + 1 < len(words)
            and (words[at + 1] in UNITS or words[at] == "nửa")
        ):
            figures, end = "0.5", at + 1
        elif end == at and words[at] in parts and words[at].startswith(("seper", "setengah", "треть", "четверть")):
            figures, end = f"1/{parts[words[at]]}", at + 1
        elif end == at:
            at += 1
            continue
        elif end < len(words) and words[end] in parts:
            figures, end = f"{figures}/{parts[words[end]]}", end + 1
        elif (mixed := _with_part(words, end, table, parts)) is not None:
            figures, end = f"{figures} {mixed[0]}", mixed[1]
        elif (places := _places(words, end, table)) is not None:
            figures, end = f"{figures}.{places[0]}", places[1]
        elif tail := next((words_of for words_of in halves if words[end : end + len(words_of)] == words_of), None):
            figures, end = f"{figures}.5", end + len(tail)
        elif (_is_unsure(words[at:end], is_bare) and words[end : end + 1] not in _MILLIONS) or words[at:] == [
            "neuf"
        ]:  # new
            at += 1
            continue
        yield spans[at][0], spans[end - 1][1], figures
        at = end


def _with_part(words: list[str], end: int, table: dict[str, int], parts: dict[str, int]) -> tuple[str, int] | None:
    """``3/4`` of "and three quarters" behind a number, and where it ends."""
    if end >= len(words) or words[end] not in AND:
        return None
    top, count = _longest(words, end + 1, table)
    at = end + 1 + count
    return (f"{top}/{parts[words[at]]}", at + 1) if count and at < len(words) and words[at] in parts else None


def _places(words: list[str], end: int, table: dict[str, int]) -> tuple[str, int] | None:
    """The decimals of a number behind the word for the comma, and where they end."""
    if end >= len(words) or words[end] not in _POINTS:
        return None
    at, digits = end + 1, ""
    while at < len(words) and (words[at] in _ZEROS or table.get(words[at], 0) in range(1, 10)):
        digits, at = digits + str(table.get(words[at], 0)), at + 1
    value, count = _longest(words, end + 1, table)
    if count and value > 9 and len(digits) < 2:
        return str(value), end + 1 + count
    return (digits, at) if digits else None


def _is_unsure(words: list[str], is_bare: bool) -> bool:
    """Whether a number may be another word: an article, or without a context a word of English."""
    return len(words) == 1 and (words[0] in _ARTICLES or (is_bare and words[0] in _ENGLISH))


def _lower(word: str, language: str) -> str:
    return word.replace("I", "ı").replace("İ", "i").lower() if language == "tr" else word.lower()


def _longest(words: list[str], at: int, table: dict[str, int]) -> tuple[int, int]:
    """The number that the words from a place on start with, and of how many words it is."""
    for count in range(min(_MAX_WORDS, len(words) - at), 0, -1):
        if value := table.get(" ".join(words[at : at + count])):
            return value, count
    return 0, 0


def _scaled(words: list[str], at: int, table: dict[str, int]) -> tuple[str, int] | None:
    """A number with hundreds, thousands or quarters in Hindi and the like, and of how many words it is."""
    quarters = _QUARTERS.get(words[at], 0)
    start = at + bool(quarters)
    end, total, least = start, Fraction(0), 10**9
    while end < len(words):
        number = Fraction(_HALVES[words[end]]) if words[end] in _HALVES else table.get(words[end], 0)
        scale = _SCALES.get(words[end + 1] if end + 1 < len(words) and number else words[end], 1)
        if (not number and scale == 1) or scale >= least or (number >= least):
            break
        number = (number or 1) + (Fraction(quarters, 4) if end == start else 0)
        end += 1 if scale == 1 or words[end] in _SCALES else 2
        total, least = total + number * scale, max(scale, 100 if number >= 100 else 1)
        if least == 1:
            break
    parts = end - start
    if not total or parts < 2 - bool(quarters):
        return None
    figures = str(total.numerator) if total.denominator == 1 else f"{float(total)}"
    return figures, end - at


def _glued(word: str, table: dict[str, int], thousands: frozenset[str]) -> int:
    """The number of one word with a word for a thousand in it: 2500 of ``zweitausendfünfhundert``; 0 for other words."""
    for thousand in thousands:
        head, sign, rest = word.partition(thousand)
        if sign and len(thousand) > 3 and (head or rest):
            factor, more = table.get(head, 0) if head else 1, table.get(rest, 0) if rest else 0
            if factor and (more or not rest):
                return factor * 1000 + more
    return 0


def _east_asian(text: str) -> str | None:
    """A Chinese, Japanese or Korean text that has one number in words, in figures."""
    if not _UNSPACED.search(text):
        return None
    if (date := _CHINESE_DATE.search(text)) and not _EAST_ASIAN.search(text[: date.start()] + text[date.end() :]):
        year = "".join(
            str("〇一二三四五六七八九".find(sign)) for sign in date["year"].replace("零", "〇").replace("○", "〇")
        )
        month, day = (_myriads(date[part]) if date[part] else None for part in ("month", "day"))
        in_digits = f"{year}年" + (f"{month}月" if month else "") + (f"{day}日" if day else "")
        return text[: date.start()] + in_digits + text[date.end() :]
    clock = _CHINESE_CLOCK.sub(lambda match: str(_myriads(match[0])), text)
    if clock != text:
        return clock
    if part := _PART_OF.search(text):
        bottom, top = _myriads(part["bottom"]), _myriads(part["top"])
        return f"{text[: part.start()]}{top}/{bottom}{text[part.end() :]}" if bottom and top else None
    found = [
        match
        for match in _EAST_ASIAN.finditer(text)
        if (len(match["number"]) > 1 or text[: match.start()][-1:] in ("负", "負")) and not match["lead"]
    ]
    if len(found) == 1 and (value := _myriads(found[0]["number"])):
        rest = text[: found[0].start()] + str(value) + text[found[0].end() :]
        return rest if value >= 10 or "负" in text or "負" in text else None
    if found:
        return None
    native = [match for match in _KOREAN.finditer(text) if match.end() > match.start()]
    if len(native) == 1:
        value = _NATIVE_TENS.get(native[0]["ten"] or "", 0) + _NATIVE.get(native[0]["unit"] or "", 0)
        return text[: native[0].start()] + str(value) + text[native[0].end() :]
    return None


def _myriads(text: str) -> int | None:
    """The number of 千二百, 오천 or 1万2000; ``None`` if it is none."""
    total = section = digit = 0
    scale, largest = 10**4, 10**12
    figures = re.findall(r"\d[\d,]*(?:\.\d+)?|\S", text)
    for sign in figures:
        if sign[0].isdigit():
            if digit or section:
                return None
            digit = float(sign.replace(",", "")) if "." in sign else int(sign.replace(",", ""))  # type: ignore[assignment]
        elif sign in _JAPANESE:
            if digit:
                return None
            digit = _JAPANESE[sign]
        elif (power := _POWERS.get(sign)) is not None:
            if power >= scale:
                return None
            section, digit, scale = section + (digit or 1) * power, 0, power
        else:
            myriad = _MYRIADS[sign]
            if myriad >= largest:
                return None
            total, section, digit, scale, largest = total + (section + digit or 1) * myriad, 0, 0, 10**4, myriad
    value = total + section + digit
    return int(value) if value == int(value) else None
