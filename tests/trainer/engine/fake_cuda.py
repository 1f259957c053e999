"""A fake CUDA device: tensors that claim to be on CUDA and are in main memory.

Under ``FakeCuda`` every tensor remembers which device it would be on, and what CUDA refuses raises
``MixedDevicesError``: operations on tensors of two devices, reading one as NumPy without moving it to the CPU, and any
traffic between the two while a graph is recorded. Numbers are those of the CPU.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

CPU, CUDA = torch.device("cpu"), torch.device("cuda", 0)
COPIES = (Tensor.copy_, Tensor.__setitem__)  # may copy from the other device
INDEXES = (Tensor.__setitem__, Tensor.__getitem__, Tensor.index_put, Tensor.index_put_)  # take indices from the CPU
READS = {
    *(Tensor.item, Tensor.tolist, Tensor.nonzero, Tensor.cpu, Tensor.masked_select, Tensor.__array__, Tensor.numpy),
    *(Tensor.__bool__, Tensor.__int__, Tensor.__float__, Tensor.__index__, Tensor.unique),
    *(torch.nonzero, torch.masked_select, torch.tensor, torch.bincount, torch.unique),
}


class MixedDevicesError(Exception):
    """Tensors of two devices met, or one was read where CUDA does not allow it."""


def device_of(tensor: Tensor) -> torch.device:
    return CUDA if vars(tensor).get("on_cuda") else CPU


def set_device(tensor: Tensor, device: torch.device) -> None:
    tensor.on_cuda = device.type == "cuda"  # type: ignore[attr-defined]


def move_to_cuda(model: Any) -> None:
    """What ``model.to("cuda")`` would do."""
    for tensor in (*model.parameters(), *model.buffers()):
        set_device(tensor, CUDA)


class FakeCuda(TorchFunctionMode):
    """Tensors created on or moved to ``cuda``, and results computed from them, claim to be on CUDA."""

    recording = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func == Tensor.device.__get__:
            return device_of(args[0])
        if func is torch.device:
            return func(*args, **kwargs)
        leaves = leaves_of((args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        if func in (Tensor.numpy, Tensor.__array__) and device_of(tensors[0]) == CUDA:
            raise MixedDevicesError("NumPy can only read tensors on the CPU")
        requested = [torch.device(leaf) for leaf in leaves if is_device(leaf)]
        device = {"cpu": CPU, "cuda": CUDA}[requested[-1].type] if requested else result_device(func, tensors)
        if requested:
            args, kwargs = tree_map(lambda leaf: CPU if is_device(leaf) else leaf, (args, kwargs))
        result = func(*args, **kwargs)
        by_mask = func in INDEXES and any(leaf.dtype == torch.bool for leaf in tensors[1:])
        on_cpu = device == CPU and isinstance(result, Tensor)
        if FakeCuda.recording and (func in READS or by_mask or on_cpu):
            raise MixedDevicesError(f"{getattr(func, '__name__', func)} while a graph is recorded")
        if func in (Tensor.to, Tensor.cpu) and result is args[0] and device_of(result) != device:
            result = result.clone()
        for leaf in leaves_of(result):
            if isinstance(leaf, Tensor):
                set_device(leaf, device)
        if func == Tensor.data.__set__:
            set_device(args[0], device)
        return result


def leaves_of(value: Any) -> list[Any]:
    """What is in nested tuples, lists and mappings; torch's own ``tree_leaves`` took half of these tests' time."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in leaves_of(item)]
    return [value]


def is_device(leaf: object) -> bool:
    return isinstance(leaf, torch.device) or (isinstance(leaf, str) and leaf in ("cpu", "cuda"))


def result_device(func: Any, tensors: list[Tensor]) -> torch.device:
    """Where an operation runs; a tensor without dimensions on the CPU may take part in one on CUDA."""
    if func == Tensor.data.__set__:
        return device_of(tensors[1])
    if func is Tensor.cpu or not tensors:
        return CPU
    first = device_of(tensors[0])
    devices = {device_of(tensor) for tensor in tensors if tensor.dim()}
    scalar_devices = {device_of(tensor) for tensor in tensors if not tensor.dim()}
    mixed = len(devices) > 1 or (devices == {CPU} and CUDA in scalar_devices)
    if mixed and func not in COPIES and not (func in INDEXES and first == CUDA):
        shapes = ", ".join(f"{tuple(tensor.shape)} on {device_of(tensor)}" for tensor in tensors)
        raise MixedDevicesError(f"{getattr(func, '__name__', func)} of {shapes}")
    return first if func in COPIES + INDEXES else CUDA if CUDA in devices | scalar_devices else CPU
