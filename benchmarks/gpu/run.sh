#!/bin/bash
# The GPU benchmark on a machine without a network, from what pack.sh packed; in the root of the repository, one after the other,
# each with its folder .bundle/NN there:
#
#     OUT=FOLDER benchmarks/gpu/run.sh 01         # installs, and starts stage A, which goes on by itself
#     OUT=FOLDER benchmarks/gpu/run.sh 02         # keeps a part of the model, as do 03 and so on
#     OUT=FOLDER benchmarks/gpu/run.sh NN 420     # the last one: converts the model, waits for stage A, then stage B; all in 420 s
#
# Each call copies results and logs to OUT, the last one every 5 seconds, and the report at its end. EXTRA has options of run.py
# for a rehearsal, WORK the folder for what is installed.
set -u
part=.bundle/${1:?a number} work=${WORK:-/tmp/gpu}
[ ! -e $part/sha256 ] || seconds=${2:?seconds for the last part}
: "${OUT:?a folder for the results}"
export PYTHONPATH=$work/site PYTHONUNBUFFERED=1 HF_HUB_OFFLINE=1
run="python3 $work/benchmarks/gpu/run.py"
mkdir -p $work/model $work/out/logs "$OUT"
keep() { cp $work/out/*.jsonl $work/out/*.md $work/out/*.txt "$OUT"; tar czf "$OUT/logs.tgz" -C $work/out logs; } 2>/dev/null

if [ -e $part/gsm8k_train.jsonl ]; then
    python3 -m pip install -q --no-index --no-deps --no-cache-dir --upgrade --root-user-action ignore --target $work/site $part/*.whl || exit
    cp -r benchmarks examples $part/*.jsonl $work/  # the working tree is replaced by the next call
    nvidia-smi > $work/out/nvidia-smi.txt
    # In a session of its own, so that it outlives this call.
    setsid flock $work/lock $run A --out $work/out --seconds 280 ${EXTRA:-} > $work/out/stage_a.txt 2>&1 < /dev/null &
    sleep 5  # what is not yet in a session of its own is ended with this call
else
    cp $part/*.bin $work/model/ || exit
fi
if [ ! -e $part/sha256 ]; then
    keep
    cat $work/out/stage_a.txt
    exit
fi
(while sleep 5; do keep; done) > /dev/null 2>&1 &
trap 'kill '$!'; keep' EXIT
[ "$(cat $work/model/*.bin | sha256sum)" = "$(cat $part/sha256)" ] || { echo "the joined model is another file"; exit 1; }
python3 $work/benchmarks/from_gguf.py $work/model $work/converted 2> $work/out/logs/conversion.log || exit
flock $work/lock true
echo "stage B begins after $SECONDS s"
$run B --out $work/out --model $work/converted --data $work --seconds $((seconds - SECONDS - 15)) ${EXTRA:-}
$run report --out $work/out | tee $work/out/report.md
