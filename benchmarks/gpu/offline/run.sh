#!/bin/bash
# Parts of the GPU benchmark on a machine without a network, from what pack.sh packed; in the root of the repository:
#
#     OUT=FOLDER benchmarks/gpu/offline/run.sh 1     # five minutes: does it work; what the device can do; a 1.5B shape
#     OUT=FOLDER benchmarks/gpu/offline/run.sh 2     # the rest of a quarter of an hour: SmolLM2's decoding, steps and sums
#     OUT=FOLDER benchmarks/gpu/offline/run.sh 3     # GSM8K, for which parts 1 and 2 must have been unpacked
#
# Results and logs go to OUT every 20 seconds, the report at the end. SECONDS_LEFT limits a part: half a minute less than
# the time after which the script is killed. To go on at another time, put results.jsonl into .bundle/1 and begin again with
# part 1: what has a row is not measured again, so that each part comes to what is left.
# SECONDS_LEFT=0 only unpacks. EXTRA, JOBS and MODEL are for rehearsals.
part=${1:?1, 2 or 3}
: "${OUT:?a folder for the results}"
export PYTHONPATH=/tmp/site PYTHONUNBUFFERED=1
out=/tmp/gpu here=.bundle/$part
SECONDS_LEFT=${SECONDS_LEFT:-$([ $part = 1 ] && echo 290 || echo 560)}
mkdir -p /tmp/site /tmp/tokenizer $out "$OUT"
cp -n $here/*.jsonl $out 2>/dev/null
keep() { cp $out/*.jsonl $out/*.txt "$OUT"; tar czf "$OUT/logs.tgz" -C $out logs; }
(while sleep 20; do keep; done) >/dev/null 2>&1 &
trap 'kill '$!'; keep 2>/dev/null' EXIT

unpack() { python3 -c "import sys, tarfile; tarfile.open(fileobj=sys.stdin.buffer, mode='r|xz').extractall('$1', filter='data')"; }
measure() { python3 benchmarks/gpu/run.py --out $out "$@" $EXTRA; }
works() { OMP_NUM_THREADS=4 measure --stages works --jobs ${JOBS:-6} "$@"; }
left() { echo $((SECONDS_LEFT - SECONDS < ${1:-600} ? SECONDS_LEFT - SECONDS : ${1:-600})); }

if [ "$part" = 1 ]; then
    unpack /tmp/site < $here/site.tar.xz && unpack /tmp/tokenizer < $here/tokenizer.tar.xz || exit
    cp $here/weights /tmp/weights1
    pip="python3 -m pip install -q --no-index --no-deps --no-build-isolation --no-cache-dir --root-user-action ignore"
    $pip -e . || $pip --target /tmp/site . || exit
    nvidia-smi
    python3 -c "import torch, transformers, trl, grpo_env; print(torch.__version__, transformers.__version__, trl.__version__)" || exit
    echo "ready after $SECONDS s"
    works --seconds "$(left 130)"
    measure --stages fast --only 'ceilings|1.5B/(CUDA graphs|ours)' --model ${MODEL:-/tmp/tokenizer} --seconds "$(left)"
elif [ "$part" = 2 ]; then
    cat /tmp/weights1 $here/weights | unpack /tmp/site || exit
    python3 benchmarks/gpu/smollm2.py /tmp/smollm2 && ls /tmp/smollm2/model.safetensors || exit
    echo "ready after $SECONDS s"
    works --model ${MODEL:-/tmp/smollm2} --seconds "$(left 60)"
    for only in 'decoding/real/CUDA graphs|step/real/(ours|trl)$' 'sums/.*outcome.*0' 1.5B fast/ learns/sums/; do
        measure --model ${MODEL:-/tmp/smollm2} --only "$only" --seconds "$(left)"
    done
else
    unpack /tmp/site < $here/extra.tar.xz || exit
    works --only 8bit --seconds "$(left)"
    for only in GSM8K/ours GSM8K/trl; do
        measure --model ${MODEL:-/tmp/smollm2} --data /tmp/site/data --only $only --seconds "$(left)"
    done
fi
python3 benchmarks/gpu/report.py $out | tee "$OUT/report.md"
echo "ended after $SECONDS s"
