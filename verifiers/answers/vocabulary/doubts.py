r"""Words that deny, doubt, correct or only try what a text says, for patterns such as rf"\b(?:{DENIES})\b".

Each reader adds the words that count in its place only.
"""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

DENIES = r"not|never|neither|nor|cannot|except"
NOT = r"n['\u2019]t\b"
"""The end of "isn't"."""
DOUBTS = r"maybe|perhaps|probabl[ey]|possibl[ey]|possibility|might|guess\w*"
LEAVES_OPEN = r"or|either|whether|if|unless"
WRONG = r"wrong\w*|incorrect\w*|false\w*|mistak\w*"
CORRECTS = r"wait|actually|correction|sorry|however|instead|rather"
RULES_OUT = r"avoid\w*|reject\w*|exclud\w*|eliminat\w*|discard\w*"
TRIES = (
    r"let|suppos\w*|assum\w*|consider\w*|try|tries|tried|trying|tests?|testing|check\w*|substitut\w*|plug\w*"
    r"|given|start\w*|beg[aiu]n\w*"
)
EARLIER = r"previous\w*|former\w*|initial\w*|original\w*|earlier"
NEARLY = r"roughly|about|around|approximately|nearly|almost"

MONTH = lazy_compile(r"\bMay(?=,? \d)|(?<=[\dhnfdt] )May\b")
"""The month of May, which ``UNSURE`` takes for a doubt."""
UNSURE = lazy_compile(
    rf"\b(?:{DENIES}|{DOUBTS}|{LEAVES_OPEN}|{WRONG}|no|none|without|when|where|because|than|but|about|could|may)\b|{NOT}|\?",
    re.IGNORECASE,
)
"""What makes a sentence no plain statement."""
