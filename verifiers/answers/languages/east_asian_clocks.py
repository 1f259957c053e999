# ruff: noqa: E501, SIM905  (words of other languages)
"""Times of day in words of Chinese, Japanese, Korean and Thai: 下午三点半, 午後3時, 오후 세 시, บ่ายสามโมง."""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from .clock_words import SpokenClock, clock_time, one_of
from .counting import numbers_below
from .numerals import in_figures

DIGIT = lazy_compile(r"\d")
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
    rf"(?P<part>{one_of(_EAST_PARTS)})?的? ?(?:差(?P<to>一刻|(?:{_SINO})分钟?)(?:到)?)?(?P<hour>{_SINO})(?:[点點]|时(?!间))(?:(?P<half>半)|(?P<quarter>[一三])刻|过?(?P<minute>{_SINO})分?"
    rf"|差(?P<less>一刻|(?:{_SINO})分)|(?P<sharp>[钟鐘整正]))?(?![钟鐘\d一二三四五六七八九十])"
)
_JAPANESE_TIME = lazy_compile(
    rf"(?P<part>{one_of(_EAST_PARTS)})?の? ?(?P<hour>{_SINO})時(?!間)(?:(?P<half>半)|(?P<minute>{_SINO})分(?P<before>前)?|(?P<sharp>ちょうど))?(?![間前過ごす頃])"
)
_KOREAN_TIME = lazy_compile(
    rf"(?P<part>{one_of(_EAST_PARTS)})? ?(?P<hour>{one_of(_KOREAN_HOURS)}|\d{{1,2}}) ?시(?!간)(?: ?(?P<half>반)| ?(?P<minute>[일이삼사오육칠팔구십]{{1,3}}|\d{{1,2}}) ?분(?P<before> ?전)?)?(?! ?(?:전|쯤|경|이후|부터|까지))"
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
UNSPACED = lazy_compile("[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_THAI = lazy_compile("[\u0e00-\u0e7f]")
_CHINESE_POINT = lazy_compile("[点點时]")


def east_asian(text: str, whole: bool) -> SpokenClock | None:
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
    if DIGIT.search(in_figures(rest) or rest):
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
