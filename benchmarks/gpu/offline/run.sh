#!/bin/bash
# One of three parts of the GPU benchmark on a machine without a network, about nine minutes each, from what pack.sh packed:
#
#     OUT=FOLDER benchmarks/gpu/offline/run.sh 1     # then 2, then 3; in the root of the repository
#
# Results and logs go to OUT, row by row. If the machine is lost in between, put results.jsonl into .bundle/1 and begin again
# with part 1: what has a row is not measured again. SECONDS_LEFT shortens a part; EXTRA, JOBS and MODEL are for rehearsals.
part=${1:?1, 2 or 3}
: "${OUT:?a folder for the results}"
export PYTHONPATH=/tmp/site PYTHONUNBUFFERED=1
out=/tmp/gpu here=.bundle/$part
mkdir -p /tmp/site /tmp/tokenizer $out "$OUT"
cp -n $here/*.jsonl $out 2>/dev/null
(while sleep 20; do cp $out/*.jsonl "$OUT"; done) >/dev/null 2>&1 &
trap 'kill '$!'; cp $out/*.jsonl $out/*.txt "$OUT"; tar czf "$OUT/logs.tgz" -C $out logs' EXIT

unpack() { python3 -c "import sys, tarfile; tarfile.open(fileobj=sys.stdin.buffer, mode='r|xz').extractall('$1', filter='data')"; }
measure() { python3 benchmarks/gpu/run.py --out $out "$@" $EXTRA; }
left() { echo $((${SECONDS_LEFT:-560} - ${1:-0} - SECONDS)); }

if [ "$part" = 1 ]; then
    unpack /tmp/site < $here/site.tar.xz && unpack /tmp/tokenizer < $here/tokenizer.tar.xz || exit
    cp $here/weights /tmp/weights1
    pip="python3 -m pip install -q --no-index --no-deps --no-build-isolation --no-cache-dir --root-user-action ignore"
    $pip -e . || $pip --target /tmp/site . || exit
    nvidia-smi
    python3 -c "import torch, transformers, trl, grpo_env; print(torch.__version__, transformers.__version__, trl.__version__)" || exit
    echo "ready after $SECONDS s"
    OMP_NUM_THREADS=4 measure --stages works --jobs ${JOBS:-4} --seconds "$(left 160)"
    measure --stages fast --only ceilings --seconds 60
    measure --stages fast --only 1.5B --model ${MODEL:-/tmp/tokenizer} --seconds "$(left)"
elif [ "$part" = 2 ]; then
    cat /tmp/weights1 $here/weights | unpack /tmp/site || exit
    python3 benchmarks/gpu/smollm2.py /tmp/smollm2 && ls /tmp/smollm2/model.safetensors || exit
    echo "ready after $SECONDS s"
    OMP_NUM_THREADS=4 measure --model ${MODEL:-/tmp/smollm2} --stages works --jobs ${JOBS:-4} --seconds 100
    measure --model ${MODEL:-/tmp/smollm2} --stages fast --seconds "$(left)"
else
    unpack /tmp/site < $here/extra.tar.xz || exit
    measure --model ${MODEL:-/tmp/smollm2} --data /tmp/site/data --stages works --only 8bit --seconds 60
    measure --model ${MODEL:-/tmp/smollm2} --data /tmp/site/data --stages learns --only sums/ --seconds "$(left)"
fi
python3 benchmarks/gpu/report.py $out | tee "$OUT/report.md"
echo "ended after $SECONDS s"
