# ruff: noqa: E501, RUF001  (words of other languages)
"""Numbers and years in Chinese, Japanese and Korean: 千二百, 오천, 二〇二四年, 昭和39年."""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

_UNSPACED = lazy_compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
DIGITS = {
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
_PART_OF = lazy_compile(
    r"(?P<bottom>[一二三四五六七八九十]+|(?:[이삼사오육칠팔구]?십)?[일이삼사오육칠팔구]?)\s?[分분][之의の]\s?(?P<top>[一二三四五六七八九十]+|(?:[이삼사오육칠팔구]?십)?[일이삼사오육칠팔구]?)"
)


def in_our_years(text: str) -> str:
    """A text with years of the Japanese, Chinese and Thai calendars in ours: ``1964年`` for 昭和39年, 1932 for พ.ศ. 2475."""

    def ours(match: re.Match[str]) -> str:
        if match["era"]:
            return f"{_ERAS[match['era']] + (1 if match['year'] == '元' else int(match['year']))}年"
        return str(int(match["be"]) - 543) if match["be"] else match["ce"]

    return _YEAR_OF_ERA.sub(ours, text)


def in_east_asian_figures(text: str) -> str | None:
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
        elif sign in DIGITS:
            if digit:
                return None
            digit = DIGITS[sign]
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
