#!/bin/sh
# Installs what is needed, builds amp-rewrite and libamp, rewrites the example,
# trains the original and the rewritten program side by side, and prints the
# audit. AMP_BUILD chooses the build folder.
set -eu
cd "$(dirname "$0")/.."
build=${AMP_BUILD:-build}
mkdir -p "$build"
build=$(cd "$build" && pwd)
install=$build/install

sh scripts/install-deps.sh
export OMP_WAIT_POLICY=passive

echo "== build"
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DAMP_TESTS=OFF \
    >"$build.log" 2>&1 ||
    { cat "$build.log"; exit 1; }
cmake --build "$build" -j"$(getconf _NPROCESSORS_ONLN)" >>"$build.log" 2>&1 ||
    { cat "$build.log"; exit 1; }
cmake --install "$build" --prefix "$install" >>"$build.log" 2>&1 ||
    { cat "$build.log"; exit 1; }
rm -f "$build.log"
PATH="$install/bin:$PATH"
# The library folder differs between systems (lib, lib64, lib/x86_64-...).
pc=$(find "$install" -name amp.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
LD_LIBRARY_PATH=$(pkg-config --variable=libdir amp)
export LD_LIBRARY_PATH

demo=$build/demo
mkdir -p "$demo"
echo "== amp-rewrite examples/mlp/train.c -O1 -o $demo/train_amp.c"
amp-rewrite examples/mlp/train.c -O1 -o "$demo/train_amp.c"
diff -u examples/mlp/train.c "$demo/train_amp.c" || true

amp=$(pkg-config --cflags --libs amp)
cc -O2 examples/mlp/train.c -o "$demo/train" -lopenblas -lm
for half in FP16 BF16; do
    # shellcheck disable=SC2086 # flags are words
    cc -O2 -DAMP_HALF_$half "$demo/train_amp.c" -o "$demo/train_$half" \
        $amp -lopenblas -lm
done

for program in train train_FP16 train_BF16; do
    echo "== $program"
    "$demo/$program"
done

echo "== amp-rewrite --audit examples/mlp/train.c"
amp-rewrite --audit examples/mlp/train.c
