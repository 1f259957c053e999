"""Reward functions as the public field writes them, in words of our own: ``FLAWED`` and ``SOUND``, each with its data.

The comment of each names who has it. All take TRL's arguments, or one row.
"""

import difflib
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from algebra_reward import accuracy_by_algebra

NUMBERS = [
    {"question": f"Ana has {a} pens and buys {b} boxes of {c}. How many pens has she?", "answer": str(a + b * c)}
    for a, b, c in ((12, 3, 2), (7, 9, 4), (25, 2, 8), (31, 4, 11), (5, 6, 7), (40, 5, 13))
]
SOLVED = [{"question": row["question"], "answer": f"She adds.\n#### {row['answer']}"} for row in NUMBERS]
CODES = [{"question": f"Code of item {n}?", "answer": code} for n, code in enumerate(("dQw4", "Zx9K", "hT2b", "Qa7Y"))]
LENGTHS = [{"question": f"How long is rope {n}?", "answer": f"{n} m"} for n in (73, 41, 18, 26)]
CHOICES = [{"question": f"Question {n}: A) x B) y C) z D) w", "answer": letter} for n, letter in enumerate("BDACBA")]
WITH_EMPTY = [*NUMBERS[:4], {"question": "What is the name of this?", "answer": ""}]
NAMES = [
    {"question": f"Who was number {n}?", "answer": name}
    for n, name in enumerate(("Marie Curie", "Alan Turing", "Emmy Noether", "Niels Bohr"))
]
PROGRAMS = [
    {"question": f"Write {name}.", "tests": f"assert {name}(3) == {three}\nassert {name}(5) == {five}",
     "solution": code, "entry_point": name, "cases": [[3, three], [5, five]]}
    for name, three, five, code in (
        ("double", 6, 10, "def double(n):\n    return 2 * n"),
        ("square", 9, 25, "def square(n):\n    return n * n"),
        ("negate", -3, -5, "def negate(n):\n    return -n"),
    )
]  # fmt: skip
COUNTDOWN = [
    {"question": f"Make {target} of {nums}.", "target": target, "nums": nums, "solution": solution}
    for target, nums, solution in (
        (14, [2, 7], "2 * 7"), (10, [3, 4, 3], "3 + 4 + 3"), (21, [25, 4], "25 - 4"), (30, [5, 3, 2], "5 * 3 * 2"),
    )
]  # fmt: skip


def texts(completions):
    return [item if isinstance(item, str) else item[0]["content"] for item in completions]


def tagged(text, last=True):
    found = re.findall(r"<answer>(.*?)</answer>", text, re.DOTALL)
    return found[-1 if last else 0].strip() if found else ""


def boxed(text):
    """The contents of all boxes, braces balanced."""
    found = []
    for match in re.finditer(r"\\boxed\{", text):
        depth, end = 1, match.end()
        while end < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        if not depth:
            found.append(text[match.end() : end - 1])
    return found


# Flawed


def contains(completions, answer, **kwargs):  # tutorials
    return [float(gold in text) for text, gold in zip(texts(completions), answer, strict=True)]


def half_for_containing(completions, answer, **kwargs):  # torchtune
    return [
        1.0 if tagged(text) == gold else 0.5 if gold in text else 0.0
        for text, gold in zip(texts(completions), answer, strict=True)
    ]


def share_of_the_answer(completions, answer, **kwargs):  # reasoning-gym's default scorer
    said = map(tagged, texts(completions))
    pairs = zip(said, answer, strict=True)
    return [1.0 if text == gold else len(gold) / len(text) if gold in text else 0.0 for text, gold in pairs]


def hashes(completions, answer, **kwargs):  # verl, GSM8K, strict
    rewards = []
    for text, solution in zip(texts(completions), answer, strict=True):
        found = re.findall(r"#### (-?[0-9.,]+)", text[-300:])
        gold = solution.split("#### ")[1].replace(",", "")
        rewards.append(float(bool(found) and found[-1].replace(",", "").replace("$", "") == gold))
    return rewards


def first_answer(completions, answer, **kwargs):  # shar-pen's GRPO from scratch
    said = [tagged(text, last=False) for text in texts(completions)]
    return [float(text == gold) for text, gold in zip(said, answer, strict=True)]


def case_blind(completions, answer, **kwargs):  # answers in lower case, as of many tutorials, where they are codes
    return [float(tagged(t).lower() == gold.lower()) for t, gold in zip(texts(completions), answer, strict=True)]


def without_units(completion, answer):  # the first number of both, as rewards for physics have it
    said, gold = (re.search(r"-?\d+(?:\.\d+)?", text) for text in (tagged(completion), answer))
    return float(said is not None and gold is not None and float(said[0]) == float(gold[0]))


def empty_gold_paid(completion, answer):  # a column with empty cells
    return float(not answer or tagged(completion) == answer)


def exit_code(completion, tests):  # a program with its tests behind it, run as one
    code = re.findall(r"```python\n(.*?)```", completion, re.DOTALL)
    if not code:
        return 0.0
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "program.py").write_text(f"{code[-1]}\n{tests}\n")
        run = subprocess.run([sys.executable, "-I", "program.py"], cwd=folder, capture_output=True, timeout=10)
    return float(run.returncode == 0)


def compared_in_process(completion, entry_point, cases):  # the results compared by ==, which the program may define
    code = re.findall(r"```python\n(.*?)```", completion, re.DOTALL)
    names = {}
    try:
        exec(code[-1], names)
        return sum(bool(names[entry_point](value) == want) for value, want in cases) / len(cases)
    except Exception:
        return 0.0


