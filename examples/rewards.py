"""Twelve reward functions of public tutorials, written again with TRL's signature, and what scores the same here.

grpo_env score examples/rewards.yaml COMPLETIONS.jsonl
grpo_env train examples/rewards.yaml

They are here as they are taught, faults included, for runs that are to be compared with a tutorial's; ``rewards.yaml``
has each of them beside the verifier that pays for the same thing, and their docstrings say where the two differ. Tags
are ``<think>`` and ``<answer>``. ``answer`` is the gold answer.

Sources: the five GSM8K rewards of willccbb's gist (correctness to xml_count), the multiple-choice tutorials after it
(boxed_letter to keywords), and open-r1 (tag_count, and reasoning_steps to repetition).
"""

import math
import re

KEYWORDS = ("row", "column", "sum", "unique", "digit", "no repeat", "clue")


def texts(completions):
    """The text of each completion, which is a list of one message."""
    return [messages[0]["content"] for messages in completions]


def block(text):
    """What stands after the last ``<answer>``, up to the next ``</answer>``: the whole text if there are no tags."""
    return text.rpartition("<answer>")[2].partition("</answer>")[0].strip()


def correctness(completions, answer, **kwargs):
    """2 if the answer block is the gold answer, letter by letter.

    Differs from ``accuracy``: 42.0, $42 and 1,000 are wrong for 42, 42 and 1000, and a bare gold answer without any
    tag is right.
    """
    return [2.0 if block(text) == gold else 0.0 for text, gold in zip(texts(completions), answer, strict=True)]


def whole_number(completions, **kwargs):
    """0.5 if the answer block has only digits.

    Differs from ``integer_answer``: -5 and 1,000 are none, and 5² is one.
    """
    return [0.5 if block(text).isdigit() else 0.0 for text in texts(completions)]


def strict_format(completions, **kwargs):
    """0.5 for both blocks with each tag on a line of its own, and a line end after the last.

    Differs from ``strict_format``: reasoning of two lines scores 0, and so does a text that ends with its last tag.
    """
    form = re.compile(r"<think>\n.*\n</think>\n<answer>\n.*\n</answer>\n\Z")
    return [0.5 if form.match(text) else 0.0 for text in texts(completions)]


def soft_format(completions, **kwargs):
    """0.5 for both blocks at the start of the text, with nothing but white space between them.

    Differs from ``soft_format``: all or nothing, reasoning of two lines scores 0, and empty blocks are enough.
    """
    form = re.compile(r"<think>.*</think>\s*<answer>.*</answer>")
    return [0.5 if form.match(text) else 0.0 for text in texts(completions)]


def xml_count(completions, **kwargs):
    """0.125 for each tag that is there once with its line ends, less 0.001 for each character after the last.

    Differs from ``tag_count`` with a ``trailing_penalty``: the two tags of the answer each take the penalty; without a
    closing tag, or with one that ends the text, all of the text counts as what follows it; and the value has no lower
    bound.
    """
    return [_xml_count(text) for text in texts(completions)]


def _xml_count(text):
    value = 0.125 * (text.count("<think>\n") == 1) + 0.125 * (text.count("\n</think>\n") == 1)
    if text.count("\n<answer>\n") == 1:
        value += 0.125 - 0.001 * len(text.split("\n</answer>\n")[-1])
    if text.count("\n</answer>") == 1:
        value += 0.125 - 0.001 * (len(text.split("\n</answer>")[-1]) - 1)
    return value


def boxed_letter(completions, answer, **kwargs):
    r"""2 if the first ``\boxed{A}`` to ``\boxed{D}`` in an answer block is the gold letter; nothing for other golds.

    Differs from ``choice`` with the sources ``boxed`` and ``answer_tag`` under ``all_of``: of two boxes the first
    decides, and what else the block says does not count.
    """
    found = [re.search(r"<answer>.*?\\boxed\{([A-D])\}.*?</answer>", text, re.DOTALL) for text in texts(completions)]
    right = [2.0 if box and box[1] == gold else 0.0 for box, gold in zip(found, answer, strict=True)]
    return [value if gold in ("A", "B", "C", "D") else None for value, gold in zip(right, answer, strict=True)]


def reasoning_length(completions, **kwargs):
    """0.25, 0.5 or 0.75 from 20, 50 or 100 words in the reasoning, as white space separates them.

    Differs from ``reasoning_length``: Chinese without spaces is one word, and so is a lone dash.
    """
    reasoning = [re.search(r"<think>(.*?)</think>", text, re.DOTALL) for text in texts(completions)]
    counts = [len(found[1].split()) if found else 0 for found in reasoning]
    return [0.25 * sum(count >= tier for tier in (20, 50, 100)) for count in counts]


def keywords(completions, **kwargs):
    """0.1 for each keyword in the reasoning, up to 0.5.

    Differs from ``keywords``: "summer" has "sum" in it, and a bare list of keywords is paid.
    """
    reasoning = [text.lower().partition("<think>")[2].partition("</think>")[0] for text in texts(completions)]
    return [min(0.5, 0.1 * sum(word in text for word in KEYWORDS)) for text in reasoning]


def tag_count(completions, **kwargs):
    """0.25 for each of the four tags that is there once with its line ends.

    Differs from ``tag_count``: tags inside a line and after CRLF do not count, and those of empty blocks do.
    """
    tags = ("<think>\n", "\n</think>\n", "\n<answer>\n", "\n</answer>")
    return [0.25 * sum(text.count(tag) == 1 for tag in tags) for text in texts(completions)]


def reasoning_steps(completions, **kwargs):
    """A third for each marker of a step, up to 1.

    Differs from ``reasoning_steps``: markers count without a step behind them and also in the answer, of a numbered
    list only the first number does, and transitions need a capital and a comma.
    """
    marker = re.compile(r"Step \d+:|\A\d+\.|\n[-*]|(?:First|Second|Next|Finally),")
    return [min(1.0, len(marker.findall(text)) / 3) for text in texts(completions)]


def cosine_length(completions, answer, max_length=1000, **kwargs):
    """1 to 0.5 for right answers and -1 to -0.5 for wrong ones, by their length: a cosine.

    Differs from ``cosine_length``: it counts characters, not tokens, and beyond ``max_length`` it rises again.
    """
    values = []
    for text, gold in zip(texts(completions), answer, strict=True):
        wave = math.cos(math.pi * len(text) / max_length)
        values.append(0.75 + 0.25 * wave if block(text) == gold else -0.75 - 0.25 * wave)
    return values


def repetition(completions, size=3, **kwargs):
    """Minus the fraction of sequences of three words that have occurred before.

    Differs from ``repetition``: Chinese without spaces has no such sequences, and tags and punctuation count.
    """
    values = []
    for text in texts(completions):
        words = text.lower().split()
        sequences = [tuple(words[start : start + size]) for start in range(len(words) - size + 1)]
        values.append(len(set(sequences)) / len(sequences) - 1 if sequences else 0.0)
    return values
