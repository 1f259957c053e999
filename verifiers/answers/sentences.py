"""What a short sentence says: "White plays e4.", "The meeting is on 5 March 2024.", "John Smith won the race."

Only the whole of what the sentence says is read, and only if the sentence cannot mean anything else: its verb is one
that gives a value, and no word of it denies, doubts, compares, counts, corrects or speaks of something past or other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .extract.statements import UNSURE

MAX_LENGTH = 160
MAX_SUBJECT = 8  # words before the verb

_AGAINST = re.compile(
    rf"{UNSURE.pattern}|\b(?:old|older|previous\w*|former\w*|initial\w*|original\w*|earlier|later|first|second|third"
    r"|last|next|other|others|another|rest|instead|rather|until|till|before|after|since|unlike|contrary|opposite"
    r"|wrong\w*|incorrect\w*|false\w*|invalid|mistak\w*|error|errors|myth|trap|guess\w*|suppos\w*|assum\w*|if|used to"
    r"|would (?:have|be)|should have|think|thinks|thought|believe\w*|seems?|appears?|looks?|hopes?|claims?|claimed|expect\w*"
    r"|estimat\w*|likely|unlikely|unsure|uncertain|unclear|almost|nearly|roughly|around|approximately|close"
    r"|bounds?|limits?|maximum|minimum|most|least|worst|candidates?|approximations?|difference|reciprocal|inverse"
    r"|negation|complement|remainder of|half|halves|twice|double|triple|thrice|times|minus|negative|plus|more|less"
    r"|fewer|over|under|above|below|beyond|between|from|each|every|per|apiece|percent|short|missing|left over|extra"
    r"|additional|also|both|too|wait|actually|sorry|correction|hmm|however|though|although|yet|only|avoid\w*"
    r"|reject\w*|exclud\w*|eliminat\w*|discard\w*|cancel\w*|postpon\w*|skip\w*|fail\w*|lack\w*|refus\w*|den(?:y|ies|ied)"
    r"|lost|lose|loses|forgot\w*|stop\w*|quit|left out|remov\w*|question|example|answers?|one of|none)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:zero|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million)\b", re.I
)
_VERB = (
    r"(?:is|are|was|were|'s|’s|will be|must be|should be|has to be|comes? to|came to|adds up to|amounts? to|amounted to"
    r"|works out (?:to|at)|costs?|takes?|took|lasts?|lasted|weighs?|weighed|measures?|measured|contains?|contained|has"
    r"|have|had|holds?|held|leaves?|departs?|departed|arrives?|arrived|starts?|started|begins?|began|opens?|opened"
    r"|closes?|closed|ends?|ended|finish(?:es|ed)?|runs?|ran|plays?|played|listens?|uses?|used|needs?|needed|requires?"
    r"|required|reads?|shows?|showed|says?|said|displays?|displayed|receives?|received|gets?|got|earns?|earned|scores?"
    r"|scored|won|wins?|sells?|sold|pays?|paid|spends?|spent|saves?|saved|makes?|made|totals?|totalled|totaled|equals?"
    r"|lives?|lived|sits?|stands?|stayed|meets?|met|happens?|happened|occurs?|occurred|falls?|fell|goes|went|drove"
    r"|walked|travel(?:s|led|ed)?|covers?|covered|gives?|gave|returns?|returned|outputs?|prints?|printed|yields?"
    r"|produces?|produced|raises?|raised|throws?|threw|expires?|drew|tied|beat|works?|worked|visits?|visited|buys?"
    r"|bought|eats?|ate|sees?|saw|wears?|wore|speaks?|orders?|ordered|chose|picked|recommends?|mentions?|mentioned)"
)
_THEN = (
    r"(?: (?:exactly|now|therefore|thus|precisely|just|called|named|located|scheduled|set|due|held|written|marked"
    r"|labelled|labeled|situated|available|equal to|a total of|at|on|in|for|with))*"
)
_SUBJECT = (
    r"(?:[Tt]he|[Aa]n?|[Tt]h(?:is|at|ese|ose)|[Ii]ts?|[Hh]e|[Ss]he|[Tt]hey|[Ww]e|I|[Yy]ou|[Mm]y|[Yy]our|[Hh](?:is|er)"
    r"|[Oo]ur|[Tt]heir|[Tt]here|[A-Z][a-z]+)"
)
_STATES = re.compile(
    rf"(?P<subject>{_SUBJECT}(?: [A-Za-z][a-z'’-]*){{0,{MAX_SUBJECT}}}?)(?: |(?=['’]s )){_VERB}{_THEN}:? (?P<rest>\S.*)"
)
_COMMAND = re.compile(
    r"(?:(?:You should |Please )?(?:turn|bake|cook|heat|choose|pick|select|take|use|enter|type|press|dial|call|visit|run"
    r"|go(?: to)?|move|play|answer|open|send)|I(?: would|'d)? (?:choose|pick|select|recommend|go with))"
    r"(?: (?:at|to|with|on))? (?P<rest>\S.*)",
    re.IGNORECASE,
)
_CLEFT = re.compile(r"[Ii]t (?:is|was) (?P<rest>\S.{0,60}?) (?:who|that|which) (?P<tail>[a-z][a-z ]{2,60})")
_INVERTED = re.compile(
    r"(?P<rest>\S.{0,60}?) (?P<tail>(?:is|was|are|were) (?:(?:the|my|his|her|our|your|their|its) [a-z][a-z ]{2,60}"
    r"|thrown|raised|returned|used|shown|displayed|printed|chosen|selected|played)"
    r"|(?:won|wins|did|wrote|invented|discovered|painted|scored|made|said)(?: [a-z]+){0,6})"
)
_TAIL = re.compile(r" (?:to|in|on|at|for|of|with) (?P<tail>[a-z][a-z' -]*(?:[A-Z][a-z]+)?)\Z")


def stated(gold: str, text: str) -> Iterator[str]:
    """What a sentence says is the answer, if it says one thing: all that follows its verb, or that without its end."""
    text = " ".join(text.split()).rstrip(".! ")
    if len(text) > MAX_LENGTH or " " not in text or not text[:1].isalnum() or "?" in text:
        return
    for pattern in (_CLEFT, _STATES, _COMMAND, _INVERTED):
        if match := pattern.fullmatch(text):
            around = f"{text[: match.start('rest')]} {match.groupdict().get('tail') or ''}"
            if not _AGAINST.search(around) and not _NUMBER.search(around):
                yield from (rest for rest in _without_tail(match["rest"]) if _is_plain(gold, rest))
                return


def _is_plain(gold: str, rest: str) -> bool:
    """Whether what is said has no word against it that the gold answer does not have."""
    return _AGAINST.search(rest) is None or _AGAINST.search(gold) is not None


def _without_tail(rest: str) -> Iterator[str]:
    """``45 minutes to get there``, and ``45 minutes``."""
    yield rest
    if (match := _TAIL.search(rest)) and not _NUMBER.search(match["tail"]) and not _AGAINST.search(match["tail"]):
        yield rest[: match.start()]