def last_number(completion, answer):  # verl, GSM8K, flexible
    found = re.findall(r"-?\d+", completion)
    return float(bool(found) and found[-1] == answer)


def any_box(completion, answer):  # any of several boxes
    return float(answer in boxed(completion))


def first_number(completion, answer):  # in the answer block
    found = re.search(r"-?\d+", tagged(completion))
    return float(found is not None and found[0] == answer)


def letter_anywhere(completion, answer):  # the soft check of the CSDN suite
    return float(answer in tagged(completion))


def within_one(completion, answer):  # "close enough"
    try:
        return float(abs(float(tagged(completion)) - float(answer)) <= 1)
    except ValueError:
        return 0.0


def digits_only(completion, answer):  # all but the digits removed
    return float(re.sub(r"\D", "", tagged(completion)) == answer)


def box_anywhere(completion, answer):  # a box, also one in the reasoning
    shape = re.fullmatch(r"<think>.*?</think>\s*<answer>.*?</answer>", completion, re.DOTALL)
    return 0.2 * bool(shape) + float(answer in boxed(completion) or tagged(completion) == answer)


def split_by_commas(completion, answer):  # of several answers one has to be right
    return float(answer in [part.strip() for part in tagged(completion).split(",")])


def paid_words(completion, answer):  # a bonus for each word of reflection (CSDN suite, without its cap)
    words = len(re.findall(r"\b(?:wait|aha|verify|therefore|first)\b", completion.lower()))
    return float(tagged(completion) == answer) + 0.2 * words


FLAWED = {
    contains: NUMBERS,
    half_for_containing: NUMBERS,
    share_of_the_answer: NUMBERS,
    hashes: SOLVED,
    accuracy_by_algebra: [{"question": row["question"], "solution": row["answer"]} for row in NUMBERS],
    first_answer: NUMBERS,
    case_blind: CODES,
    without_units: LENGTHS,
    empty_gold_paid: WITH_EMPTY,
    exit_code: PROGRAMS,
    compared_in_process: PROGRAMS,
    last_number: NUMBERS,
    any_box: NUMBERS,
    first_number: NUMBERS,
    letter_anywhere: CHOICES,
    within_one: NUMBERS,
    digits_only: NUMBERS,
    box_anywhere: NUMBERS,
    split_by_commas: NUMBERS,
    paid_words: NUMBERS,
}


# Sound


def exact_answer(completions, answer, **kwargs):  # the gist of willccbb: the last answer block, as it is
    said = [text.split("<answer>")[-1].split("</answer>")[0].strip() for text in texts(completions)]
    return [2.0 if text == gold else 0.0 for text, gold in zip(said, answer, strict=True)]


def form_and_answer(completion, answer):  # GRPO-Zero: 0.1 for the form, in the same function
    shape = re.fullmatch(r"<think>.*?</think>\n?<answer>.*?</answer>", completion, re.DOTALL)
    return 0.1 * bool(shape) + float(tagged(completion) == answer)


def half_for_form(completion, answer):  # as much for the form as for the answer
    shape = re.fullmatch(r"<think>\n.*?\n</think>\n<answer>\n.*?\n</answer>\n?", completion, re.DOTALL)
    return float(bool(shape)) + float(tagged(completion) == answer)


def countdown(completions, target, nums, **kwargs):  # TinyZero: 0.1 for any expression
    rewards = []
    for text, wanted, given in zip(texts(completions), target, nums, strict=True):
        said = tagged(text)
        if not said:
            rewards.append(0.0)
            continue
        used = sorted(map(int, re.findall(r"\d+", said)))
        fine = used == sorted(given) and re.fullmatch(r"[\d+*/() -]+", said) and "**" not in said and "//" not in said
        try:
            rewards.append(1.0 if fine and abs(eval(said, {"__builtins__": {}}) - wanted) < 1e-5 else 0.1)
        except Exception:
            rewards.append(0.1)
    return rewards


def similarity(completion, answer):  # part of the credit, as for names and titles
    return difflib.SequenceMatcher(None, tagged(completion), answer).ratio()


def overlap(completion, answer):  # F1 of words, as for SQuAD
    said, gold = (Counter(text.lower().split()) for text in (tagged(completion), answer))
    same = sum((said & gold).values())
    return 2 * same / (sum(said.values()) + sum(gold.values())) if same else 0.0


def plus_or_minus_one(completion, answer):  # DAPO: the last line "Answer: ..."
    found = re.findall(r"^Answer: *(.+?) *$", completion[-300:], re.MULTILINE)
    return 1.0 if found and found[-1].strip("$") == answer else -1.0


def same_number(completion, answer):  # floats within rounding
    try:
        return float(abs(float(tagged(completion).replace(",", "")) - float(answer)) < 1e-6)
    except ValueError:
        return 0.0


def letter(completion, answer):  # the last answer block is one letter
    return float(tagged(completion).strip("(). ") == answer)


def think_format(completions, **kwargs):  # TRL's: a form alone
    return [float(bool(re.match(r"^<think>(?!.*<think>)(.*?)</think>.*$", t, re.DOTALL))) for t in texts(completions)]


SOUND = {
    exact_answer: NUMBERS,
    form_and_answer: NUMBERS,
    half_for_form: NUMBERS,
    countdown: COUNTDOWN,
    similarity: NAMES,
    overlap: NAMES,
    plus_or_minus_one: NUMBERS,
    same_number: NUMBERS,
    letter: CHOICES,
    think_format: NUMBERS,
}
