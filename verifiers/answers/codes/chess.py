"""Chess moves: ``1. Nf3`` and Knight to f3, ``Qxe5+`` and queen takes e5, ``O-O`` and kingside castling."""

from __future__ import annotations

import re
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

MAX_MOVES = 60

MOVE = lazy_compile(
    r"(?:[KQRBN][a-h]?[1-8]?x?[a-h][1-8]|[a-h](?:x[a-h])?[1-8](?:=?[QRBN])?|[O0]-[O0](?:-[O0])?)[+#]?[!?]{0,2}"
)
_LONG = lazy_compile(r"([KQRBN]?)[a-h][1-8] ?([x-]) ?([a-h][1-8])([+#]?)|([a-h])[1-8](\5[1-8])|([KQRBN])-([a-h][1-8])")
_NUMBER = lazy_compile(r"(?<![\w-])(\d{1,3})\.(\.\.)? ?")
_ANNOTATED = lazy_compile(r"(.+?)([+#])?[!?]{0,2}")
_GLOSSED = lazy_compile(r"([^(),]{2,40})(?: \(|, )([^(),]{2,40})\)?")
_CHECK = {"check": "+", "checkmate": "#", "mate": "#"}
_SPOKEN = lazy_compile(
    r"(?:the )?(?P<piece>king|queen|rook|bishop|knight|pawn)(?: (?:moves )?to| (?P<takes>takes|captures)(?: on)?)? "
    r"(?P<square>[a-h][1-8])(?:,? (?:with )?(?P<check>check|checkmate|mate))?",
    re.IGNORECASE,
)
_PIECES = {"king": "K", "queen": "Q", "rook": "R", "bishop": "B", "knight": "N", "pawn": ""}
_SIDE = r"(?P<side>king-?side|queen-?side|short|long)"
_CASTLING = lazy_compile(
    rf"(?:(?:white|black) )?(?:castl(?:e|es|ing) {_SIDE}|{_SIDE.replace('side>', 'before>')} castl(?:e|ing))",
    re.IGNORECASE,
)


class Moves(NamedTuple):
    """Moves in their usual letters, each with its sign for check, which may be left out, as may the first number."""

    moves: tuple[str, ...]
    signs: tuple[str, ...]
    number: str


def read_moves(text: str) -> Moves | None:
    """The moves that a text in the spelling of ``codes.plain`` is, perhaps with one of them again in words."""
    if len(text) > 8 * MAX_MOVES:
        return None
    if match := _GLOSSED.fullmatch(text):
        one, other = _single(match[1]), _single(match[2])
        if one and other and " " in match[1] + match[2] and (same_moves(one, other) or same_moves(other, one)):
            return max(one, other, key=lambda moves: moves.signs)
    if spoken := _single(text):
        return spoken
    first = _NUMBER.match(text)
    moves = _NUMBER.sub("", text).replace(",", " ").split()
    if not 1 <= len(moves) <= MAX_MOVES or not all(map(MOVE.fullmatch, moves)):
        return None
    parts = [match.groups(default="") for move in moves if (match := _ANNOTATED.fullmatch(move))]
    number = f"{first[1]}{first[2] or '.'}" if first else ""
    return Moves(tuple(move.replace("0", "O") for move, _ in parts), tuple(sign for _, sign in parts), number)


def same_moves(gold: Moves, answer: Moves) -> bool:
    """Whether an answer's moves are those of a gold answer. It may leave out the sign for check, but not add it."""
    if gold.moves != answer.moves or (gold.number and answer.number and gold.number != answer.number):
        return False
    return all(sign in ("", expected) for sign, expected in zip(answer.signs, gold.signs, strict=True))


def _single(text: str) -> Moves | None:
    """A move in words, or one without a number."""
    if castling := _CASTLING.fullmatch(text):
        is_short = (castling["side"] or castling["before"]).lower()[0] in "ks"
        return Moves(("O-O" if is_short else "O-O-O",), ("",), "")
    if match := _SPOKEN.fullmatch(text):
        piece, takes = _PIECES[match["piece"].lower()], match["takes"] is not None
        if takes and not piece:  # which pawn takes is not said
            return None
        move = f"{piece}{'x' if takes else ''}{match['square'].lower()}"
        return Moves((move,), (_CHECK[match["check"].lower()] if match["check"] else "",), "")
    if (match := _LONG.fullmatch(text)) and (match[1] or match[2] != "x"):  # Ng1-f3, e2e4, N-f3
        piece, capture = match[1] or match[7] or "", "x" if match[2] == "x" else ""
        return Moves((f"{piece}{capture}{match[3] or match[6] or match[8]}",), (match[4] or "",), "")
    move, _, word = text.removeprefix("the move ").partition(" ")
    sign = _CHECK.get(word.lower(), "")
    if not MOVE.fullmatch(move) or (word and not sign):
        return None
    match = _ANNOTATED.fullmatch(move)
    return match and Moves((match[1].replace("0", "O"),), (sign or match[2] or "",), "")
