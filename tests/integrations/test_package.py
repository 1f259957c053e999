"""Folders that ``export env`` writes: another process installs them and gets the rewards of the task."""

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from functools import reduce
from importlib.metadata import distributions
from operator import getitem
from pathlib import Path

import httpx2
import pytest
import yaml

from grpo_env.errors import UsageError
from grpo_env.integrations.package import PEERS, export_package
from grpo_env.rows.formats.packed_example import pack
from grpo_env.taskfile.task import load_task
from grpo_env.trainer.engine.bundled import BUNDLED

TASK = """
version: 1
task: sums
description: Sums of "one's" own.
dataset: {path: "data/*.jsonl", split: {train: 0.8, eval: 0.2}, answer: "{{ total }}"}
format: {reasoning: think, answer: answer}
prompt: {user: "What is {{ a }} + {{ b }}? Reason in <think>, answer in <answer> tags."}
verifiers:
  accuracy: {weight: 1.0}
  few: {use: "own.py:few_marks", weight: 0.25}
  tag_count: {weight: 0.5, when: accuracy}
metric: accuracy
train: {steps: 2, group_size: 4, prompts_per_step: 2, sampling: {max_new_tokens: 16, temperature: 0.75}}
"""
OWN = """
import marks


def few_marks(completion, total):
    return marks.share(completion, total)
"""
MARKS = "def share(text, total):\n    return text.count('=') / 8 if text.count('=') < 8 and total > 3 else 0.0\n"


def texts(gold):
    right = f"<think>\n1+1=2\n</think>\n<answer>\n{gold}\n</answer>"
    wrong = right.replace(f"\n{gold}\n", "\n-1\n")
    return [
        right,
        wrong,
        str(gold),
        "",
        "=" * 5,
        right.replace("</think>", ""),
        f"<answer>{gold}.0</answer>",
        "<" * 999,
    ]


@pytest.fixture(scope="session")
def own(tmp_path_factory):
    """The folder of a task with rows and a verifier of one's own."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "data").mkdir()
    for part in range(2):
        rows = [{"a": a, "b": a + part, "total": 2 * a + part} for a in range(1, 31)]
        (folder / f"data/{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "sums.yaml").write_text(TASK)
    (folder / "own.py").write_text(OWN)
    (folder / "marks.py").write_text(MARKS)
    (folder / "unrelated.py").write_text("raise SystemExit\n")
    return folder


@pytest.fixture(scope="session")
def scored(own):
    """Two hundred completions: packed example, prompt, text, and the reward by a process that has the folder."""
    code = f"""
import json
from grpo_env import Completion, load_task
from grpo_env.core import score_one
from grpo_env.rows.formats.packed_example import pack
{inspect.getsource(texts)}
task = load_task({str(own / "sums.yaml")!r})
for example in task.examples("train", 25):
    for text in texts(example.answer):
        score = score_one(task.verifier, example, Completion(text, prefill=""))
        print(json.dumps([pack(example), example.prompt[0].content, text, score.value]))
