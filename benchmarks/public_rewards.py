"""Audits reward functions of public repositories: ``python benchmarks/public_rewards.py CLONES OUT.jsonl [NAME ...]``.

CLONES holds a clone of each repository of the table, by its name (or its files, with the commit in a file COMMIT).
Nothing is copied from them: a file's statements are run one by one, and those whose imports are missing are left out.
Each function gets the rows that it wants: numbers (``--gsm8k``, a file of GSM8K), countdown, letters or names.
"""

import __future__

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
import types
from contextlib import suppress
from pathlib import Path

from grpo_env.audit import audit_function
from grpo_env.errors import UsageError

LIMIT = 10  # rows
UNSLOTH, TRL, GYM = "notebooks/nb/Llama3.1_(8B)-GRPO.ipynb", "trl/trl/rewards/", "Gym/resources_servers/"
VERL, ZERO = "verl/verl/utils/reward_score/", "understand-r1-zero/understand_r1_zero/math_grader.py"
OPEN = "open-instruct/open_instruct/ground_truth_utils.py"
CHAT = "[[{'content': text}]]"
# name: files, the call with f for what they define, rows
TABLE = {
    "open-r1 accuracy": ("open-r1/src/open_r1/rewards.py", f"f.accuracy_reward({CHAT}, [answer])[0]", "numbers"),
    "open-r1 format": ("open-r1/src/open_r1/rewards.py", f"f.format_reward({CHAT})[0]", "numbers"),
    "open-r1 tag_count": ("open-r1/src/open_r1/rewards.py", f"f.tag_count_reward({CHAT})[0]", "numbers"),
    "open-r1 reasoning_steps": ("open-r1/src/open_r1/rewards.py", f"f.reasoning_steps_reward({CHAT})[0]", "numbers"),
    "open-r1 cosine_scaled": (
        "open-r1/src/open_r1/rewards.py", f"f.get_cosine_scaled_reward()({CHAT}, [f'${{answer}}$'])[0]", "numbers"),
    "TRL accuracy": (TRL + "accuracy_rewards.py", f"f.accuracy_reward({CHAT}, [answer])[0]", "numbers"),
    "TRL reasoning_accuracy": (
        TRL + "accuracy_rewards.py", f"f.reasoning_accuracy_reward({CHAT}, [answer])[0]", "numbers"),
    "TRL think_format": (TRL + "format_rewards.py", f"f.think_format_reward({CHAT})[0]", "numbers"),
    "unsloth correctness": (UNSLOTH, f"f.correctness_reward_func([{CHAT}[0]], {CHAT}, [answer])[0]", "numbers"),
    "unsloth int": (UNSLOTH, f"f.int_reward_func({CHAT})[0]", "numbers"),
    "unsloth five together": (
        UNSLOTH, f"f.correctness_reward_func([{CHAT}[0]], {CHAT}, [answer])[0] + sum(g({CHAT})[0] for g in ("
        "f.int_reward_func, f.strict_format_reward_func, f.soft_format_reward_func, f.xmlcount_reward_func))",
        "numbers"),
    "unsloth check_answer": (
        "notebooks/nb/Gemma3_(1B)-GRPO.ipynb", f"f.check_answer([{CHAT}[0]], {CHAT}, [answer])[0]", "numbers"),
    "unsloth check_numbers": (
        "notebooks/nb/Gemma3_(1B)-GRPO.ipynb", f"f.check_numbers([{CHAT}[0]], {CHAT}, [answer])[0]", "numbers"),
    "verl gsm8k strict": (VERL + "gsm8k.py", "f.compute_score(text, answer)", "numbers"),
    "verl gsm8k flexible": (VERL + "gsm8k.py", "f.compute_score(text, answer, method='flexible')", "numbers"),
    "verl math_reward": (VERL + "math_reward.py", "f.compute_score(text, answer)", "numbers"),
    "verl math_verify": (VERL + "math_verify.py", "f.compute_score(text, answer)", "numbers"),
    "verl math_dapo": (VERL + "math_dapo.py", "f.compute_score(text, answer)['score']", "numbers"),
    "verl prime_math": (
        f"{VERL}prime_math/math_normalize.py {VERL}prime_math/grader.py {VERL}prime_math/__init__.py",
        "float(f.compute_score(text, answer)[0])", "numbers"),
    "verl geo3k": (VERL + "geo3k.py", "f.compute_score(text, answer)", "numbers"),
    "verl search_r1": (
        VERL + "search_r1_like_qa_em.py", "f.compute_score(text, {'target': [answer]})", "names"),
    "verl search_r1 subem": (
        VERL + "search_r1_like_qa_em.py", "f.compute_score_subem(text, {'target': [answer]})", "names"),
    "TinyZero countdown": (
        "TinyZero/verl/utils/reward_score/countdown.py",
        "f.compute_score('Assistant:' + text, {'target': target, 'numbers': nums})", "countdown"),
    "TinyZero multiply": (
        "TinyZero/verl/utils/reward_score/multiply.py", "f.compute_score('Assistant:' + text, answer)", "numbers"),
    "GRPO-Zero countdown": (
        "GRPO-Zero/countdown_task.py", "f.reward_function(text, nums, target)['reward']", "countdown"),
    "nano-aha-moment countdown": (
        "nano-aha-moment/nano_r1_script.py",
        "f.compute_reward(text, {'nums': nums, 'target': target}, '<eos>')[0]", "countdown"),
    "understand-r1-zero boxed": (ZERO, "f.boxed_reward_fn(text, answer)[1]", "numbers"),
    "understand-r1-zero tags": (ZERO, "f.answer_tag_reward_fn(text, answer)[1]", "numbers"),
    "X-R1 accuracy": ("X-R1/src/x_r1/rewards.py", f"f.accuracy_reward({CHAT}, ['$' + answer + '$'])[0]", "numbers"),
    "X-R1 format": ("X-R1/src/x_r1/rewards.py", f"f.format_reward({CHAT})[0]", "numbers"),
    "OpenRLHF math": (
        "OpenRLHF/openrlhf/utils/math_utils.py OpenRLHF/examples/python/math_reward_func.py",
        "float(f.reward_func([text], ['?'], [answer])['rewards'][0])", "numbers"),
    "reasoning-gym default": (
        "reasoning-gym/reasoning_gym/utils.py reasoning-gym/reasoning_gym/dataset.py",
        "f.ProceduralDataset.score_answer(None, f.extract_answer(text), {'answer': answer})", "names"),
    "verifiers MathRubric": (
        "verifiers/verifiers/legacy/utils/data_utils.py verifiers/verifiers/legacy/rubrics/math_rubric.py",
        "f.verify_response(f.extract_boxed_answer(text.split('</think>')[-1], strict=True), answer, 50_000)[0]",
        "numbers"),
    "Gym mcqa": (
        GYM + "mcqa/app.py", "float(f._parse_answer_letter_strict_boxed(text, set('ABCD'))[0] == answer)", "letters"),
    "Gym mcqa answer_colon": (
        GYM + "mcqa/app.py", "float(bool(found := f.ANSWER_COLON_PAYLOAD_PATTERN.findall(text)) and "
        "f._extract_choice_letter(found[-1], set('ABCD')) == answer)", "letters"),
    "Gym string_match": (
        GYM + "string_match/app.py",
        "float((said := f._extract_answer(text, 'final_answer')) and f._answers_match(said, answer, False) or 0)",
        "names"),
    "open-instruct GSM8K": (OPEN, "f.GSM8KVerifier()([], text, answer).score", "numbers"),
    "open-instruct string_matcher": (OPEN, "f.StringMatcherVerifier()([], text, answer).score", "names"),
    "torchtune": (
        "torchtune/torchtune/dev/rl/rewards.py",
        "(lambda tags: f.math_response_correct(tags[0], answer, tags[1])[0])(f.extract_tags(text))", "numbers"),
    "rllm math": (
        "rllm/rllm/rewards/math_utils/utils.py rllm/rllm/rewards/reward_types.py rllm/rllm/rewards/math_reward.py",
        "f.rllm_reward_fn_math('', text, answer).reward", "numbers"),
    "rllm mcq": ("rllm/rllm/eval/reward_fns/mcq.py", "float(f._extract_choice_letter(text) == answer)", "letters"),
    "tinker-cookbook math": (
        "tinker-cookbook/tinker_cookbook/recipes/math_rl/math_grading.py "
        "tinker-cookbook/tinker_cookbook/recipes/math_rl/math_env.py",
        "float('boxed' in text and f.safe_grade(f.extract_boxed(text), answer))", "numbers"),
}  # fmt: skip
NAMES = "Marie Curie|Alan Turing|Emmy Noether|Niels Bohr|Ada Lovelace|Kurt Gödel|Grace Hopper|Paul Dirac".split("|")
COUNTDOWN = ((14, [2, 7], "2 * 7"), (10, [3, 4, 3], "3 + 4 + 3"), (21, [25, 4], "25 - 4"), (30, [5, 3, 2], "5 * 3 * 2"))


