"""``generate`` and ``eval`` from an OpenAI-compatible endpoint, a server on a real socket."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from grpo_env.cli.app import main
from grpo_env.endpoint import Endpoint
from grpo_env.errors import RunError, UsageError
from grpo_env.scoring import OutputFile, score_files
from grpo_env.taskfile.task import Task, load_task
from grpo_env.trainer.commands.evaluate import run_eval
from grpo_env.trainer.commands.generate import Request, generate
from grpo_env.trainer.commands.served_model import ServedModel

from ..peer import Answer

RIGHT = "<think>\n{}\n</think>\n<answer>\n{}\n</answer>"


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task("arithmetic", {"dataset.limit": {"train": 4, "eval": 4}})


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def quick(url: str, name: str = "m", **settings: Any) -> ServedModel:
    return ServedModel(Endpoint(url, **{"backoff": 0.001, "timeout": 10.0, **settings}), name)


def quiet() -> Console:
    return Console(file=io.StringIO(), width=300)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def solver(task: Task) -> Callable[[int, dict[str, Any]], Answer]:
    """Solves every problem; sampled, only those requests whose seed is even."""
    solutions = {example.prompt[-1].content: example for example in task.examples("eval")}

    def answer(number: int, body: dict[str, Any]) -> Answer:
        example = solutions[body["messages"][-1]["content"]]
        right = body["temperature"] == 0 or body["seed"] % 2 == 0
        text = RIGHT.format("\n".join(example.info["equations"]), example.answer if right else "0")
        return Answer(text, tokens=len(text))

    return answer


def test_rows_are_those_of_a_model_that_is_loaded(task: Task, peer, tmp_path: Path) -> None:
    request = Request(samples=3, batch=6)
    generate(task, OutputFile(tmp_path / "here.jsonl"), request, model="bundled", console=quiet())
    here = rows_of(tmp_path / "here.jsonl")
    flat = [
        Answer(text, finish=finish, tokens=tokens)
        for row in here
        for text, finish, tokens in zip(row["completions"], row["finish_reason"], row["num_tokens"], strict=True)
    ]
    server, console = peer(lambda number, body: flat[number]), quiet()
    there, model = tmp_path / "there.jsonl", quick(server.url, "small", concurrency=1)
    summary = generate(task, OutputFile(there), request, model=model, console=console)
    assert rows_of(there) == [{**row, "token_ids": None} for row in here]
    assert (summary.rows, summary.completions) == (4, 12)
    assert f"model      small at {server.url}: 1 request at once" in console.file.getvalue()
    scores = [
        score_files(task, [tmp_path / name], OutputFile(tmp_path / f"scores-{name}"), console=quiet()).mean("total")
        for name in ("here.jsonl", "there.jsonl")
    ]
    assert scores[0] == scores[1]


def test_requests_are_those_of_the_task_and_the_settings(task: Task, peer, tmp_path: Path) -> None:
    server = peer(lambda number, body: Answer("5", tokens=1))
    options: dict[str, Any] = {"sampling.temperature": 0.7, "sampling.max_new_tokens": 9}
    options |= {"model": quick(server.url, concurrency=1)}
    for name in ("first", "second"):
        generate(task, OutputFile(tmp_path / f"{name}.jsonl"), Request(samples=2), console=quiet(), **options)
    bodies, again = server.requests[:8], server.requests[8:]
    assert bodies == again
    assert len({body["seed"] for body in bodies}) == 8
    question = [message._asdict() for message in task.examples("eval")[0].prompt]
    assert {name: value for name, value in bodies[0].items() if name != "seed"} == {
        "model": "m",
        "messages": question,
        "temperature": 0.7,
        "max_tokens": 9,
    }
    assert "Authorization" not in server.headers[0]


@pytest.mark.parametrize(("request_", "told"), [(Request(samples=2), True), (Request(greedy=True), False)])
def test_a_server_that_ignores_the_temperature_is_told(
    request_: Request, told: bool, task: Task, peer, tmp_path: Path
) -> None:
    """``transformers serve`` decodes greedily unless the model's generation config says ``do_sample``."""
    server, console = peer(lambda number, body: Answer(body["messages"][-1]["content"], tokens=1)), quiet()
    generate(task, OutputFile(tmp_path / "a.jsonl"), request_, model=quick(server.url), console=console)
    line = "the completions of every prompt are equal: m may be sampled at temperature 0 there"
    assert (line in console.file.getvalue()) == told


