"""LoRA: what is trained, what the KL is measured from, what is saved."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
import torch

from grpo_env.errors import UsageError
from grpo_env.taskfile.mixture import Mixture
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.forward import with_fast_paths
from grpo_env.trainer.engine.lora import prepare_adapter
from grpo_env.trainer.engine.policy import Policy, load_model, load_policy
from grpo_env.trainer.loop import resume, train
from grpo_env.trainer.reference import add_reference_logp
from grpo_env.trainer.rollout import make_prompts
from grpo_env.trainer.run.checkpoint import RunFolder
from grpo_env.trainer.run.run import Run

from ..shortcuts import loss_of, packed, roll_out

peft = pytest.importorskip("peft")
pytestmark = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning")  # in peft
LORA = {
    "lora.rank": 2,
    "eval.every": 0,
    "kl.coef": 0.05,
    "optimizer.warmup_steps": 0,
}


def kls(run: Path) -> list[float]:
    rows = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return [row["kl"] for row in rows if row["kind"] == "train"]


@pytest.fixture(scope="module")
def first(make_task, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that trained a new adapter."""
    return train(make_task(**LORA), run_dir=tmp_path_factory.mktemp("lora") / "first").run_dir


def token_logp(model: torch.nn.Module, prompts: list[list[int]], rows: list[list[int]]) -> list[torch.Tensor]:
    """Log-probabilities of each row's tokens, row by row, without any of the trainer's code."""
    logps = []
    for prompt, ids in zip(prompts, rows, strict=True):
        with torch.no_grad():
            logits = model(torch.tensor([prompt + ids])).logits[0, len(prompt) - 1 : -1]
        logps.append(torch.log_softmax(logits, -1).gather(1, torch.tensor(ids)[:, None])[:, 0])
    return logps


def test_only_the_adapter_is_trained(first: Path, model_folder: Path) -> None:
    policy = load_policy(str(model_folder), device="cpu")
    before = {name: weight.clone() for name, weight in policy.model.named_parameters()}
    prepare_adapter(policy, TrainConfig.from_mapping(LORA))
    # rank x (in + out) of each linear layer (attention: q and o, k and v; then gate, up and down), in two blocks
    layers = 2 * (32 + 32) + 2 * (32 + 16) + 3 * (32 + 64)
    assert sum(weight.numel() for weight in policy.trained.values()) == 2 * 2 * layers
    assert not set(policy.trained) & set(before)
    state = torch.load(first / "checkpoints/step-000003/state.pt", weights_only=True)
    assert set(state["weights"]) == set(policy.trained)
    assert len(state["optimizer"]["state"]) == len(policy.trained)
    assert not (first / "model" / "model.safetensors").exists()
    after = peft.PeftModel.from_pretrained(load_model(model_folder)[0], first / "model").unload().state_dict()
    assert all(torch.equal(after[name], weight) for name, weight in before.items())


def test_the_adapter_is_on_in_the_policy_and_off_in_the_reference(
    make_task, model_folder: Path, tmp_path: Path
) -> None:
    """On every fast path that the trainer takes, against transformers and peft alone."""
    task = make_task()
    run = Run.load(
        Mixture.of(task),
        TrainConfig.from_mapping(LORA, defaults=task.defaults),
    )
    assert run.policy.shares_prompts
    generator = torch.Generator().manual_seed(1)
    for weight in run.policy.trained.values():
        weight.data += 0.3 * torch.randn(weight.shape, generator=generator)
    options = {"max_new_tokens": 6, "seed": "0"}
    examples = task.examples("train")[:2]
    rollouts = roll_out(run.policy, make_prompts(task, examples), 4, temperature=1.0, **options)
    batch = packed(run.policy, rollouts, run.config)
    assert run.reference is not None
    add_reference_logp(run.policy, run.reference, [batch], run.config.sampling.temperature)

    RunFolder(tmp_path).save_model(run.policy)
    base, _ = load_model(model_folder)
    adapted = peft.PeftModel.from_pretrained(load_model(model_folder)[0], tmp_path / "model").eval()
    for micro in batch.micro_batches:
        loss_of(run.policy, micro, run.config)
        rows = [ids[mask].tolist() for ids, mask in zip(micro.ids, micro.completion_mask, strict=True)]
        for model, logp in ((adapted, micro.old_logp), (base, micro.ref_logp)):
            assert logp is not None
            expected = torch.cat(token_logp(model, micro.prompts, rows))
            torch.testing.assert_close(logp[micro.completion_mask], expected, atol=1e-5, rtol=1e-5)
    assert (micro.old_logp - micro.ref_logp).abs().max() > 0.1
    (greedy, *_) = roll_out(run.policy, make_prompts(task, examples), 1, temperature=0.0, **options)
    prompt = torch.tensor([greedy.rollout.prompt_ids])
    plain = adapted.generate(input_ids=prompt, max_new_tokens=6, do_sample=False, pad_token_id=0)
    assert plain[0, prompt.shape[1] :].tolist() == greedy.rollout.ids


