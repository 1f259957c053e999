"""A stand-in for an accelerator where there is none: tensors that say they are on CUDA and lie in main memory.

Under ``Elsewhere`` every tensor knows where it would be. What CUDA refuses fails here too: operations on tensors of two
places, reading one without bringing it home, and any traffic between the two while a graph is recorded. Numbers are the
CPU's.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

HERE, THERE = torch.device("cpu"), torch.device("cuda", 0)
COPIES = (Tensor.copy_, Tensor.__setitem__)  # from anywhere
INDEXES = (Tensor.__setitem__, Tensor.__getitem__, Tensor.index_put, Tensor.index_put_)  # an index may come from here
READS = {
    *(Tensor.item, Tensor.tolist, Tensor.nonzero, Tensor.cpu, Tensor.masked_select, Tensor.__array__, Tensor.numpy),
    *(Tensor.__bool__, Tensor.__int__, Tensor.__float__, Tensor.__index__, Tensor.unique),
    *(torch.nonzero, torch.masked_select, torch.tensor, torch.bincount, torch.unique),
}


class StrayedError(Exception):
    """Tensors of two places met, or one was read where it cannot be."""


def place(tensor: Tensor) -> torch.device:
    return THERE if vars(tensor).get("elsewhere") else HERE


def send(tensor: Tensor, where: torch.device) -> None:
    tensor.elsewhere = where.type == "cuda"  # type: ignore[attr-defined]


def send_model(model: Any) -> None:
    """What ``model.to("cuda")`` would do."""
    for tensor in (*model.parameters(), *model.buffers()):
        send(tensor, THERE)


class Elsewhere(TorchFunctionMode):
    """Tensors made for ``cuda`` or sent there, and whatever is computed of them, are there."""

    recording = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func == Tensor.device.__get__:
            return place(args[0])
        if func is torch.device:
            return func(*args, **kwargs)
        leaves = tree_leaves((args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        if func in (Tensor.numpy, Tensor.__array__) and place(tensors[0]) == THERE:
            raise StrayedError("numpy reads tensors that are here")
        asked = [torch.device(leaf) for leaf in leaves if is_device(leaf)]
        where = {"cpu": HERE, "cuda": THERE}[asked[-1].type] if asked else met(func, tensors)
        args, kwargs = tree_map(lambda leaf: HERE if is_device(leaf) else leaf, (args, kwargs))
        found = func(*args, **kwargs)
        by_mask = func in INDEXES and any(leaf.dtype == torch.bool for leaf in tensors[1:])
        made_here = where == HERE and isinstance(found, Tensor)
        if Elsewhere.recording and (func in READS or by_mask or made_here):
            raise StrayedError(f"{getattr(func, '__name__', func)} while a graph is recorded")
        if func in (Tensor.to, Tensor.cpu) and found is args[0] and place(found) != where:
            found = found.clone()
        for leaf in tree_leaves(found):
            if isinstance(leaf, Tensor):
                send(leaf, where)
        if func == Tensor.data.__set__:
            send(args[0], where)
        return found


def is_device(leaf: object) -> bool:
    return isinstance(leaf, torch.device) or (isinstance(leaf, str) and leaf in ("cpu", "cuda"))


def met(func: Any, tensors: list[Tensor]) -> torch.device:
    """Where an operation takes place; a single number from here may have a part in one there."""
    if func == Tensor.data.__set__:
        return place(tensors[1])
    if func is Tensor.cpu or not tensors:
        return HERE
    first = place(tensors[0])
    places = {place(tensor) for tensor in tensors if tensor.dim()}
    numbers = {place(tensor) for tensor in tensors if not tensor.dim()}
    strayed = len(places) > 1 or (places == {HERE} and THERE in numbers)
    if strayed and func not in COPIES and not (func in INDEXES and first == THERE):
        shapes = ", ".join(f"{tuple(tensor.shape)} on {place(tensor)}" for tensor in tensors)
        raise StrayedError(f"{getattr(func, '__name__', func)} of {shapes}")
    return first if func in COPIES + INDEXES else THERE if THERE in places | numbers else HERE
