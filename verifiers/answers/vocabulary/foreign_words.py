# ruff: noqa: E501, RUF001, SIM905  (words of other languages)
"""Words of other languages that stand beside a number or are an answer, and what they are in English."""

from __future__ import annotations


def _table(text: str) -> dict[str, str]:
    """Each word by what stands before it in its line."""
    lines = (line.partition(" | ") for line in text.strip().splitlines())
    return {word: english for english, _, words in lines for word in words.split(", ")}


UNITS = _table("""
h | ساعت, گھنٹے, گھنٹہ, மணி நேரம், గంటలు, గంట, oras, sata, sati, hodín, stunde, stunden, std, heure, heures, hora, horas, ore, oră, ora, час, часа, часов, ч, годин, години, година, godzina, godziny, godzin, godz, uur, uren, timme, timmar, timer, saat, giờ, tiếng, jam, hodina, hodiny, hodin, óra, tuntia, ώρες, ώρα, שעות, שעה, ชั่วโมง, ชม, घंटे, घंटा, घण्टे, ঘণ্টা, ঘন্টা, ساعة, ساعات, ساعه, masaa, saa, 小时, 小時, 个小时, 個小時, 时间, 時間, 시간
min | دقیقه, منٹ, நிமிடங்கள், நிமிடம், నిమిషాలు, minút, minuuttia, minuten, minute, minutes, minuto, minutos, minuti, minut, minuta, minuty, минут, минуты, минута, мин, хвилин, хвилини, minuut, minuter, minutter, dakika, dk, phút, menit, perc, minuuttia, λεπτά, דקות, นาที, मिनट, মিনিট, دقيقة, دقائق, dakika, 分钟, 分鐘, 分間, 분
s | sekunde, sekunden, seconde, secondes, segundo, segundos, secondo, secondi, секунд, секунды, секунда, сек, с, sekunda, sekundy, sekund, seconden, sekunder, saniye, giây, detik, δευτερόλεπτα, שניות, วินาที, सेकंड, সেকেন্ড, ثانية, ثواني, ثوان, sekunde, 秒, 秒钟, 秒間, 초
days | روز, நாட்கள், రోజులు, araw, dana, ημέρα, tag, tage, tagen, jour, jours, día, días, dia, dias, giorno, giorni, день, дня, дней, dzień, dni, dag, dagen, dagar, dager, dage, gün, ngày, hari, nap, den, dny, dní, päivää, ημέρες, μέρες, ימים, วัน, दिन, দিন, يوم, أيام, يوما, zile, siku, 天, 日間, 일
weeks | woche, wochen, semaine, semaines, semana, semanas, settimana, settimane, неделя, недели, недель, tydzień, tygodnie, tygodni, weken, veckor, uker, uger, hafta, tuần, minggu, hét, týdny, týdnů, viikkoa, săptămâni, wiki, שבועות, สัปดาห์, सप्ताह, সপ্তাহ, أسبوع, أسابيع, 周, 週間, 星期, 주
months | monat, monate, monaten, mois, mes, meses, mês, mese, mesi, месяц, месяца, месяцев, miesiąc, miesiące, miesięcy, maanden, månader, måneder, ay, tháng, bulan, hónap, měsíce, měsíců, kuukautta, luni, miezi, חודשים, เดือน, महीने, মাস, شهر, أشهر, شهور, 个月, 個月, か月, ヶ月, カ月, 개월
years | سال, ஆண்டுகள், సంవత్సరాలు, taon, godina, rokov, jahr, jahre, jahren, jahr alt, jahre alt, jahren alt, ans, année, années, año, años, años de edad, ano, anos, anni, anno, год, года, лет, рік, роки, років, rok, lata, lat, jaar, år, år gammal, yıl, yaş, yaşında, năm, tuổi, tahun, év, éves, let, vuotta, χρόνια, ετών, שנים, ปี, साल, वर्ष, বছর, سنة, سنوات, عاما, عام, ani, miaka, 年, 年间, 年間, 岁, 歳, 才, 세, 살, 년
km | کیلومتر, کلومیٹر, கிலோமீட்டர், కిలోమీటర్లు, kilometara, kilometriä, kilometer, kilometern, kilomètre, kilomètres, kilómetro, kilómetros, quilômetro, quilômetros, quilómetros, chilometro, chilometri, километр, километра, километров, км, кілометрів, kilometr, kilometry, kilometrów, kilometrů, kilometre, χιλιόμετρα, χλμ, ק"מ, กิโลเมตร, กม, किलोमीटर, किमी, কিলোমিটার, কিমি, كيلومتر, كيلومترا, كيلومترات, كم, ki-lô-mét, kilomita, 千米, 公里, キロメートル, キロ, 킬로미터
m | متر, میٹر, மீட்டர், మీటర్లు, metara, metriä, méter, meter, metern, mètre, mètres, metro, metros, metri, метр, метра, метров, м, метрів, metr, metry, metrów, metrů, metre, mét, μέτρα, מטר, מטרים, เมตร, मीटर, मी, মিটার, متر, مترا, أمتار, م, mita, 米, 公尺, メートル, 미터
cm | سانتی‌متر, سانتیمتر, சென்டிமீட்டர், సెంటీమీటర్లు, centimetara, senttimetriä, zentimeter, zentimetern, centimètre, centimètres, centímetro, centímetros, centimetro, centimetri, сантиметр, сантиметра, сантиметров, см, сантиметрів, centymetr, centymetry, centymetrów, centimeter, centimetrů, santimetre, xăng-ti-mét, xentimét, εκατοστά, ס"מ, เซนติเมตร, ซม, सेंटीमीटर, सेमी, সেন্টিমিটার, সেমি, سنتيمتر, سنتيمترا, سنتيمترات, سم, sentimita, 厘米, 公分, センチメートル, センチ, 센티미터
mm | millimeter, millimètre, millimètres, milímetro, milímetros, millimetri, миллиметр, миллиметра, миллиметров, мм, milimetr, milimetry, milimetrów, milimetre, mi-li-mét, มิลลิเมตร, मिलीमीटर, মিলিমিটার, ملم, مليمتر, 毫米, ミリメートル, ミリ, 밀리미터
dm | dezimeter, décimètres, decímetros, decimetri, дециметров, дециметра, дм, decymetrów, 分米
kg | کیلوگرم, کیلو, کلوگرام, கிலோகிராம், கிலோ, కిలోగ్రాములు, కిలోలు, kilograma, kilogrammaa, kilogramot, kilogramm, kilogramme, kilogrammes, kilogramo, kilogramos, quilograma, quilogramas, quilos, kilos, chilogrammo, chilogrammi, chili, килограмм, килограмма, килограммов, кг, кілограмів, kilogram, kilogramy, kilogramów, kilogramů, ki-lô-gam, κιλά, ק"ג, กิโลกรัม, กก, किलोग्राम, किग्रा, किलो, কিলোগ্রাম, কেজি, كيلوغرام, كيلوغراما, كيلوغرامات, كيلوجرام, كيلوجراما, كيلوجرامات, كجم, كغم, كغ, كلغ, kilogramu, kilo, 千克, 公斤, キログラム, 킬로그램
g | گرم, گرام, கிராம், గ్రాములు, grama, grammaa, gramm, gramme, grammes, gramo, gramos, grama, gramas, grammo, grammi, грамм, грамма, граммов, г, грамів, gram, gramy, gramów, gramů, γραμμάρια, גרם, กรัม, ग्राम, গ্রাম, غرام, غراما, غرامات, جرام, جراما, جرامات, جم, غم, gramu, 克, グラム, 그램
mg | milligramm, milligrammes, miligramos, miligramas, milligrammi, миллиграмм, миллиграммов, мг, miligramów, 毫克, ミリグラム, 밀리그램
tonnes | tonne, tonnen, tonnes, tonelada, toneladas, tonnellate, тонна, тонны, тонн, т, tony, tấn, ตัน, टन, টন, طن, أطنان, 吨, 噸, トン, 톤
L | لیتر, لیٹر, லிட்டர், లీటర్లు, litara, litraa, liter, litern, litre, litres, litro, litros, litri, литр, литра, литров, л, літрів, litr, litry, litrów, litrů, lít, λίτρα, ליטר, ליטרים, ลิตร, लीटर, লিটার, لتر, لترا, لترات, lita, 升, 公升, リットル, 리터
ml | mililita, milliliter, millilitres, mililitros, millilitri, миллилитров, миллилитра, мл, mililitrów, mililít, มิลลิลิตร, मिलीलीटर, মিলিলিটার, مل, مليلتر, 毫升, ミリリットル, 밀리리터
cm^2 | ตร.ซม, ตรซม, см², кв см, quadratzentimeter, kvadratcentimeter, εκατοστά τετραγωνικά, 平方厘米, 平方公分, 平方センチメートル, 제곱센티미터, سنتيمترا مربعا, سنتيمتر مربع, سم مربع, ตารางเซนติเมตร, वर्ग सेमी, वर्ग सेंटीमीटर, বর্গসেমি, বর্গ সেমি, বর্গ সেন্টিমিটার, cm vuông, xăng-ti-mét vuông, cm persegi, santimetrekare, кв. см, см кв, квадратных сантиметров, квадратных сантиметра, centimètres carrés, cm carrés, centímetros cuadrados, centímetros quadrados, centimetri quadrati, cm quadrati, cm kwadratowych, centymetrów kwadratowych, vierkante centimeter
m^2 | ตร.ม, ตรม, quadratmeter, quadratmetern, kvadratmeter, τετραγωνικά μέτρα, 平方米, 平方公尺, 平方メートル, 제곱미터, مترا مربعا, متر مربع, أمتار مربعة, ตารางเมตร, वर्ग मीटर, বর্গমিটার, বর্গ মিটার, mét vuông, m vuông, meter persegi, metrekare, кв. м, м кв, квадратных метров, квадратных метра, mètres carrés, metros cuadrados, metros quadrados, metri quadrati, metrów kwadratowych, metry kwadratowe, vierkante meter
km^2 | quadratkilometer, 平方千米, 平方公里, 平方キロメートル, 제곱킬로미터, kilomètres carrés, kilómetros cuadrados, quilômetros quadrados, chilometri quadrati, квадратных километров, kilometrów kwadratowych, ki-lô-mét vuông, km vuông
mm^2 | quadratmillimeter, 平方毫米
dm^2 | quadratdezimeter, 平方分米
cm^3 | ลบ.ซม, ลบซม, ลูกบาศก์เซนติเมตร, kubikzentimeter, kubikcentimeter, 立方厘米, 立方センチメートル, 세제곱센티미터, centimètres cubes, centímetros cúbicos, centimetri cubi, кубических сантиметров, куб. см, centymetrów sześciennych, cm khối, xăng-ti-mét khối, سم مكعب, سنتيمترا مكعبا
m^3 | ลบ.ม, ลบม, ลูกบาศก์เมตร, kubikmeter, 立方米, 立方メートル, 세제곱미터, mètres cubes, metros cúbicos, metri cubi, кубических метров, куб. м, metrów sześciennych, mét khối, متر مكعب, مترا مكعبا
dm^3 | kubikdezimeter, 立方分米
km/h | กม./ชม, กมชม, กิโลเมตรต่อชั่วโมง, กิโลเมตร/ชั่วโมง, kilometer per uur, saatte kilometre, stundenkilometer, km/std, km/giờ, км/ч, км/год, км/час, км в час, километров в час, km/saat, km/jam, kmh, كم/ساعة, كم/س, كيلومترا في الساعة, किमी/घंटा, किमी प्रति घंटा, কিমি/ঘণ্টা, กม./ชม, 千米/时, 千米/小时, 公里/小时, 公里/时, kilómetros por hora, quilômetros por hora, chilometri all'ora, kilomètres par heure, kilometer pro stunde, kilometrów na godzinę, kilometer per uur, 千米每小时
m/s | м/с, م/ث, 米/秒, 米每秒, meter pro sekunde, mètres par seconde, metros por segundo, metri al secondo, метров в секунду, m/giây, m/saniye, m/detik, มีเตอร์/วินาที, เมตร/วินาที
° | grad, degré, degrés, grado, grados, grau, graus, gradi, градус, градуса, градусов, stopień, stopnie, stopni, graden, grader, derece, độ, derajat, fok, stupňů, astetta, grade, μοίρες, מעלות, องศา, डिग्री, अंश, ডিগ্রি, درجة, درجات, nyuzi, digrii, 度, 도
°C | grad celsius, degrés celsius, grados celsius, graus celsius, gradi celsius, градусов цельсия, stopni celsjusza, độ c, 摄氏度, องศาเซลเซียส, डिग्री सेल्सियस
rad | radiant, radiane, radianti, radián, radianes, radiano, radianos, радиан, радиана, радиан, radian, radiany, radianów, radialen, radianer, radyan, ra-đi-an, radianti, เรเดียน, रेडियन, রেডিয়ান, راديان, 弧度, ラジアン, 라디안
% | درصد, فیصد, சதவீதம், శాతం, porsiyento, posto, टक्के, prozent, pourcent, pour cent, por ciento, por cento, per cento, процент, процента, процентов, відсотків, procent, procenta, procentów, proc, procent, yüzde, phần trăm, persen, százalék, prosenttia, prosent, τοις εκατό, אחוז, אחוזים, เปอร์เซ็นต์, ร้อยละ, प्रतिशत, শতাংশ, في المئة, في المائة, بالمئة, بالمائة, asilimia, パーセント, 퍼센트, 프로
dollars | dólar, dólares, dollaro, dollari, доллар, доллара, долларов, доларів, dolar, dolary, dolarów, dollár, dollaria, dolari, đô la, đô-la, đôla, δολάρια, דולר, דולרים, ดอลลาร์, डॉलर, ডলার, دولار, دولارا, دولارات, dola, 美元, 美金, ドル, 달러
euros | евро, євро, eura, eurot, ευρώ, אירו, ยูโร, यूरो, ইউরো, يورو, yuro, euro, euros, 欧元, ユーロ, 유로
pounds sterling | pfund, libras, sterline, фунтов, funtów, 英镑, ポンド, 파운드
rubles | рубль, рубля, рублей, руб, р, рублів, rubel, rubli, rublos, roubles, 卢布
yen | иен, 日元, 円, 엔, jenów
yuan | юаней, юаня, 元, 块, 人民币, 위안
won | вон, 韩元, 원
rupees | روپے, روپیہ, ரூபாய், రూపాయలు, рупий, रुपये, रुपए, रुपया, रु, টাকা ভারতীয়, روبية, 卢比
taka | টাকা, tk
baht | บาท, бат, 泰铢
dong | đồng, vnđ, đ, донгов, 越南盾
zloty | złoty, złotych, złote, злотых, zloty, zlotych, злотий
grosz | grosze, groszy
cents | centavo, centavos, centesimi, centimes, céntimos, cêntimos, cent, cents, центов, centów, سنت, สตางค์, セント, 센트, 美分
reais | real, reais, реалов
pesos | pesos, песо
lira | lira, tl, лир
hryvnia | гривень, гривні, грн
rupiah | rupiah
shillings | shilingi, sh, shs, ksh, tsh, kes, tzs
Egyptian pounds | جنيه, جنيها, جنيهات
riyals | ريال, ريالا, ريالات
dinars | دينار, دينارا, دنانير
dirhams | درهم, درهما, دراهم
forint | forint
koruna | koruna, koruny, korun, kč
lei | lei, leu
shekels | שקל, שקלים, ש"ח
""")
"""Units, percent and currencies in lower case without their periods. English words that are the same are left out."""

