#!/usr/bin/env bash
# One training run on all GPUs of this machine, or as a Slurm job on all GPUs of its nodes.
#
#     examples/many_gpus.sh gsm8k --model Qwen/Qwen2.5-1.5B-Instruct --run runs/qwen
#     sbatch --nodes=2 --gpus-per-node=8 --ntasks-per-node=1 examples/many_gpus.sh gsm8k --model ... --run /shared/runs/qwen
#     PROCESSES=2 examples/many_gpus.sh arithmetic --run runs/two engine.device=cpu steps=5
#
# The last line is for a machine without a GPU. All arguments go to `grpo_env train`. To resume a run, pass --resume RUN
# instead of the task, on any number of processes. docs/scaling.md describes what they exchange, and sharded weights
# (FSDP2).
set -euo pipefail

processes=${PROCESSES:-$(nvidia-smi --list-gpus | wc -l)}
start=(torchrun --nproc_per_node "$processes")
if [ -n "${SLURM_JOB_ID:-}" ]; then
    first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
    start=(srun "${start[@]}" --nnodes "$SLURM_NNODES" --rdzv_id "$SLURM_JOB_ID"
        --rdzv_backend c10d --rdzv_endpoint "$first:29500")
else
    start+=(--standalone)
fi
exec "${start[@]}" -m -- grpo_env train "$@"
