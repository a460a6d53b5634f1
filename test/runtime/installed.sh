#!/bin/sh
# installed.sh BUILD_DIR SOURCE_DIR CC: installs into a scratch folder and
# builds header.c against it, by pkg-config and by the CMake package.
set -eu
build=$1
source=$2
cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

DESTDIR= cmake --install "$build" --prefix "$work/usr" >"$work/log"
pc=$(find "$work/usr" -name amp.pc)
libdir=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH="$libdir/pkgconfig"
# A package is made for its final prefix; here that is the scratch folder.
sed -i "s|^prefix=.*|prefix=$work/usr|" "$pc"
[ "$(pkg-config --modversion amp)" != "" ]

for half in FP16 BF16 FP32; do
    for language in c c++; do
        # shellcheck disable=SC2046
        $cc -x $language -Wall -Wextra -Wconversion -Wshadow -Werror \
            -DAMP_HALF_$half "$source/header.c" -x none \
            $(pkg-config --cflags --libs amp) -o "$work/program"
        LD_LIBRARY_PATH="$libdir" "$work/program"
    done
done

exported=$(nm -D --defined-only "$libdir/libamp.so" | awk '$2 == "T" {print $3}' |
    grep -v '^amp_' || true)
[ -z "$exported" ] || {
    echo "exports beyond amp_*: $exported"
    exit 1
}

mkdir "$work/project"
cat >"$work/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.20)
project(user C)
find_package(Amp REQUIRED)
foreach(kind amp amp_static)
    add_executable(user_\${kind} $source/header.c)
    target_link_libraries(user_\${kind} PRIVATE Amp::\${kind})
endforeach()
END
cmake -S "$work/project" -B "$work/out" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_PREFIX_PATH="$work/usr" >>"$work/log"
cmake --build "$work/out" >>"$work/log"
"$work/out/user_amp"
"$work/out/user_amp_static"