"""
    cases = [json.loads(line) for line in run([sys.executable, "-c", code], own).splitlines()]
    assert len(cases) == 200
    # By hand: 1 + 0.5 for the tags + a quarter of 1/8 for one "="; that alone; a quarter of 5/8; nothing.
    assert {1.53125, 0.03125, 0.15625, 0.0} <= {reward for *_, reward in cases}
    return cases


@pytest.fixture(scope="session")
def exported(own, tmp_path_factory):
    """Exports the task for a peer, and installs the folder; the original is out of reach. Gives both paths."""
    made = {}

    def make(peer):
        if peer not in made:
            folder = tmp_path_factory.mktemp(peer)
            command = [sys.executable, "-m", "grpo_env", "export", "env", "sums.yaml", "--to", peer]
            run([*command, "--out", folder / "sums_env"], own)
            pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-build-isolation", "--quiet", "--no-index"]
            shutil.copytree(folder / "sums_env", folder / "copy")  # pip writes build/ into what it installs
            run([*pip, "--target", folder / "site", folder / "copy"], folder)
            made[peer] = folder / "sums_env", folder / "site"
        return made[peer]

    return make


def files(package):
    """The files of an installed package, by its metadata: a bare import could find a folder of that name here."""
    found = [path for distribution in distributions(name=package) for path in distribution.files or ()]
    return found or pytest.skip(f"{package} is not installed: make test-integrations")


def run(command, cwd, path=(), text=None):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "HF_HUB_OFFLINE": "1"}
    environment.pop("GRPO_ENV_TASKS", None)
    done = subprocess.run(
        command, cwd=cwd, env=environment, input=text, capture_output=True, text=True, timeout=400, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def rewards(code, cases, cwd, path=()):
    """What a program in another folder prints, having read the completions from its standard input."""
    return json.loads(run([sys.executable, "-c", code], cwd, path, json.dumps(cases)).splitlines()[-1])


VERL = """
import json, sys
sys.path.append(sys.argv[1]) if sys.argv[1:] else None
from sums_env.reward import compute_score
print(json.dumps([compute_score("sums", text, gold, {})["score"] for gold, _, text, _ in json.load(sys.stdin)]))
"""
OPENRLHF = """
import json, sys
from sums_env.reward import reward_func
print(json.dumps([reward_func([prompt + text], [prompt], [gold])["rewards"].item()
                  for gold, prompt, text, _ in json.load(sys.stdin)]))
"""
TRL = """
import json, sys
from grpo_env import load_task
from grpo_env.integrations.trl import reward_funcs, to_dataset
from sums_env import TASK
task = load_task(TASK)
assert len(to_dataset(task, "train")) + len(to_dataset(task, "eval")) == 60
golds, prompts, texts, _ = zip(*json.load(sys.stdin))
told = [[{"role": "assistant", "content": text}] for text in texts]
asked = [[{"role": "user", "content": prompt}] for prompt in prompts]
print(json.dumps(reward_funcs(task)[0](prompts=asked, completions=told, grpo_env=golds)))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("peer", "code"), [("verl", VERL), ("openrlhf", OPENRLHF), ("trl", TRL)])
def test_the_installed_package_gives_the_rewards_of_the_task(peer, code, exported, scored, tmp_path):
    _, site = exported(peer)
    assert rewards(code, scored, tmp_path, [site]) == [reward for *_, reward in scored]


@pytest.mark.slow
@pytest.mark.parametrize("peer", PEERS)
def test_the_folder_has_the_task_its_code_and_data_and_nothing_else(peer, own, exported):
    folder, site = exported(peer)
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    package = {"__init__.py", "sums.yaml", "own.py", "marks.py", "data/0.jsonl", "data/1.jsonl"}
    suffix = {"verl": "parquet", "openrlhf": "jsonl", "gym": "jsonl"}.get(peer)
    package |= {f"train.{suffix}", f"eval.{suffix}"} if suffix else set()
    package |= {"reward.py"} if peer in ("verl", "openrlhf") else set()
    texts = {"verifiers": {"rl.toml"}, "trl": {"train.py"}, "gym": {"app.py", "config.yaml"}}.get(peer, {"run.sh"})
    assert files == {"pyproject.toml", "README.md"} | texts | {f"sums_env/{name}" for name in package}
    installed = {str(path.relative_to(site / "sums_env")) for path in (site / "sums_env").rglob("*") if path.is_file()}
    assert {name for name in installed if "__pycache__" not in name} == package
    for name in ("sums.yaml", "own.py", "data/0.jsonl"):
        assert (site / "sums_env" / name).read_bytes() == (own / name).read_bytes()
    readme = (folder / "README.md").read_text()
    assert "60 rows" in readme or "## `grpo_env check`" in readme
    for path in folder.rglob("*"):
        if path.suffix not in (".parquet", "") and path.is_file():
            text = path.read_text()
            assert str(own) not in text, path
            assert not re.search(r"@[a-z_]+@", text), path
    assert tomllib.loads((folder / "pyproject.toml").read_text())["project"]["description"] == 'Sums of "one\'s" own.'


