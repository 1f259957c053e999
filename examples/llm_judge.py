r"""How far can you trust an LLM judge? Compare it with ``accuracy`` on answers that both can judge.

    vllm serve Qwen/Qwen2.5-7B-Instruct        # or any other server that speaks OpenAI's chat completions
    python examples/llm_judge.py gsm8k completions.jsonl --base-url http://localhost:8000/v1 \
        --model Qwen/Qwen2.5-7B-Instruct

Takes any file that ``grpo_env score`` reads, and scores it with ``accuracy`` and ``llm_judge`` instead of the task's
own verifiers. Disagreements are printed with the judge's reasons. Do this before you let a judge decide on answers that
nothing else can check.
"""

import argparse
from collections import Counter
from pathlib import Path

from grpo_env import Score, load_task
from grpo_env.rows.reader import read_records
from grpo_env.scoring import Fields, score_records

MAX_SHOWN = 10


def shown(score: Score) -> str:
    """The value as text."""
    return "unscored" if score.value is None else f"{score.value:g}"


def main() -> None:
    """Print the table of agreement and the first disagreements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", help="a task's name or file")
    parser.add_argument("completions", type=Path)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--cache", default="judge.db", help="keeps replies, so that each question is asked once")
    options = parser.parse_args()
    judge = {"use": "llm_judge", "base_url": options.base_url, "model": options.model, "cache": options.cache}
    parts = {"accuracy": {}, "judge": judge}
    task = load_task(options.task, {"verifiers": parts, "metric": "accuracy", "cases": []})
    table: Counter[tuple[str, str]] = Counter()
    for row in score_records(task, Fields(), read_records(options.completions)):
        if row.problem:
            print(f"line {row.line}: {row.problem}")
        for score in row.scores:
            accuracy, verdict = score.part("accuracy"), score.part("judge")
            values = shown(accuracy), shown(verdict)
            table[values] += 1
            if values[0] != values[1] and table[values] <= MAX_SHOWN:
                print(f"{row.id}: gold {accuracy.gold!r}, answer {accuracy.answer!r}:")
                print(f"    accuracy {values[0]}, judge {values[1]}: {verdict.explanation}")
    print("accuracy  judge     completions")
    for values, count in sorted(table.items()):
        print(f"{values[0]:9} {values[1]:9} {count:,}")


if __name__ == "__main__":
    main()
