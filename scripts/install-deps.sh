#!/bin/sh
# Installs what building and testing need, from Debian 12 packages. libclang 22
# is what the tool is developed on; 19 is taken where 22 is not to be had.
# Needs root, or sudo. Prints nothing when everything is there already.
set -eu

run() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

missing() {
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null |
            grep -q 'ok installed' || echo "$package"
    done
}

llvm=
for version in 22 19; do
    if [ -z "$(missing "libclang-$version-dev" "llvm-$version-tools" \
        "clang-$version" "clang-format-$version")" ]; then
        llvm=$version
        break
    fi
done
if [ -z "$llvm" ]; then
    run apt-get update -qq
    for version in 22 19; do
        if apt-cache policy "libclang-$version-dev" |
            grep -q 'Candidate: [^(]'; then
            llvm=$version
            break
        fi
    done
    if [ -z "$llvm" ]; then
        echo "install-deps: no libclang 22 or 19 among the packages" >&2
        exit 1
    fi
fi

packages=$(missing build-essential cmake pkg-config flex bison python3 \
    "libclang-$llvm-dev" "clang-$llvm" "llvm-$llvm-tools" \
    "clang-format-$llvm" "libclang-rt-$llvm-dev" "libomp-$llvm-dev" \
    libdnnl-dev libopenblas-dev libcmocka-dev libcjson-dev uthash-dev)
if [ -n "$packages" ]; then
    run apt-get update -qq
    # shellcheck disable=SC2086 # a list of packages
    run env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
        --no-install-recommends $packages >/dev/null
fi
