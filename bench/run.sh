#!/bin/sh
# Builds the project for speed and runs the benchmarks, which print ratios:
#
#     sh bench/run.sh [options]           see --help, and docs/benchmarks.md
#
# AMP_BUILD chooses the build folder (build-bench). Nothing is downloaded;
# code of other projects is measured where an option says where it lies.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
build=${AMP_BUILD:-$top/build-bench}

# Spinning OpenMP threads stall whole time slices on a busy machine.
export OMP_WAIT_POLICY=passive

case " $* " in
*" --help "* | *" -h "*) exec python3 -B "$here/main.py" --help ;;
esac

mkdir -p "$build"
log=$build/build.log
jobs=$(getconf _NPROCESSORS_ONLN)
if ! { cmake -S "$top" -B "$build" -DCMAKE_BUILD_TYPE=Release \
    -DAMP_SANITIZE=OFF -DAMP_TESTS=OFF -DAMP_CUDA=OFF &&
    cmake --build "$build" -j"$jobs" &&
    cmake --build "$build" -j"$jobs" --target amp_bench_runtime; } \
    >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    exit 1
fi
exec python3 -B "$here/main.py" --build "$build" "$@"
