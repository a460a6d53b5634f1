#!/bin/sh
# Installs what is needed, builds with ASan and UBSan, and runs every test.
# The last line counts them. AMP_BUILD chooses the build folder.
set -eu
cd "$(dirname "$0")/.."
build=${AMP_BUILD:-build-test}

sh scripts/install-deps.sh
jobs=$(getconf _NPROCESSORS_ONLN)
# libgomp spins by default, which stalls whole time slices on busy machines.
export OMP_WAIT_POLICY=passive

cmake -S . -B "$build" -DAMP_SANITIZE=ON >"$build.log" 2>&1 ||
    { cat "$build.log"; exit 1; }
cmake --build "$build" -j"$jobs" >>"$build.log" 2>&1 ||
    { cat "$build.log"; exit 1; }
rm -f "$build.log"
ctest --test-dir "$build" -j"$jobs" --output-on-failure --no-tests=error
