#!/bin/bash
# Packs what benchmarks/gpu needs on a machine without a network into folders .bundle/1..N for run.sh, and prints their sizes:
#
#     GRPO_ENV_DATA=FOLDER benchmarks/gpu/pack.sh MODEL.gguf
#     BUNDLE=.bundle/small GRPO_ENV_DATA=FOLDER benchmarks/gpu/pack.sh SMALLER_MODEL.gguf
#
# 1 has the wheels unpacked, GSM8K and the first part of the model's file; each other one a part; N also the file's sha256.
# A folder and the files of this repository are at most 63 MiB together. It is for Linux with Python 3.12, torch, transformers,
# accelerate and peft.
set -euo pipefail
checkout=$(realpath "$(dirname "$0")/../..")
gguf=$(realpath "${1:?a GGUF file}") data=${GRPO_ENV_DATA:?names the folder with gsm8k_train.jsonl and gsm8k_test.jsonl}
here=$checkout/build/offline bundle=$checkout/${BUNDLE:-.bundle}
constrained() { grep -i "^$1==" "$checkout/constraints.txt" "$checkout/benchmarks/requirements.txt" -h | head -1; }

tags=() && for tag in manylinux_2_28 manylinux_2_27 manylinux_2_24 manylinux_2_17 manylinux2014 manylinux1; do tags+=(--platform ${tag}_x86_64); done
for_machine=(--no-deps --only-binary=:all: --python-version 3.12 --implementation cp "${tags[@]}")
wheels=(gguf==0.19.0 setuptools==81.0.0)
for name in trl datasets dill multiprocess pydantic pydantic_core annotated-types typing-inspection typing_extensions \
  latex2sympy2_extended math-verify antlr4-python3-runtime httpx2 httpcore2 truststore anyio \
  jsonschema jsonschema-specifications referencing rpds-py; do wheels+=("$(constrained $name)"); done
if [ ! -e $here/site.tar.xz ]; then
    rm -rf $here; mkdir -p $here/site/data
    python3 -m pip install -q --no-compile "${for_machine[@]}" --target $here/site "${wheels[@]}"
    cp "$data"/gsm8k_{train,test}.jsonl $here/site/data/
    tar cJf $here/site.part.xz -C $here/site . && mv $here/site.part.xz $here/site.tar.xz
fi

tree=$(cd "$checkout" && git ls-files -z --cached --others --exclude-standard | { xargs -0 stat -c %s 2>/dev/null || true; } | awk '{s+=$1} END {print s}')
site=$(stat -c %s $here/site.tar.xz) size=$(stat -c %s "$gguf") limit=$((63 * 1024 * 1024 - tree))
count=$(((site + size + limit - 1) / limit))
each=$(((site + size + count - 1) / count))
rm -rf "$bundle"/[0-9]*
from=0
for ((part = 1; part <= count; part++)); do
    mkdir -p "$bundle/$part"
    bytes=$each
    if [ $part = 1 ]; then cp $here/site.tar.xz "$bundle/1/"; bytes=$((each - site)); fi
    tail -c +$((from + 1)) "$gguf" | head -c $bytes > "$bundle/$part/$(printf 'model.%02d' $part)" || [ $? = 141 ]
    from=$((from + bytes))
done
sha256sum < "$gguf" > "$bundle/$count/sha256"
echo "the repository: $tree bytes; each folder with it at most $((limit + tree))"
du -bs "$bundle"/[0-9]* | sort -V -k 2
