"""Free memory of a device, from which sizes are chosen that were not set."""

from __future__ import annotations

import torch

MARGIN = 0.8  # of the free memory; the rest is for fragmentation


def free_bytes(device: torch.device) -> int | None:
    """Bytes that this process can still allocate on a GPU, with those that torch holds unused; ``None`` on a CPU."""
    if device.type != "cuda":
        return None
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(torch.cuda.mem_get_info(device)[0] + unused)
