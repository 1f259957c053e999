"""The judge against a real server, ``transformers serve``, with a tiny model whose weights determine its reply."""

from __future__ import annotations

import importlib.util
import resource
import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grpo_env.core import Completion, Example, Message, Score
from grpo_env.verifiers.llm_judge import LLMJudge
from grpo_env.verifiers.llm_judge_prompt import equality_question

from .. import forked

pytestmark = pytest.mark.slow

MISSING = [name for name in ("fastapi", "uvicorn", "openai") if importlib.util.find_spec(name) is None]
LIMIT = resource.getrlimit(resource.RLIMIT_CPU)[0]  # seconds of processor time
EXAMPLE = Example("x", (Message("user", "What is 9 * 8?"),), "72")
RIGHT = Completion("<answer>seventy-two</answer>")
OTHERS = [Completion(f"<answer>{number}</answer>") for number in range(6)]


def parrot(folder: Path, reply: str) -> None:
    """Saves a model that replies to everything with ``reply``, a single new token, and ends.

    Embeddings go unchanged to the head: those of the reply point along axis 0, all others along axis 1. The head sees
    axis 0 as the end, axis 1 as the reply.
    """
    import torch
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    from grpo_env.trainer.engine.bundled import BUNDLED

    tokenizer = AutoTokenizer.from_pretrained(BUNDLED)
    tokenizer.add_tokens([reply])
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=4096,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        tie_word_embeddings=False,
    )
    model = LlamaForCausalLM(config)
    reply_id = len(tokenizer) - 1
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
        model.model.norm.weight.fill_(1)
        model.model.embed_tokens.weight[:, 1] = 1
        model.model.embed_tokens.weight[reply_id] = torch.eye(32)[0]
        model.lm_head.weight[reply_id, 1] = 1
        model.lm_head.weight[tokenizer.eos_token_id, 0] = 1
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of ``transformers serve`` with the model in ``folder``."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["python", "-m", "transformers.cli.transformers", "serve", str(folder), "--device", "cpu"]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    log = folder.with_suffix(".log")
    environment = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    server = forked.start(command, folder, environment, None, log, log)
    try:
        for _ in range(1200):
            assert server.is_alive(), log.read_text()[-2000:]
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.join()


@pytest.mark.skipif(0 <= LIMIT < 60, reason=f"a server needs more than the {LIMIT} s that ulimit -t allows it")
@pytest.mark.skipif(bool(MISSING), reason=f"transformers serve needs {', '.join(MISSING)} (the dev extra has them)")
def test_a_real_server_as_judge(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    mark = equality_question({"question": "What is 9 * 8?", "reference": "72", "answer": "seventy-two"}).mark
    folder = tmp_path / "parrot"
    parrot(folder, f"VERDICT {mark}: YES")

    def scores(url: str, cache: str) -> list[Score]:
        parameters = {"temperature": 0, "max_tokens": 8}
        judge = LLMJudge(
            url, str(folder), parameters=parameters, concurrency=4, retries=1, cache=str(tmp_path / f"{cache}.db")
        )
        return judge.batch([(EXAMPLE, completion) for completion in [RIGHT, *OTHERS]])

    with served(folder) as url:
        first_run = scores(url, "filled")
    assert (first_run[0].value, first_run[0].status, first_run[0].answer) == (1.0, "scored", "seventy-two")
    # The same words are no verdict on any other answer.
    assert [(score.value, score.status) for score in first_run[1:]] == [(None, "error")] * len(OTHERS)
    assert all(f"VERDICT {mark}: YES" in score.explanation for score in first_run[1:])
    # The server is gone; the reply that is a verdict is in the cache.
    again = scores(url, "filled")
    assert again[0] == first_run[0]
    assert all(score.status == "error" and "Connect" in score.explanation for score in again[1:])
    assert all(score.status == "error" and "Connect" in score.explanation for score in scores(url, "empty"))
