"""Checkpoints of a run and its trained model."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import torch

from grpo_env.errors import RunError, UsageError, memory_ran_out

from ..config import TrainConfig
from ..engine.policy import Policy
from ..engine.sharding import full_model_state, full_state, is_sharded, shard_state
from .folder import MODEL, RunFiles, fsync, new_folder, write_errors
from .run import Run

KEPT = 2
"""Checkpoints of a run: the newest, and the one before in case a disk damages it."""


class RunFolder(RunFiles):
    """The folder of a run that trains: ``RunFiles`` with checkpoints and the model."""

    def more_steps(self, steps: int, wanted: int | str) -> int:
        """The new number of steps of this run, which has ``steps``, or fewer if an evaluation has ended it. Raises
        ``UsageError`` unless it is larger.
        """
        steps = self.steps_done() if (self.path / MODEL).exists() else steps
        try:
            number = int(wanted)
        except ValueError:
            raise UsageError(f"steps={wanted}: a number of steps, or +N for N more") from None
        total = steps + number if str(wanted).startswith("+") else number
        if total <= steps:
            raise UsageError(f"{self.path}: this run has {steps} steps already; steps=+N adds to them")
        return total

    def extend(self, config: TrainConfig) -> None:
        """Let the run go on with ``config``, which has more steps. Its model, if any, is kept as ``model-STEPS``."""
        with write_errors(self.path):
            if (self.path / MODEL).exists():
                (self.path / MODEL).rename(self.path / f"{MODEL}-{self.steps_done()}")
            self.write_settings(config.model_dump())

    def save(self, run: Run, step: int) -> None:
        """Checkpoint the state after ``step`` updates, completely or not at all, and keep the newest ``KEPT``."""
        state = {"step": step} | full_state(run.policy, run.optimizer, run.updated_reference, self.writes)
        if not self.writes:
            return
        final = self.path / "checkpoints" / f"step-{step:06d}"
        if not final.exists():  # it exists if the run stops at the step at which it was resumed
            with new_folder(final) as draft:
                torch.save(state, draft / "state.pt")
                # The rename must not survive a power cut that the files before it do not.
                fsync(draft / "state.pt", *self.path.glob("*.jsonl"))
        with write_errors(final):
            fsync(final.parent)
            for old in self.checkpoints()[:-KEPT]:
                shutil.rmtree(old)

    def steps_done(self) -> int:
        """The steps of the newest checkpoint."""
        return max(self.numbered("checkpoints/step-"))

    def checkpoints(self) -> list[Path]:
        """Complete checkpoints, oldest first."""
        return list(self.numbered("checkpoints/step-").values())

    def load(self, run: Run) -> tuple[int, list[str]]:
        """Restore the newest intact checkpoint; returns its step, and a message for each corrupt one.

        A run that was killed before its first checkpoint starts again at step 0, the state that ``run`` is in. Raises
        ``RunError`` if there are checkpoints but none is intact, or if one does not fit the settings.
        """
        messages: list[str] = []
        folder = self.path / "checkpoints"
        for unfinished in folder.glob(".*") if self.writes else ():
            shutil.rmtree(unfinished)
        for path in reversed(self.checkpoints()):
            try:
                state = _read(path, run.policy)
            except Exception as error:  # a damaged file makes torch.load raise almost anything
                if memory_ran_out(error):
                    raise
                reason = str(error).split("\n")[0] or type(error).__name__
                messages.append(f"checkpoint {path.name} is corrupt ({reason}); using the one before")
                if self.writes and path.exists():  # or it would count as one of the checkpoints to keep
                    aside = path.with_name(f"corrupt-{path.name}")
                    shutil.rmtree(aside, ignore_errors=True)  # of the same step, from an earlier time
                    path.replace(aside)
                continue
            self._restore(path, state, run)
            return int(state["step"]), messages
        if messages or any(folder.glob("corrupt-*")):
            raise RunError(f"{self.path}: all checkpoints are corrupt, so the run cannot be resumed; start it again")
        return 0, ["no checkpoint yet: starting the run again"]

    def _restore(self, path: Path, state: dict[str, Any], run: Run) -> None:
        """Give everything the state of a checkpoint. Raises ``RunError`` if it does not have what the run needs."""
        try:
            state = shard_state(run.policy, state)
            run.policy.restore(state["weights"])
            run.optimizer.load_state_dict(state["optimizer"])
            if (reference := run.updated_reference) is not None:
                if state["reference"] is None:
                    raise LookupError("it has no reference model")
                reference.update({name: weight.to(run.policy.device) for name, weight in state["reference"].items()})
        except (LookupError, ValueError, TypeError, AttributeError, RuntimeError) as error:
            if memory_ran_out(error):
                raise
            raise RunError(
                f"{path} does not fit the settings ({type(error).__name__}: {error}); undo what was changed in "
                f"{self.path / 'config.yaml'} since the run began"
            ) from error

    def save_model(self, policy: Policy, name: str = MODEL) -> None:
        """Write the model and tokenizer to ``model/``, or another name, as transformers loads them."""
        weights = full_model_state(policy, self.writes)
        if self.writes:
            with new_folder(self.path / name) as draft:
                policy.model.save_pretrained(draft, state_dict=weights)
                policy.tokenizer.save_pretrained(draft)


def _read(path: Path, policy: Policy) -> dict[str, Any]:
    """The state of a checkpoint. Raises ``ValueError`` or anything else if the file is damaged."""
    with ZipFile(path / "state.pt") as file:  # as torch.save writes it, with a checksum of every tensor
        if file.testzip() is not None:
            raise ValueError("its checksum does not match")
    # On the CPU, since a GPU may not have room for a second copy; if sharded, each process reads only its shards.
    return dict(torch.load(path / "state.pt", map_location="cpu", mmap=is_sharded(policy), weights_only=True))