MAGNITUDES = {
    word: value
    for value, words in {
        10**3: "tausend, mille, mil, mila, тысяча, тысячи, тысяч, тыс, тисяч, tysiąc, tysiące, tysięcy, tys, duizend, tusen, tusind, bin,"
        " nghìn, ngàn, ribu, ezer, tisíc, tuhatta, χιλιάδες, אלף, พัน, हज़ार, हजार, হাজার, ألف, آلاف, الف, elfu, 千, 천",
        10**4: "万, 萬, 만, หมื่น",
        10**5: "लाख, লাখ, লক্ষ, แสน",
        10**6: "million, millionen, mio, millions, millón, millones, milhão, milhões, milione, milioni, миллион, миллиона,"
        " миллионов, млн, мільйон, мільйони, мільйонів, milion, miliony, milionów, mln, miljoen, miljon, miljoner,"
        " millioner, milyon, triệu, juta, millió, milionů, miljoonaa, milioane, εκατομμύρια, מיליון, ล้าน, मिलियन,"
        " মিলিয়ন, مليون, ملايين, ملايين, 百万, 백만",
        10**7: "करोड़, करोड, কোটি, 千万, 천만",
        10**8: "亿, 億, 억",
        10**9: "milliarde, milliarden, mrd, milliard, milliards, mil millones, bilhão, bilhões, mil milhões, miliardo,"
        " miliardi, миллиард, миллиарда, миллиардов, млрд, miliard, miliardy, miliardów, mld, miljard, miljarder,"
        " milliarder, milyar, tỷ, tỉ, miliar, milliárd, miliarde, مليار, مليارات, 十亿, 十億, 십억",
        10**12: "兆, 조",
    }.items()
    for word in words.split(", ")
}  # fmt: skip
"""Words by which a number is multiplied."""