def test_the_kl_starts_at_zero(first: Path) -> None:
    assert kls(first)[0] == pytest.approx(0, abs=1e-9)
    assert min(kls(first)[1:]) > 1e-6


def test_training_continues_from_a_trained_adapter(first: Path, make_task, tmp_path: Path) -> None:
    """In a run that starts from a trained adapter, the KL is measured from that adapter, also after a crash."""
    task = make_task(**{**LORA, "lora.rank": 0, "model": str(first / "model"), "checkpoint.every": 1})
    run = train(task, run_dir=tmp_path / "second").run_dir
    assert kls(run)[0] == pytest.approx(0, abs=1e-9)
    assert min(kls(run)[1:]) > 1e-6
    crashed = tmp_path / "crashed"
    shutil.copytree(run, crashed)
    shutil.rmtree(crashed / "model")
    shutil.rmtree(RunFolder(crashed).checkpoints()[-1])
    resume(crashed)
    assert kls(crashed) == kls(run)
    files = [path / "model" / "adapter_model.safetensors" for path in (crashed, run)]
    assert files[0].read_bytes() == files[1].read_bytes()
    with pytest.raises(UsageError, match="an adapter already"):
        train(task, run_dir=tmp_path / "third", lora={"rank": 4})


def test_peft_and_transformers_load_the_model_folder(first: Path, model_folder: Path, tmp_path: Path) -> None:
    ids = torch.tensor([[40, 41, 42, 43]])
    base, _ = load_model(model_folder)
    by_transformers, tokenizer = load_model(first / "model")
    by_peft = peft.PeftModel.from_pretrained(base, first / "model")
    bare = tmp_path / "bare"  # as peft saves it
    by_peft.save_pretrained(bare)
    assert not (bare / "tokenizer_config.json").exists()
    assert load_model(bare)[1].eos_token == "<end>"
    with torch.no_grad():
        logits = by_transformers(ids).logits
        torch.testing.assert_close(by_peft(ids).logits, logits)
        with by_peft.disable_adapter():
            assert (by_peft(ids).logits - logits).abs().max() > 1e-3
        torch.testing.assert_close(by_peft.merge_and_unload()(ids).logits, logits, atol=1e-5, rtol=1e-4)
    assert tokenizer.eos_token == "<end>"


def test_missing_peft_is_reported(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "peft", None)
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: pytest.fail(f"{name} is looked up"))
    with pytest.raises(
        UsageError, match=r"needs peft: in a copy of grpo_env, pip install -c constraints.txt '\.\[lora\]'"
    ):
        prepare_adapter(policy, TrainConfig(lora={"rank": 2}))


def test_a_peft_that_is_too_old_for_transformers(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformers.integrations.peft.MIN_PEFT_VERSION", "99.0")
    problem = r"^lora.rank=2: .* PEFT .* use a version >= 99.0 \(peft is [\d.]+, transformers [\d.]+\)$"
    with pytest.raises(UsageError, match=problem):
        prepare_adapter(policy, TrainConfig(lora={"rank": 2}))


@pytest.mark.parametrize("quantize", [None, "nf4"])
def test_the_base_is_in_bfloat16_and_the_adapter_in_float32(quantize: str | None) -> None:
    """In a policy that computes in bfloat16, with the shared prompts and the separate head of float32.

    The bundled model, whose file is float32, since a quantized block has 64 weights and its statistics are quantized
    again by 256.
    """
    if quantize:
        pytest.importorskip("bitsandbytes")
    policy = load_policy("bundled", device="cpu", precision="bf16", frozen=True, quantize=quantize)
    prepare_adapter(policy, TrainConfig.from_mapping({**LORA, **({"lora.quantize": "nf4"} if quantize else {})}))
    dtypes = {weight.requires_grad: set() for weight in policy.model.parameters()}
    for weight in policy.model.parameters():
        dtypes[weight.requires_grad].add(weight.dtype)
    assert dtypes[True] == {torch.float32}
    assert dtypes[False] == ({torch.bfloat16, torch.uint8} if quantize else {torch.bfloat16})
    policy = with_fast_paths(policy)
    assert (policy.shares_prompts, policy.has_separate_head) == (True, True)


def test_quantized_layers_compute_in_bfloat16(model_folder: Path) -> None:
    with pytest.raises(UsageError, match=r"lora.quantize=nf4 computes in bfloat16: set engine.precision=bf16"):
        load_policy(str(model_folder), device="cpu", frozen=True, quantize="nf4")
