# ruff: noqa: E501, RUF001, SIM905  (words of other languages)
"""How other languages count: their words for numbers, tables of all numbers below a hundred, and parts such as thirds."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from itertools import product
from typing import NamedTuple


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


LANGUAGES = {
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
SCALES = {
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
QUARTERS = {
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
HALF_OF = frozenset(
    "medio media mezzo mezza meio meia pół yarım nửa demi půl pola pol fél puoli puolta μισό μισή חצי نصف  आधा आधी आधे अर्धा আধা آدھا نیم пів kalahating halv halvt halve".split()
)  # before a unit
HALVES = {unicodedata.normalize("NFC", word): value for word, value in _ONE_AND_A_HALF.items()}


@lru_cache(maxsize=64)
def _below_100(language: str) -> dict[int, list[str]]:
    """The words of the numbers below 100 of a language."""
    spec = LANGUAGES[language]
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
def table_of(language: str) -> dict[str, int]:
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
    spec, below_100 = LANGUAGES[language], _below_100(language)
    table = {form: value for value, forms in below_100.items() for form in forms}
    for hundred, forms in zip(range(100, 1000, 100), spec.hundreds.split(), strict=False):
        for form in forms.split("/"):
            table[form] = hundred
            for value, others in below_100.items():
                table.update((f"{form}{rest}{other}", hundred + value) for rest in spec.rest for other in others)
    return {form.replace("-", " "): value for form, value in table.items()}


def numbers_below(language: str, end: int) -> dict[str, int]:
    """The words of the numbers below ``end`` of a language, with what they are; none for other languages."""
    known = language in LANGUAGES or language in _COUNTED
    return {word: value for word, value in table_of(language).items() if value < end} if known else {}


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


@lru_cache(maxsize=64)
def words_of(language: str) -> frozenset[str]:
    """The words in the numbers of a language, but for hundreds in one word."""
    if language in _COUNTED:
        return frozenset(table_of(language)).union(HALVES, SCALES, QUARTERS, parts_of(language))
    spec = LANGUAGES[language]
    forms = [form for others in _below_100(language).values() for form in others]
    text = " ".join((*forms, spec.hundreds, spec.thousand, spec.half, spec.parts))
    return frozenset(re.split("[ /-]", text)).union(HALVES, HALF_OF)


@lru_cache(maxsize=1)
def all_words() -> frozenset[str]:
    return frozenset().union(*(words_of(language) for language in (*LANGUAGES, *_COUNTED)))


@lru_cache(maxsize=64)
def parts_of(language: str) -> dict[str, int]:
    """The words that divide a number in a language: 3 of ``tiers``."""
    spec = LANGUAGES.get(language)
    if spec is None:
        return _PARTS_COUNTED.get(language, {})
    return {form: value for value, forms in enumerate(spec.parts.split(), 2) for form in forms.split("/")}
