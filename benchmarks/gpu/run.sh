#!/bin/bash
# The GPU benchmark on a machine without a network, from what pack.sh packed; in the root of the repository, one after the other:
#
#     OUT=FOLDER benchmarks/gpu/run.sh 1          # unpacks, and starts stage A, which goes on by itself
#     OUT=FOLDER benchmarks/gpu/run.sh 2          # keeps a part of the model, as do 3 to N-1
#     OUT=FOLDER benchmarks/gpu/run.sh N 420      # joins the model and waits for stage A, then stage B; all in 420 seconds
#
# Each call copies results, logs and the report to OUT, the last one every 20 seconds. BUNDLE names another folder than .bundle;
# EXTRA has options of run.py for a rehearsal, WORK the folder for what is unpacked.
set -u
part=${1:?a number} work=${WORK:-/tmp/gpu} here=${BUNDLE:-.bundle}/$1
: "${OUT:?a folder for the results}"
export PYTHONPATH=$work/site PYTHONUNBUFFERED=1
mkdir -p $work/site $work/model $work/out/logs "$OUT"
keep() { cp $work/out/*.jsonl $work/out/*.md $work/out/*.txt "$OUT"; tar czf "$OUT/logs.tgz" -C $work/out logs; } 2>/dev/null
measure() { python3 $work/benchmarks/gpu/run.py "$@" --out $work/out ${EXTRA:-}; }
report() { python3 $work/benchmarks/gpu/run.py report --out $work/out > $work/out/report.md; cat $work/out/report.md; keep; }

cp $here/model.* $work/model/
if [ -e $here/site.tar.xz ]; then
    python3 -c "import tarfile; tarfile.open('$here/site.tar.xz').extractall('$work/site', filter='data')" || exit
    python3 -m pip install -q --no-index --no-deps --no-build-isolation --no-cache-dir --root-user-action ignore --target $work/site . || exit
    cp -r benchmarks examples $work/  # the working tree is replaced by the next call
    date +%s > $work/begin
fi
# Stage A, in a session of its own, so that it outlives this call. If it was ended all the same, it goes on.
left=$((290 - $(date +%s) + $(cat $work/begin)))
export -f measure; export work EXTRA
setsid flock -n $work/lock bash -c "measure A --seconds $left" >> $work/out/stage_a.txt 2>&1 < /dev/null &
if [ ! -e $here/sha256 ]; then
    report
    exit
fi
(while sleep 20; do keep; done) > /dev/null 2>&1 &
trap 'kill '$!'; keep' EXIT
cat $work/model/model.* > $work/model.gguf
[ "$(sha256sum < $work/model.gguf)" = "$(cat $here/sha256)" ] || { echo "the joined model is another file"; exit 1; }
python3 $work/benchmarks/from_gguf.py $work/model.gguf $work/converted || exit
flock $work/lock true
echo "stage B begins after $SECONDS s"
measure B --model $work/converted --data $work/site/data --seconds $((${2:?seconds} - SECONDS - 15))
report