def load(root, paths):
    """What files or notebooks define, without the statements that fail. Relative imports work where packages do."""
    module = types.ModuleType("public_reward_functions")
    sys.modules[module.__name__] = module
    for file in (Path(root) / path for path in paths):
        folder = file.parent
        while (folder / "__init__.py").exists():
            folder = folder.parent
        sys.path.append(str(folder))
        module.__dict__["__package__"] = ".".join(file.parent.relative_to(folder).parts)
        text = file.read_text(encoding="utf-8")
        cells = json.loads(text)["cells"] if file.suffix == ".ipynb" else [{"cell_type": "code", "source": [text]}]
        for source in ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"):
            tree = ast.Module([], [])
            with suppress(SyntaxError):
                tree = ast.parse(re.sub(r"^\s*[%!].*$", "", source, flags=re.MULTILINE))
            for node in tree.body:
                if not isinstance(node, ast.Expr | ast.For | ast.While | ast.Assert):
                    flags = __future__.annotations.compiler_flag
                    with suppress(Exception):
                        exec(compile(ast.Module([node], []), str(file), "exec", flags), module.__dict__)
        module.__dict__[file.stem] = module
    return module


def rows_of(gsm8k):
    """The rows of each kind."""
    solved = [json.loads(line) for line in Path(gsm8k).read_text(encoding="utf-8").splitlines()[:LIMIT]]
    return {
        "numbers": [{**row, "answer": row["answer"].split("#### ")[1].replace(",", "")} for row in solved],
        "names": [{"question": f"Who was number {n}?", "answer": name} for n, name in enumerate(NAMES)],
        "letters": [{"question": f"Number {n}: A) x B) y C) z D) w", "answer": x} for n, x in enumerate("BDACBADC")],
        "countdown": [
            {"question": f"Make {target} of {nums}.", "target": target, "nums": nums, "answer": answer}
            for target, nums, answer in COUNTDOWN
        ],
    }