@pytest.mark.slow
def test_the_packaged_data_are_those_of_the_task(own, exported):
    import pyarrow.parquet

    folder, _ = exported("verl")
    golds = [
        row["reward_model"]["ground_truth"]
        for split in ("train", "eval")
        for row in pyarrow.parquet.read_table(folder / f"sums_env/{split}.parquet").to_pylist()
    ]
    lines = [
        json.loads(line)["label"]
        for split in ("train", "eval")
        for line in (exported("openrlhf")[0] / f"sums_env/{split}.jsonl").read_text().splitlines()
    ]
    task = load_task(own / "sums.yaml")
    assert golds == lines == [pack(example) for split in ("train", "eval") for example in task.examples(split)]


@pytest.mark.slow
def test_verls_loader_takes_the_reward_file_by_its_path(exported, scored, tmp_path):
    """And its own configuration knows every key of run.sh."""
    assert files("verl")
    folder, _ = exported("verl")
    code = f"""
import json, sys
from verl.utils.import_utils import load_extern_object
score = load_extern_object(module_path={str(folder / "sums_env/reward.py")!r}, object_name="compute_score")
print(json.dumps([score("?", text, gold, {{}})["score"] for gold, _, text, _ in json.load(sys.stdin)]))
"""
    assert rewards(code, scored, tmp_path) == [reward for *_, reward in scored]
    (file,) = [path for path in files("verl") if path.name == "_generated_ppo_trainer.yaml"]
    config = yaml.safe_load(file.locate().read_text())
    keys = re.findall(r"^    ([a-z_.]+)=", (folder / "run.sh").read_text(), re.MULTILINE)
    assert len(keys) > 15
    for key in keys:
        *path, last = key.split(".")
        assert last in reduce(getitem, path, config), key
    assert "rollout.temperature=0.75" in (folder / "run.sh").read_text()


@pytest.mark.slow
def test_openrlhf_knows_every_option_of_run_sh(exported):
    (program,) = [path for path in files("openrlhf") if str(path) == "openrlhf/cli/train_ppo_ray.py"]
    script = (exported("openrlhf")[0] / "run.sh").read_text()
    options = re.findall(r"^    (--[a-z_.]+)", script, re.MULTILINE)
    assert "--data.apply_chat_template" in options
    assert [option for option in options if f'"{option}"' not in program.locate().read_text()] == []


def test_trls_trainer_takes_two_steps(exported, tmp_path):
    pytest.importorskip("trl", reason="TRL is not installed: make test-integrations")
    folder, _ = exported("trl")
    out = run([sys.executable, folder / "train.py", BUNDLED, "2"], tmp_path)
    assert "'rewards/sums/mean'" in out
    assert "'rewards/sums/few/mean'" in out
    assert len(list((tmp_path / "runs/sums/completions").glob("*.parquet"))) == 2


def test_vf_eval_finds_the_taskset_by_its_name(exported, scored, serve, tmp_path):
    assert files("verifiers")
    _, site = exported("verifiers")
    by_prompt = {}
    for _, prompt, text, _ in scored:
        by_prompt.setdefault(prompt, []).append(text)
    command = [Path(sys.executable).parent / "vf-eval", "sums-env", "--env.taskset.limit", "25", "--num-rollouts", "8"]
    command += ["--env.agent.runtime.type", "subprocess", "--model", "m", "--client.base-url", serve(by_prompt)]
    command += ["--client.api-key-var", "PATH", "--no-push", "--no-rich", "--output-dir", "out", "--run.name", "run"]
    run(command, tmp_path, [site])
    lines = (tmp_path / "out/run/traces.jsonl").read_text().splitlines()
    traces = [trace for line in lines for trace in json.loads(line)["traces"]]
    found = [
        (trace["task"]["data"]["example"], trace["nodes"][-1]["message"].get("content") or "", reward["score"])
        for trace in traces
        for reward in trace["rewards"].values()
    ]
    assert sorted(found) == sorted((gold, text, reward) for gold, _, text, reward in scored)


