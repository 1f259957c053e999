r"""A language model as judge, and how far to trust it: beside ``accuracy`` on answers that both can judge.

    vllm serve Qwen/Qwen2.5-7B-Instruct        # or any other server that speaks OpenAI's chat completions
    python examples/llm_judge.py gsm8k completions.jsonl --base-url http://localhost:8000/v1 \
        --model Qwen/Qwen2.5-7B-Instruct

The file is one that ``grpo_env score`` reads. The task's verifiers give way to two that are watched, ``accuracy`` and
``llm_judge``; what they disagree on is printed, with the judge's reasons. Only after that let a judge pay for answers
that nothing else can judge.
"""

import argparse
from collections import Counter
from pathlib import Path

from grpo_env import Score, load_task
from grpo_env.files.reader import read_records
from grpo_env.scoring import Fields, score_records

SHOWN = 10


def shown(score: Score) -> str:
    """The value, or that there is none."""
    return "unscored" if score.value is None else f"{score.value:g}"


def main() -> None:
    """Print the table of agreement and the first disagreements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", help="a task's name or file")
    parser.add_argument("completions", type=Path)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--cache", default="judge.db", help="keeps replies, so that each is paid for once")
    asked = parser.parse_args()
    judge = {"use": "llm_judge", "base_url": asked.base_url, "model": asked.model, "cache": asked.cache}
    parts = {"accuracy": {}, "judge": judge}
    task = load_task(asked.task, {"verifiers": parts, "metric": "accuracy", "cases": []})
    table: Counter[tuple[str, str]] = Counter()
    for row in score_records(task, Fields(), read_records(asked.completions)):
        if row.problem:
            print(f"line {row.line}: {row.problem}")
        for score in row.scores:
            ours, theirs = score.part("accuracy"), score.part("judge")
            verdicts = shown(ours), shown(theirs)
            table[verdicts] += 1
            if verdicts[0] != verdicts[1] and table[verdicts] <= SHOWN:
                print(f"{row.id}: gold {ours.gold!r}, answer {ours.answer!r}:")
                print(f"    accuracy {verdicts[0]}, judge {verdicts[1]}: {theirs.explanation}")
    print("accuracy  judge     completions")
    for (ours, theirs), count in sorted(table.items()):
        print(f"{ours:9} {theirs:9} {count:,}")


if __name__ == "__main__":
    main()
