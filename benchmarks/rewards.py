"""The tables of rewards in docs/comparison.md: the same completions scored by TRL, Open-R1 and this project.

    /tmp/peers/bin/python benchmarks/rewards.py

Run it in the environment of ``requirements.txt``, which contains this project too.
"""

from __future__ import annotations

import re

from grpo_env import Score, load_task

FORM = "<think>\n9*2=18\n</think>\n<answer>\n18\n</answer>"
# From open_r1/rewards.py, which cannot be installed next to these packages.
OPEN_R1 = re.compile(r"^<think>\n.*?\n</think>\n<answer>\n.*?\n</answer>$", re.DOTALL | re.MULTILINE)

ANSWERS = (  # gold, completion
    ("4", r"\boxed{4}"),
    ("4", "The answer is 4."),
    ("4", r"<think>\boxed{4}</think> I don't know"),
    ("4", r"It is not \boxed{4}"),
    ("4", r"\boxed{2+2}"),
    ("4", r"\boxed{3}. No, \boxed{4}"),
    (r"$\pi$", r"\boxed{3.14159265}"),
    ("1000", r"\boxed{1e3}"),
    ("0.5", r"\boxed{\frac12}"),
    ("(1,2)", r"\boxed{(1,2)}"),
    (r"$[3,\infty)$", r"\boxed{x \ge 3}"),
    (r"$\{1,2\}$", r"\boxed{(1,2)}"),
)
FORMS = {
    "the form": FORM,
    "the form, then more text": f"{FORM}\nand more",
    "two reasoning blocks": f"<think>\na\n</think>\n{FORM}",
    "two answer blocks": f"{FORM}\n<answer>\n17\n</answer>",
    "empty blocks": "<think>\n\n</think>\n<answer>\n\n</answer>",
    "`<think>` written by the chat template": FORM.removeprefix("<think>"),
    "CRLF line ends": FORM.replace("\n", "\r\n"),
    "a trailing space": f"{FORM} ",
}


def main() -> None:
    from trl.rewards import accuracy_reward, think_format_reward

    print("| gold | completion | TRL | here | why here |\n|---|---|---|---|---|")
    for gold, text in ANSWERS:
        ours = accuracy(gold, text)
        (trl_value,) = accuracy_reward([[{"role": "assistant", "content": text}]], [gold])
        print(f"| `{gold}` | `{text}` | {shown(trl_value)} | {shown(ours.value)} | {ours.explanation} |")
    print("\n| completion | Open-R1 | TRL | here |\n|---|---|---|---|")
    for name, text in FORMS.items():
        (trl_value,) = think_format_reward([[{"role": "assistant", "content": text}]])
        print(f"| {name} | {int(bool(OPEN_R1.match(text)))} | {shown(trl_value)} | {shown(strict_format(text))} |")


def accuracy(gold: str, text: str) -> Score:
    """Our score of the answer of a completion."""
    return load_task("gsm8k", {"dataset.answer": "{{ answer }}"}).score(text, answer=gold).part("accuracy")


def strict_format(text: str) -> float | None:
    """Our score of its format. If the chat template wrote ``<think>``, that is the task's prefill."""
    prefill = "" if text.startswith("<think>") else "<think>"
    return load_task("gsm8k", {"format.prefill": prefill}).score(text, answer="18").part("strict_format").value


def shown(value: float | None) -> str:
    return "None" if value is None else f"{value:g}"


if __name__ == "__main__":
    main()
