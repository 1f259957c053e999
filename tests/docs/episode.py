"""Draws an episode of ``till``: its tokens, which of them are trained, step scores and advantages.

It is row 3 of the first group that ``grpo_env train till`` samples: its first prompt, with the seed of its first step.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import accumulate
from typing import NamedTuple

ROW = 3  # both prices are looked up, then added wrongly
WIDTH, LEFT, RIGHT, SIZE, LINE = 384, 14, 370, 13, 24  # pixels, for a phone; all lies between LEFT and RIGHT
ADVANCE = 0.61  # the width of a character of most monospaced fonts, in font sizes
COLUMNS = {"step score": 66, "return": 142, "group mean": 218, "process adv.": 294, "outcome adv.": 370}
STYLE = """<style>
svg{--panel:#f6faf9;--edge:#cddfdb;--ink:#12343b;--muted:#4b656b;--on:#bfe3da;--last:#0b4f52;--bad:#b42318;--good:#08704f}
@media(prefers-color-scheme:dark){
svg{--panel:#101b1d;--edge:#2b4144;--ink:#e6f1ef;--muted:#9db3b2;--on:#1c4f4a;--last:#62d6c3;--bad:#ff9084;--good:#5ee6bd}}
text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif;fill:var(--ink)}
.t{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}
.n{text-anchor:end;font-variant-numeric:tabular-nums}.v{font-size:15px}
.b{font-weight:600}.told,.m{fill:var(--muted)}.bad{fill:var(--bad)}.good{fill:var(--good)}
rect{fill:none;stroke:var(--edge)}.on{fill:var(--on);stroke:none}.last{fill:var(--on);stroke:var(--last);stroke-width:2}
.panel{fill:var(--panel)}path{stroke:var(--edge)}
</style>"""


class Turn(NamedTuple):
    """A turn; ``told`` are the tokens after it that were not sampled, ``figures`` those of ``COLUMNS``."""

    tokens: list[str]
    told: list[str]
    parts: str
    figures: tuple[float, ...]


def record() -> tuple[list[str], list[Turn]]:
    """Sample the group as the trainer does; the prompt's tokens and the turns of the row."""
    from grpo_env.environments import pool
    from grpo_env.taskfile.task import load_task
    from grpo_env.trainer.advantages import token_advantages
    from grpo_env.trainer.config import TrainConfig
    from grpo_env.trainer.engine.policy import load_policy
    from grpo_env.trainer.extensions.prompt_sampler import PromptSampler, sample_prompts
    from grpo_env.trainer.rollout import sample_rollouts, task_examples
    from grpo_env.trainer.scored_groups import scored_groups

    task = load_task("till")
    config = TrainConfig.from_mapping({}, defaults=task.defaults)
    policy = load_policy(config.model, device="cpu")
    sampler = PromptSampler(task, 1.0, task_examples(task, "train"))
    prompts = sample_prompts([sampler], config.prompts_per_step, 0, f"{config.seed}")[:1]
    rows = sample_rollouts(policy, prompts, config.group_size, config.sampling, f"{config.seed}/0")
    pool.close_idle()
    modes = [TrainConfig.from_mapping({"supervision": mode}, defaults=task.defaults) for mode in ("process", "outcome")]
    process, outcome = (token_advantages(scored_groups(policy, rows, mode), mode)[ROW] for mode in modes)
    steps = [[[s for s in row.score.steps if s.end == turn.end] for turn in row.rollout.seen.turns] for row in rows]
    scores = [[sum(step.value for step in turn) for turn in row] for row in steps]
    to_go = [list(accumulate(reversed(row)))[::-1] for row in scores]
    rollout, turns = rows[ROW].rollout, []
    names = [text.replace("\n", "↵") for text in map(policy.tokenizer.decode, rollout.ids)]
    ends = [*(start for start, _ in rollout.spans[1:]), len(names)]
    for number, ((start, end), until) in enumerate(zip(rollout.spans, ends, strict=True)):
        (a,), (b,) = process[start:end].unique().tolist(), outcome[start:end].unique().tolist()
        parts = [f"{step.value:g} {step.explanation.split(':')[0]}" for step in steps[ROW][number]]
        mean = sum(row[number] for row in to_go if number < len(row)) / len(rows)
        figures = scores[ROW][number], to_go[ROW][number], mean, a, b
        turns.append(Turn(names[start:end], names[end:until], " + ".join(parts), figures))
    return list(map(policy.tokenizer.decode, rollout.prompt_ids)), turns


def draw(prompt: list[str], turns: list[Turn]) -> str:
    """The picture as SVG, legible in light and dark mode."""
    parts = list(legend())
    y = chips(parts, "prompt", prompt, 88, sampled=False)
    for number, turn in enumerate(turns, start=1):
        parts.append(f'<path d="M{LEFT} {y}H{RIGHT}"/>')
        y = scores(parts, turn, chips(parts, f"turn {number}", turn.tokens, y + 6, sampled=True))
        y = chips(parts, "environment", turn.told, y, sampled=False) if turn.told else y
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" height="{y}" role="img">'
    title = f"<title>An episode of till in {len(turns)} turns: tokens, step scores, advantages</title>"
    panel = f'<rect class="panel" x=".5" y=".5" width="{WIDTH - 1}" height="{y - 1}" rx="8"/>'
    return "\n".join([head, title, STYLE, panel, *parts, "</svg>", ""])


def legend() -> Iterable[str]:
    """What the three kinds of boxes mean."""
    kinds = {"on": "sampled: trained", "last": "the last of a turn: gets the step score", "off": "only read: no loss"}
    for (kind, text), y in zip(kinds.items(), (12, 36, 60), strict=True):
        yield f'<rect class="{kind}" x="{LEFT}" y="{y}" width="22" height="16" rx="3"/>'
        yield f'<text x="{LEFT + 30}" y="{y + 13}">{text}</text>'


def scores(parts: list[str], turn: Turn, y: int) -> int:
    """Draw what a turn earned, from y down. Returns the y below it."""
    for (column, x), figure in zip(COLUMNS.items(), turn.figures, strict=True):
        for line, word in enumerate(column.split()):
            parts.append(f'<text class="n m" x="{x}" y="{y + 11 + 15 * line}">{word}</text>')
        sign = ("b bad" if figure < 0 else "b good") if "adv." in column else ""
        text = f"{figure:+.2f}" if sign else f"{figure:.2f}"
        parts.append(f'<text class="n v {sign}" x="{x}" y="{y + 45}">{text}</text>')
    parts.append(f'<text class="m" x="{LEFT}" y="{y + 65}">step score: {turn.parts}</text>')
    return y + 80


def chips(parts: list[str], label: str, tokens: list[str], y: int, *, sampled: bool) -> int:
    """Draw tokens as boxes in lines from y down. Returns the y below them."""
    parts.append(f'<text class="{"b" if sampled else "m"}" x="{LEFT}" y="{y + 14}">{label}</text>')
    x, y = float(LEFT), y + 20
    for number, token in enumerate(tokens):
        width = len(token) * SIZE * ADVANCE + 5
        if x + width > RIGHT:
            x, y = LEFT, y + LINE
        kind = ("last" if number == len(tokens) - 1 else "on") if sampled else "off"
        parts.append(f'<rect class="{kind}" x="{x:g}" y="{y}" width="{width:.1f}" height="{LINE - 4}" rx="3"/>')
        style = "t" if sampled else "t told"
        parts.append(f'<text class="{style}" x="{x + 2.5:.1f}" y="{y + 14}">{escape(token, quote=False)}</text>')
        x += width + 2
    return y + LINE + 8