@pytest.mark.slow
def test_the_gym_server_answers_as_an_agent_of_nemo_gym_asks(exported, scored, tmp_path):
    """The requests of ``simple_agent``: /seed_session and /verify with the row and a response of the Responses API."""
    pytest.importorskip("fastapi")
    folder, _ = exported("gym")
    port = free_port()
    address = {"host": "127.0.0.1", "port": port, "entrypoint": "app.py"}
    environment = {
        **os.environ,
        "NEMO_GYM_CONFIG_PATH": "sums_env",
        "NEMO_GYM_CONFIG_DICT": json.dumps({"sums_env": {"resources_servers": {"sums_env": address}}}),
    }
    server = subprocess.Popen([sys.executable, folder / "app.py"], cwd=tmp_path, env=environment)
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
            wait_for(client, server)
            assert client.post("/seed_session", json={"any": "row"}).json() == {}
            replies = [client.post("/verify", json=verify_request(*case[:3])) for case in scored]
            assert [reply.status_code for reply in replies] == [200] * 200
            bodies = [reply.json() for reply in replies]
            assert [body["reward"] for body in bodies] == [reward for *_, reward in scored]
            sent = verify_request(*scored[0][:3])
            assert {key: bodies[0][key] for key in sent} == sent  # Gym reads its own request out of the reply
            means = client.post("/aggregate_metrics", json={"verify_responses": bodies[:8]}).json()
            assert means["key_metrics"]["mean/reward"] == sum(reward for *_, reward in scored[:8]) / 8
            assert client.post("/verify", json={"response": {"output": "text"}}).status_code == 422
            own_row = {key: value for key, value in sent.items() if key != "grpo_env"} | {"a": 5, "b": 6, "total": 11}
            own_row["response"]["output"][1]["content"][0]["text"] = "<answer>11</answer>"
            assert client.post("/verify", json=own_row).json()["parts/accuracy"] == 1.0
            refused = client.post("/verify", json={**own_row, "total": None})
            assert refused.status_code == 422
            assert "which NeMo Gym cannot express" in refused.json()["detail"]
    finally:
        server.terminate()
        server.wait()


def verify_request(gold, prompt, text):
    """A response whose reasoning the server split off, if the text begins with it."""
    reasoning, closed, rest = text.removeprefix("<think>\n").partition("\n</think>\n")
    split = text.startswith("<think>\n") and bool(closed)
    items = (
        [{"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": reasoning}]}] if split else []
    )
    content = [{"type": "output_text", "annotations": [], "text": rest if split else text}]
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content}
    response = {"id": "1", "object": "response", "model": "m", "created_at": 1.0, "output": [*items, message]}
    return {
        "responses_create_params": {"input": [{"role": "user", "content": prompt}]},
        "grpo_env": gold,
        "response": {**response, "tools": [], "usage": {"output_tokens": 9}},
    }


def free_port():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(client, server):
    import time

    while server.poll() is None:
        try:
            client.get("/")
        except httpx2.TransportError:
            time.sleep(0.2)
        else:
            return
    raise AssertionError("the server ended")


def write(task, peer, out, **options):
    return export_package(task, peer, out, lambda: {"check": "c", "audit": "a"}, **options)