def test_variables_of_the_chat_template_are_sent(peer, tmp_path: Path) -> None:
    thinking = {"prompt.chat_template_kwargs": {"enable_thinking": False}, "dataset.limit": {"eval": 1}}
    server = peer(lambda number, body: Answer("5", tokens=1))
    task, request = load_task("arithmetic", thinking), Request(greedy=True)
    generate(task, OutputFile(tmp_path / "a.jsonl"), request, model=quick(server.url), console=quiet())
    assert server.requests[0]["chat_template_kwargs"] == {"enable_thinking": False}
    assert server.requests[0]["temperature"] == 0


def test_reasoning_that_the_server_returned_apart_is_part_of_the_text(task: Task, peer, tmp_path: Path) -> None:
    answer = Answer("<answer>\n5\n</answer>", reasoning="2+3=5", tokens=9)
    server, out = peer(lambda number, body: answer), tmp_path / "a.jsonl"
    generate(task, OutputFile(out), Request(greedy=True), model=quick(server.url), console=quiet())
    (text,) = rows_of(out)[0]["completions"]
    assert text.startswith("<think>")
    assert text.endswith("<answer>\n5\n</answer>")
    assert "2+3=5" in text


def test_rate_limits_are_waited_for_and_no_more_requests_are_open_than_allowed(
    task: Task, peer, tmp_path: Path
) -> None:
    busy = Answer(status=429, headers={"Retry-After": "0.05"})
    server = peer(lambda number, body: busy if number in (0, 5, 6) else Answer("5", tokens=1))
    model = quick(server.url, concurrency=3)
    summary = generate(task, OutputFile(tmp_path / "a.jsonl"), Request(samples=8), model=model, console=quiet())
    assert summary.completions == 32
    assert len(server.requests) == 35
    assert server.most_at_once <= 3


def test_what_was_sampled_before_a_failure_is_kept(task: Task, peer, tmp_path: Path) -> None:
    broken = True

    def answer(number: int, body: dict[str, Any]) -> Answer:
        return Answer(status=500, body=b"out of memory") if broken and number >= 4 else Answer("5", tokens=1)

    server, out, console = peer(answer), tmp_path / "a.jsonl", quiet()
    model = quick(server.url, retries=1, concurrency=2)
    with pytest.raises(RunError, match=r"chat/completions: status 500: out of memory \(2 attempts\)$"):
        generate(task, OutputFile(out), Request(samples=2, batch=4), model=model, console=console)
    assert "the same command resumes" in console.file.getvalue()
    broken, before = False, len(server.requests)
    elsewhere = quick("http://other/v1")
    with pytest.raises(UsageError, match="cannot continue: endpoint was"):
        generate(task, OutputFile(out), Request(samples=2, batch=4), console=quiet(), model=elsewhere)
    model = quick(server.url, retries=2)  # not the one that is down
    generate(task, OutputFile(out), Request(samples=2, batch=4), model=model, console=quiet())
    assert len(server.requests) == before + 4
    assert len(rows_of(out)) == 4


@pytest.mark.parametrize(
    ("answer", "key", "message"),
    [
        (Answer(status=401, body=b"bad key sk-1"), None, r"status 401: bad key sk-1; set OPENAI_API_KEY$"),
        (Answer(status=401, body=b"bad sk-1"), "sk-1", r"401: bad \*\*\*; the key was that of OPENAI_API_KEY$"),
        (Answer(status=404, body=b"no model m"), None, r"404: no model m; check --base-url, .*, and --model$"),
        (Answer(status=400, body=b"too long"), None, r"status 400: too long$"),
        (Answer("5"), None, r"the reply does not count its tokens"),
    ],
)
def test_a_refusal_is_one_line_that_says_what_to_do(
    task: Task, peer, tmp_path: Path, answer: Answer, key: str | None, message: str
) -> None:
    server = peer(lambda number, body: answer)
    model = quick(server.url, key=key, concurrency=2)
    with pytest.raises(RunError, match=message) as error:
        generate(task, OutputFile(tmp_path / "a.jsonl"), Request(samples=8), model=model, console=quiet())
    assert "\n" not in str(error.value)