def wrapped(clones, name, folder):
    """A file with one function for the audit; what the public one prints is dropped."""
    paths, call, rows = TABLE[name]
    columns = "target, nums, answer" if rows == "countdown" else "answer"
    file = folder / f"{re.sub(r'[^a-z0-9]+', '_', name.lower())}.py"
    file.write_text(
        f"import contextlib, io, sys\nsys.path.append({str(Path(__file__).parent)!r})\n"
        f"from public_rewards import load\n\nf = load({str(clones)!r}, {paths.split()!r})\n\n\n"
        f"def reward(text, {columns}):\n    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):\n        return {call}\n\n\n"
        f"def {file.stem}(completion, {columns}):\n    return reward(completion, {columns.replace(', ', ', ')})\n"
    )
    return f"{file}:{file.stem}", rows


def source(clones, name):
    """The repository, and the commit that was audited."""
    folder = clones / TABLE[name][0].partition("/")[0]
    told = folder / "COMMIT"
    git = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    commit = told.read_text() if told.exists() else subprocess.run(git, capture_output=True, text=True).stdout
    return f"{folder.name} {commit.strip()[:7]}"


def audited(clones, name, rows, folder):
    """A row of the table."""
    home, kind = wrapped(clones, name, folder)
    data = folder / f"{kind}.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows[kind]), encoding="utf-8")
    result = {"function": name, "source": source(clones, name), "rows": kind}
    try:
        report = audit_function(home, data, LIMIT, budget=120.0)
    except UsageError as problem:
        return {**result, "verdict": str(problem)}
    refused = [outcome.hack for outcome in report.outcomes if outcome.remark.startswith("REFUSED")]
    exploits = {outcome.hack: outcome.text for outcome in report.exploits}
    form = any("it pays form" in note for note in report.notes)
    verdict = f"{len(exploits)} exploits" if exploits else "pays form only" if form else "none found"
    return {
        **result, "format": report.source, "verdict": verdict, "exploits": exploits, "refused": refused,
        "slow": [outcome.hack for outcome in report.slow], "unstable": list(report.unstable),
        "failed": [outcome.hack for outcome in report.failed], "notes": report.notes, "seconds": report.seconds,
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clones", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*", default=list(TABLE))
    parser.add_argument("--gsm8k", default="gsm8k_test.jsonl")
    arguments = parser.parse_args()
    rows = rows_of(arguments.gsm8k)
    print("| function | repository, commit | verdict | shortest exploit | right answers refused | seconds |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, arguments.out.open("a", encoding="utf-8") as out:
        for name in arguments.names:
            row = audited(arguments.clones.absolute(), name, rows, Path(folder))
            out.write(json.dumps(row) + "\n")
            out.flush()
            first = next(iter(row.get("exploits", {}).values()), "")
            cells = (name, row["source"], row["verdict"], repr(first[-60:]), ", ".join(row.get("refused", ())))
            print("|", " | ".join(cells), "|", f"{row.get('seconds', 0):.0f} |", flush=True)


if __name__ == "__main__":
    main()
