#!/bin/bash
# Packs what benchmarks/gpu needs on a machine without a network into folders .bundle/01 to NN for run.sh, and prints their sizes:
#
#     GRPO_ENV_DATA=FOLDER benchmarks/gpu/pack.sh MODEL.gguf
#
# 01 has GSM8K, this library and the wheels that the machine lacks; each other one a part of the model's file, the last one also
# its sha256. With the repository, a folder is at most 63 MiB. The machine has Linux, Python 3.12, torch, transformers, accelerate
# and peft.
set -euo pipefail
gguf=$(realpath "${1:?a GGUF file}") data=$(realpath "${GRPO_ENV_DATA:?names the folder with gsm8k_train.jsonl and gsm8k_test.jsonl}")
cd "$(dirname "$0")/../.."
rm -rf .bundle build/lib && mkdir -p .bundle/01
cp "$data"/gsm8k_{train,test}.jsonl .bundle/01/
python3 -m pip wheel -q --no-deps -w .bundle/01 .

names='trl|datasets|dill|multiprocess|pydantic|pydantic_core|annotated-types|typing-inspection|typing_extensions'
names+='|latex2sympy2_extended|math-verify|antlr4-python3-runtime|httpx2|httpcore2|truststore|anyio'
names+='|jsonschema|jsonschema-specifications|referencing|rpds-py'
tags=() && for tag in 2_28 2_27 2_24 2_17; do tags+=(--platform manylinux_${tag}_x86_64); done
python3 -m pip download -q --no-deps --only-binary=:all: --python-version 3.12 "${tags[@]}" -d .bundle/01 gguf==0.19.0 \
  $(grep -hixE "($names)==.*" constraints.txt benchmarks/requirements.txt | sort -u)

tree=$(git ls-files -z --cached --others --exclude-standard | { xargs -0 stat -c %s 2>/dev/null || true; } | awk '{s+=$1} END {print s}')
split --numeric-suffixes=2 -b $((63 * 1024 * 1024 - tree)) --filter='mkdir $FILE; cat > $FILE/${FILE#*/}.bin' "$gguf" .bundle/
sha256sum < "$gguf" > "$(ls -d .bundle/* | tail -1)/sha256"
echo "the repository: $tree bytes; 63 MiB are $((63 * 1024 * 1024))"
du -bs .bundle/*