def test_a_closed_port_is_one_line_too(task: Task, peer) -> None:
    server = peer(lambda number, body: "")
    server.close()
    server.close = lambda: None
    with pytest.raises(RunError, match=r"ConnectError: .*\(2 attempts\); is the server running"):
        run_eval(task, quick(server.url, retries=1), samples=2)


def test_eval_finds_the_accuracy_of_a_server(task: Task, peer, tmp_path: Path) -> None:
    server, out = peer(solver(task)), tmp_path / "scores.jsonl"
    result = run_eval(task, quick(server.url), samples=4, out=OutputFile(out))
    right = [body["seed"] % 2 == 0 for body in server.requests if body["temperature"] == 1]
    assert len(right) == 16
    assert len(server.requests) == 20
    assert result["greedy"]["accuracy"] == 1
    assert result["sampled"]["accuracy"] == pytest.approx(sum(right) / 16)
    assert result["pass@1"]["value"] == pytest.approx(sum(right) / 16)
    rows = rows_of(out)
    assert [row["parts"]["accuracy"]["value"] for row in rows].count(1.0) == sum(right)
    assert result["sampled"]["length"] == sum(row["num_tokens"] for row in rows) / 16 > 30
    here = run_eval(task, "bundled", samples=4, out=OutputFile(tmp_path / "here.jsonl"))
    assert result.keys() == here.keys()
    assert rows[0].keys() == rows_of(tmp_path / "here.jsonl")[0].keys()


def test_the_command_sends_the_key_of_the_environment(
    peer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = peer(lambda number, body: Answer("5", tokens=1) if number < 8 else Answer(status=404, body=b"gone"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")

    def call(command: str, *words: str) -> tuple[int, str]:
        options = ["--base-url", server.url, "--model", "m", "--limit", "4"]
        monkeypatch.setattr("sys.argv", ["grpo_env", command, "arithmetic", *options, *words])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0), capsys.readouterr().err.replace("\n", " ")

    code, printed = call("generate", "--samples", "2", "--out", "a.jsonl")
    assert code == 0, printed
    assert "Next: grpo_env score arithmetic a.jsonl --out scores.jsonl" in printed
    assert {headers["Authorization"] for headers in server.headers} == {"Bearer sk-1"}
    code, printed = call("eval", "--concurrency", "1", "--timeout", "5")
    assert code == 1
    assert "1 request at once, of at most 5 s" in printed
    assert "status 404: gone; check --base-url, which mostly ends in /v1, and --model" in printed


def test_wrong_usage_is_found_before_a_request(task: Task, make_task, monkeypatch: pytest.MonkeyPatch) -> None:
    model = quick("http://127.0.0.1:9/v1")
    with pytest.raises(UsageError, match="--base-url needs --model"):
        ServedModel.at("http://127.0.0.1:9/v1", None)
    with pytest.raises(UsageError, match=r"prompt\.text goes to a model without a chat template"):
        run_eval(make_task(), model)
    with pytest.raises(UsageError, match="environment: episodes are not sampled from --base-url"):
        run_eval("till", model)
    with pytest.raises(UsageError, match=r"eval: engine\.device has no effect here; .*: model, seed, sampling"):
        run_eval(task, model, **{"engine.device": "cpu"})
    with pytest.raises(UsageError, match="expected a URL such as"):
        ServedModel.at("localhost:8000", "m")
    with pytest.raises(UsageError, match="the key is read from the environment variable OPENAI_API_KEY"):
        ServedModel.at("http://user:secret@localhost/v1", "m")
    monkeypatch.setenv("OPENAI_API_KEY", "sk\n1")
    with pytest.raises(UsageError, match="OPENAI_API_KEY contains no API key"):
        ServedModel.at("http://localhost/v1", "m")