MONTHS = {
    word: english
    for english, words in {
        "January": "tammikuuta tammikuun enero januára januar siječnja siječanj јануара януари січня januara január januári tháng_1 ιανουαρίου ינואר जनवरी जानेवारी জানুয়ারি جنوری ژانویه มกราคม januari januar jänner janvier enero janeiro gennaio января январь stycznia styczeń januari ocak januari ianuarie ledna يناير",
        "February": "helmikuuta helmikuun februára veljače veljača февруари лютого február februára φεβρουαρίου פברואר फ़रवरी फरवरी फेब्रुवारी ফেব্রুয়ারি فروری فوریه กุมภาพันธ์ februar février febrero fevereiro febbraio февраля февраль lutego luty februari şubat februarie února فبراير",
        "March": "maaliskuuta maaliskuun marca ožujka ožujak березня március μαρτίου מרץ मार्च মার্চ مارچ مارس มีนาคม märz mars marzo março марта март marca marzec maart mart maret martie března مارس",
        "April": "huhtikuuta huhtikuun apríla travnja travanj април квітня április απριλίου אפריל अप्रैल एप्रिल এপ্রিল اپریل آوریل เมษายน april avril abril aprile апреля апрель kwietnia kwiecień nisan aprilie dubna أبريل",
        "May": "toukokuuta toukokuun mája svibnja svibanj травня května květen május μαΐου מאי मई مئی พฤษภาคม mai mayo maio maggio мая май maja maj mei mayıs května مايو",
        "June": "kesäkuuta kesäkuun júna lipnja lipanj юни червня června červen június ιουνίου יוני जून জুন جون ژوئن มิถุนายน juni juin junio junho giugno июня июнь czerwca czerwiec haziran iunie června يونيو",
        "July": "heinäkuuta heinäkuun júla srpnja srpanj юли липня července červenec július ιουλίου יולי जुलाई जुलै জুলাই جولائی ژوئیه กรกฎาคม juli juillet julio julho luglio июля июль lipca lipiec temmuz iulie července يوليو",
        "August": "elokuuta elokuun augusta kolovoza kolovoz серпня augusztus αυγούστου אוגוסט अगस्त ऑगस्ट আগস্ট اگست สิงหาคม august août agosto августа август sierpnia sierpień augustus augusti ağustos agustus srpna أغسطس",
        "September": "syyskuuta syyskuun septembra rujna rujan септември вересня szeptember σεπτεμβρίου ספטמבר सितंबर सितम्बर सप्टेंबर সেপ্টেম্বর ستمبر سپتامبر กันยายน september septembre septiembre setembro settembre сентября сентябрь września wrzesień eylül septembrie září سبتمبر",
        "October": "lokakuuta lokakuun októbra октомври жовтня október οκτωβρίου אוקטובר अक्टूबर अक्तूबर ऑक्टोबर অক্টোবর اکتوبر اکتبر ตุลาคม oktober octobre octubre outubro ottobre октября октябрь października październik ekim octombrie října أكتوبر",
        "November": "marraskuuta marraskuun novembra studenoga studeni ноември листопада november νοεμβρίου נובמבר नवंबर नवम्बर नोव्हेंबर নভেম্বর نومبر نوامبر พฤศจิกายน november novembre noviembre novembro ноября ноябрь listopada listopad kasım noiembrie listopadu نوفمبر",
        "December": "joulukuuta joulukuun decembra prosinca prosinac декември грудня december δεκεμβρίου דצמבר दिसंबर दिसम्बर डिसेंबर ডিসেম্বর دسمبر دسامبر ธันวาคม dezember décembre diciembre dezembro dicembre декабря декабрь grudnia grudzień december aralık desember decembrie prosince ديسمبر",
    }.items()
    for word in (form.replace("_", " ") for form in words.casefold().split())
}
WEEKDAYS = {
    word: english
    for english, words in {
        "Monday": "maanantai maanantaina ponedjeljak ponedeljak понеделник pondelok hétfőn יום_שני திங்கட்கிழமை సోమవారం دوشنبه thứ_hai montag lundi lunes segunda-feira lunedì понедельник poniedziałek maandag måndag mandag pazartesi senin 星期一 周一 礼拜一 月曜日 月曜 월요일 الاثنين الإثنين सोमवार সোমবার วันจันทร์ jumatatu pondělí hétfő luni понеділок isnin Δευτέρα",
        "Tuesday": "tiistai tiistaina utorak utorok kedden τρίτη יום_שלישי செவ்வாய்க்கிழமை మంగళవారం منگل سه‌شنبه thứ_ba dienstag mardi martes terça-feira martedì вторник wtorek dinsdag tisdag tirsdag salı selasa 星期二 周二 礼拜二 火曜日 火曜 화요일 الثلاثاء मंगलवार মঙ্গলবার วันอังคาร jumanne úterý kedd marți вівторок",
        "Wednesday": "keskiviikko keskiviikkona srijeda sreda сряда streda szerdán τετάρτη יום_רביעי புதன்கிழமை బుధవారం چهارشنبه thứ_tư miyerkules mittwoch mercredi miércoles quarta-feira mercoledì среда środa woensdag onsdag çarşamba rabu 星期三 周三 礼拜三 水曜日 水曜 수요일 الأربعاء बुधवार বুধবার วันพุธ jumatano středa szerda miercuri середа",
        "Thursday": "torstai torstaina четвъртък štvrtok csütörtökön četvrtak πέμπτη יום_חמישי வியாழக்கிழமை గురువారం جمعرات پنجشنبه پنج‌شنبه thứ_năm huwebes donnerstag jeudi jueves quinta-feira giovedì четверг czwartek donderdag torsdag perşembe kamis 星期四 周四 礼拜四 木曜日 木曜 목요일 الخميس गुरुवार बृहस्पतिवार বৃহস্পতিবার วันพฤหัสบดี alhamisi čtvrtek csütörtök joi четвер",
        "Friday": "perjantai perjantaina petak петък piatok pénteken παρασκευή יום_שישי வெள்ளிக்கிழமை శుక్రవారం جمعہ جمعه thứ_sáu biyernes freitag vendredi viernes sexta-feira venerdì пятница piątek vrijdag fredag cuma jumat 星期五 周五 礼拜五 金曜日 金曜 금요일 الجمعة शुक्रवार শুক্রবার วันศุกร์ ijumaa pátek péntek vineri п'ятниця",
        "Saturday": "lauantai lauantaina subota събота sobotu szombaton σάββατο יום_שבת שבת சனிக்கிழமை శనివారం شنبه thứ_bảy samstag sonnabend samedi sábado sabato суббота sobota zaterdag lördag lørdag cumartesi sabtu 星期六 周六 礼拜六 土曜日 土曜 토요일 السبت शनिवार শনিবার วันเสาร์ jumamosi sobota szombat sâmbătă субота",
        "Sunday": "sunnuntai sunnuntaina nedjelja nedelja nedeľa vasárnapon κυριακή יום_ראשון ஞாயிற்றுக்கிழமை ఆదివారం اتوار یکشنبه chủ_nhật sonntag dimanche domingo domenica воскресенье niedziela zondag söndag søndag pazar minggu 星期日 星期天 周日 礼拜天 日曜日 日曜 일요일 الأحد रविवार রবিবার วันอาทิตย์ jumapili neděle vasárnap duminică неділя",
    }.items()
    for word in (form.replace("_", " ") for form in words.casefold().split())
}
TRUTHS = {
    word: english
    for english, words in {
        "yes": "oo joo áno 能 可以 会 會 对的 是的 ja oui sí sì sim да так tak evet vâng có ya igen ano kyllä ναι כן ใช่ हाँ हां হ্যাঁ نعم ndiyo ndio 是 对 はい 네 예",
        "no": "ei όχι nie 不能 不可以 不会 不會 不是 nein non não нет ні nie nee nej nei hayır không tidak nem όχι לא ไม่ ไม่ใช่ नहीं না لا hapana siyo 否 いいえ 아니요 아니오",
        "true": "tosi σωστό αληθές αληθής točno tačno вярно istinito صحيحة صائبة درست صحیح உண்மை சரி నిజం ఒప్పు सच बरोबर खरे totoo істинно правильно истина правдивое correcto correcta correto corretto corretta korrekt korrekte 正しい wahr richtig vrai vraie verdadero verdadera verdadeiro verdadeira vero vera верно истинно правда prawda"
        " prawdziwe waar sant sann doğru đúng benar igaz pravda adevărat נכון אמת ถูก จริง ถูกต้อง सत्य सही সত্য صحيح صح kweli 正确"
        " 正確 真 真命题 真命題 正しい 참 맞다",
        "false": "epätosi λάθος ψευδές ψευδής netočno netačno невярно neistinito خاطئة نادرست غلط தவறு తప్పు झूठ चूक खोटे хибно хибне неправда неправильно incorrecto incorrecta incorreto incorreta errado errada scorretto sbagliato 错 不对 不對 错的 falsch faux fausse falso falsa неверно ложно ложь fałsz fałszywe onwaar falskt falsk yanlış sai salah hamis"
        " nepravda fals שקר ผิด เท็จ असत्य गलत মিথ্যা خطأ خاطئ si_kweli si_kweli 错误 錯誤 假 假命题 偽 偽命題 错误的 不正确 誤り 거짓 틀리다",
    }.items()
    for word in (form.replace("_", " ") for form in words.casefold().split())
}  # fmt: skip
"""Yes, no, true and false, each in the forms that a language has of it."""

AND = "und et y e i и й en och og ve và dan a és ja și und και ו และ और এবং و na 和 与 與 及 と 와 과 및".split()
OR = "oder ou o oppure или або lub albo of eller veya hoặc hay atau nebo vagy tai sau ή או หรือ या বা أو au 或 或者 または 또는".split()
"""What joins the values of a list."""

OPTION = (
    "ऑप्शन অপশন বিকল্প گزینه آپشن אפשרות סעיף விருப்பம் ఎంపిక ఆప్షన్ επιλογή opsyon titik herufi vaihtoehto opcija možnosť отговор opción opcion opção opcao opzione option l'option variante вариант варіант opcja optie alternativ alternativet seçenek şık"
    " phương_án đáp_án lựa_chọn câu pilihan opsi možnost varianta válasz ตัวเลือกที่ ตัวเลือก ข้อ विकल्प বিকল্প الخيار"
    " الاختيار alternativa letra ítem inciso lettera lettre buchstabe буква harf chaguo 选项 選項 選択肢 보기 antwort aussage affirmation afirmación afirmação affermazione утверждение"
).split()
"""Words before the letter or number of a choice."""
