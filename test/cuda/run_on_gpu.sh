#!/bin/sh
# Runs the CUDA test program on a GPU: the original, and its rewrite in the
# neutral build, fp16 and bf16, and compares what they print.
#
# usage: test/cuda/run_on_gpu.sh BUILD_DIR [REWRITTEN.cu]
#
# BUILD_DIR is a CMake build of this project with libamp_cuda. Without
# REWRITTEN.cu the rewrite is made by BUILD_DIR's amp-rewrite if it is there,
# otherwise by applying expected.diff. NVCC and ARCH (default: native) may be
# set. Exit 1 if a comparison fails, 77 if there is no GPU.
set -eu

build=${1:?usage: run_on_gpu.sh BUILD_DIR [REWRITTEN.cu]}
root=$(cd "$(dirname "$0")/../.." && pwd)
program=$root/test/programs/cuda_mlp
nvcc=${NVCC:-nvcc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! nvidia-smi -L 2>/dev/null; then
    echo "no GPU here"
    exit 77
fi

if [ $# -gt 1 ]; then
    cp "$2" "$work/mlp_amp.cu"
elif [ -x "$build/tool/amp-rewrite" ]; then
    "$build/tool/amp-rewrite" "$program/mlp.cu" -O1 -o "$work/mlp_amp.cu"
else
    patch -s -o "$work/mlp_amp.cu" "$program/mlp.cu" "$program/expected.diff"
fi

compile() { # source, half type, program
    "$nvcc" -O2 -arch="${ARCH:-native}" "-DAMP_HALF_$2" \
        -I"$root/runtime/include" "$1" -o "$work/$3" \
        -L"$build/runtime/cuda" -lamp_cuda -L"$build/runtime" -lamp -lcublas
}

compile "$program/mlp.cu" FP32 original
for half in FP32 FP16 BF16; do
    compile "$work/mlp_amp.cu" $half $half
done

export LD_LIBRARY_PATH="$build/runtime/cuda:$build/runtime:${LD_LIBRARY_PATH:-}"
failed=0

verdict() { # condition's exit status, text
    if [ "$1" -eq 0 ]; then
        echo "PASS $2"
    else
        echo "FAIL $2"
        failed=1
    fi
}

run() { # program, output name, environment...
    name=$1 out=$2
    shift 2
    env "$@" "$work/$name" "$work/$out.bin" >"$work/$out.txt" \
        2>"$work/$out.err" || { cat "$work/$out.err"; exit 1; }
}

same() {
    cmp -s "$work/original.bin" "$work/$1.bin" &&
        cmp -s "$work/original.txt" "$work/$1.txt"
}

# Final loss within 0.01 + 5 %, accuracy within 0.02 of the original's.
near() {
    awk 'function abs(x) { return x < 0 ? -x : x }
         /^final/ { loss[FILENAME] = $3; accuracy[FILENAME] = $5 }
         END { a = ARGV[1]; b = ARGV[2]
               exit !(abs(loss[a] - loss[b]) <= 0.01 + 0.05 * loss[a] &&
                      abs(accuracy[a] - accuracy[b]) <= 0.02) }' \
        "$work/original.txt" "$work/$1.txt"
}

check() { # function, run, text
    status=0
    "$1" "$2" || status=1
    verdict $status "$3"
}

run original original A=
cat "$work/original.txt"
run FP32 neutral AMP_LOSS_SCALE=1
check same neutral "neutral build equals the original"
run FP32 scaled AMP_LOSS_SCALE=256
check same scaled "neutral build at scale 2^8 equals the original"
for half in FP16 BF16; do
    run $half $half AMP_CHECK_CASTS=1
    cat "$work/$half.txt" "$work/$half.err"
    check near $half "$half trains like FP32"
    run $half inject AMP_INJECT_OVERFLOW=3
    status=0
    [ "$(grep -c 'step 3: .*step skipped' "$work/inject.err")" -eq 1 ] ||
        status=1
    verdict $status "$half skips the step with an overflow"
done
exit $failed
