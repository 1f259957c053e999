"""Checkpoints of a run, its model, and the samples of its steps."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from grpo_env.errors import RunError, memory_ran_out
from grpo_env.taskfile.mixture import Mixture, load_mixture

from ..config import TrainConfig
from ..engine.policy import Policy
from ..engine.sharding.weights import full_model_state, full_state, is_sharded, load_optimizer, shard_state
from ..prompts import PromptSampler
from .folder import MODEL, RunFiles, read_config, replace, sync, writing


class RunFolder(RunFiles):
    """The folder of a run that trains."""

    @classmethod
    def create(cls, path: Path | None, mixture: Mixture, config: TrainConfig) -> RunFolder:
        """A new folder, see ``RunFiles.make``."""
        model = str(Path(config.model).resolve()) if Path(config.model).is_dir() else config.model
        machine = {"seed": config.seed, "threads": torch.get_num_threads()}
        return cls.make(path, mixture, {**config.model_dump(), "model": model}, machine)

    @classmethod
    def reopen(cls, path: Path, writes: bool = True) -> tuple[RunFolder, Mixture, TrainConfig]:
        """An existing run with its tasks and config. Raises ``UsageError`` if there is none."""
        config = TrainConfig.from_mapping(read_config(path), str(path / "config.yaml"))
        return cls(path, writes), load_mixture(path / "task.yaml"), config

    def save(
        self,
        policy: Policy,
        optimizer: torch.optim.Optimizer,
        reference: Mapping[str, Tensor] | None,
        step: int,
        keep: int,
        pools: Sequence[PromptSampler] = (),
    ) -> None:
        """Checkpoint the state after ``step`` updates, whole or not at all, and keep the newest ``keep``.

        ``reference`` holds the weights of a reference that moves, ``None`` where it stays as it was.
        """
        state = {"step": step, "rates": [pool.rates for pool in pools]}
        state |= full_state(policy, optimizer, reference, self.writes)
        if not self.writes:
            return
        final = self.path / "checkpoints" / f"step-{step:06d}"
        with writing(final):
            if not final.exists():  # else the run stops where it went on
                draft = final.with_name(f".{final.name}.new")
                shutil.rmtree(draft, ignore_errors=True)
                draft.mkdir(parents=True)
                torch.save(state, draft / "state.pt")
                replace(draft / "state.sha256", _digest(draft / "state.pt").encode())
                # Nothing outlives, in a power cut, what was written before it.
                sync(draft / "state.pt", *self.path.glob("*.jsonl"))
                draft.rename(final)
                sync(final.parent)
            for old in self.checkpoints()[:-keep]:
                shutil.rmtree(old)

    def checkpoints(self) -> list[Path]:
        """Complete checkpoints, oldest first."""
        return sorted((self.path / "checkpoints").glob("step-*"))

    def load(
        self,
        policy: Policy,
        optimizer: torch.optim.Optimizer,
        reference: dict[str, Tensor] | None,
        pools: Sequence[PromptSampler] = (),
    ) -> tuple[int, list[str]]:
        """Restore the newest sound checkpoint; returns its step, and a message for each corrupt one it passed over.

        A run that was killed before its first checkpoint goes on at step 0, where ``policy`` is. Raises ``RunError``
        where there are checkpoints and none is sound, or where memory runs out.
        """
        skipped: list[str] = []
        folder = self.path / "checkpoints"
        for unfinished in folder.glob(".*") if self.writes else ():
            shutil.rmtree(unfinished)
        for path in reversed(self.checkpoints()):
            try:
                if _digest(path / "state.pt") != (path / "state.sha256").read_text():
                    raise ValueError("its checksum does not match")
                # A device has no room for a second copy, and of a share each process reads what is its own.
                state = torch.load(path / "state.pt", map_location="cpu", mmap=is_sharded(policy), weights_only=True)
                state = shard_state(policy, state)
                policy.restore(state["weights"])
                load_optimizer(policy, optimizer, state["optimizer"])
                if reference is not None:
                    reference.update({name: held.to(policy.device) for name, held in state["reference"].items()})
                for pool, rates in zip(pools, state.get("rates", ()), strict=False):
                    pool.rates.update(rates)
            except Exception as error:  # torch.load raises whatever the damage leads to
                why = str(error).split("\n")[0] or type(error).__name__
                if memory_ran_out(error):
                    raise RunError(f"{path}: memory ran out on reading it ({why}); free some, then resume") from error
                skipped.append(f"checkpoint {path.name} is corrupt ({why}); going back to the one before")
                if self.writes and path.exists():  # out of the way of those that will be saved and kept
                    path.replace(path.with_name(f"corrupt-{path.name}"))
                continue
            return int(state["step"]), skipped
        if skipped or any(folder.glob("corrupt-*")):
            raise RunError(f"{self.path}: no checkpoint to go on from, all are corrupt; start the run again")
        return 0, ["no checkpoint yet: the run begins again"]

    def save_model(self, policy: Policy) -> None:
        """Write the model and tokenizer to ``model/``, as transformers loads them."""
        weights = full_model_state(policy, self.writes)
        if self.writes:
            draft = self.path / f".{MODEL}.tmp"
            with writing(self.path / MODEL):
                shutil.rmtree(draft, ignore_errors=True)
                policy.model.save_pretrained(draft, state_dict=weights)
                policy.tokenizer.save_pretrained(draft)
                draft.rename(self.path / MODEL)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