def test_a_folder_that_exists_and_a_peer_that_does_not(own, tmp_path):
    task = load_task(own / "sums.yaml")
    with pytest.raises(UsageError, match=r"already exists; give another name, or delete it first"):
        write(task, "trl", tmp_path)
    with pytest.raises(UsageError, match="--to ver: did you mean"):
        write(task, "ver", tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", [[], ["--to", "trl", "--overwrite"], ["--to", "trl", "--part", "total"]])
def test_the_command_has_one_option(options, own, tmp_path):
    command = [sys.executable, "-m", "grpo_env", "export", "env", "sums.yaml", *options, "--out", tmp_path / "new"]
    done = subprocess.run(command, cwd=own, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--to verifiers|verl|openrlhf|trl|gym --out FOLDER: no other options" in done.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dataset.path": "../rows.jsonl"}, "../rows.jsonl is not in the folder of the task file; copy it there"),
        ({"verifiers.few.use": "../own.py:few_marks"}, "../own.py is not in the folder"),
        ({"verifiers.group": {"use": "majority"}}, "compares the completions of a group, but NeMo Gym"),
        ({"verifiers.few.weight": {"linear": {"from": 1, "to": 0, "steps": 9}}}, "weights follow a schedule, but NeMo"),
    ],
)
def test_what_others_would_not_have_is_refused(change, message, own, tmp_path):
    task = yaml.safe_load(TASK)
    for key, value in change.items():
        *path, last = key.split(".")
        section = task
        for name in path:
            section = section[name]
        section[last] = value
    folder = tmp_path / "task"
    shutil.copytree(own, folder, ignore=shutil.ignore_patterns("own.py") if "own.py" in message else None)
    (tmp_path / "rows.jsonl").write_text('{"a": 1, "b": 1, "total": 2}\n')
    for name in ("own.py", "marks.py"):
        shutil.copy(own / name, tmp_path)
    (folder / "sums.yaml").write_text(yaml.safe_dump(task))
    code = f"""
from pathlib import Path
from grpo_env import load_task
from grpo_env.integrations.package import export_package
export_package(load_task({str(folder / "sums.yaml")!r}), "gym", Path({str(tmp_path / "out")!r}), dict)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=own.parent, capture_output=True, text=True, check=False)
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_large_data_are_left_out_and_named(own, tmp_path, monkeypatch):
    monkeypatch.setattr("grpo_env.integrations.package.MAX_MB", 0.0001)
    left_out = write(load_task(own / "sums.yaml"), "trl", tmp_path / "out")
    assert left_out == ["data/0.jsonl", "data/1.jsonl"]
    assert "Copy data/0.jsonl, data/1.jsonl into `sums_env/`" in (tmp_path / "out/README.md").read_text()
    assert not (tmp_path / "out/sums_env/data").exists()
    assert (tmp_path / "out/sums_env/marks.py").exists()


def test_what_follows_of_a_name_and_a_local_model(own, tmp_path, monkeypatch):
    """A name that no module can have; a model's folder beside the task is copied, one elsewhere is refused."""
    monkeypatch.chdir(tmp_path)
    task = yaml.safe_load(TASK)
    del task["verifiers"]["few"]
    task |= {"task": "2-digit.Sums", "dataset": {**task["dataset"], "path": "rows_{split}.jsonl"}}
    task["dataset"]["split"] = {"train": "a", "eval": "b"}
    task["verifiers"]["judged"] = {"use": "any_of", "of": {"prm": {"use": "process_reward_model", "model": "prm"}}}
    (tmp_path / "task/prm").mkdir(parents=True)
    (tmp_path / "task/prm/config.json").write_text("{}")
    for split in "ab":
        (tmp_path / f"task/rows_{split}.jsonl").write_text('{"a": 1, "b": 1, "total": 2}\n')
    (tmp_path / "task/t.yaml").write_text(yaml.safe_dump(task))
    write(load_task("task/t.yaml"), "trl", Path("out"))
    package = tmp_path / "out/task_2_digit_sums_env"
    names = {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file()}
    assert names == {"__init__.py", "t.yaml", "rows_a.jsonl", "rows_b.jsonl", "prm/config.json"}
    (tmp_path / "task/prm").rename("prm")
    with pytest.raises(UsageError, match=r"t.yaml: prm is not in the folder of the task file; copy it there"):
        write(load_task("task/t.yaml"), "trl", Path("other"))


def test_a_bundled_task_with_an_environment_goes_to_verifiers_and_trl_only(tmp_path):
    write(load_task("till"), "verifiers", tmp_path / "vf")
    names = {path.name for path in (tmp_path / "vf/till_env").iterdir()}
    assert names == {"__init__.py", "till.yaml", "till.py"}
    with pytest.raises(UsageError, match="not played by verl; TRL and verifiers do"):
        write(load_task("till"), "verl", tmp_path / "verl")
    assert {path.name for path in tmp_path.iterdir()} == {"vf"}  # nothing is left of what failed
