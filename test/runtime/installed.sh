#!/bin/sh
# installed.sh BUILD_DIR SOURCE_DIR CC [NVCC]: installs into a scratch folder
# and builds header.c against it as C, C++ and CUDA, by pkg-config and by the
# CMake package.
set -eu
build=$1
source=$2
cc=$3
nvcc=${4:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

DESTDIR= cmake --install "$build" --prefix "$work/usr" >"$work/log"
pc=$(find "$work/usr" -name amp.pc)
libdir=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH="$libdir/pkgconfig"
export LD_LIBRARY_PATH="$libdir"

# The version is written in three places.
version=$(sed -n 's/^#define AMP_VERSION_[A-Z]* //p' \
    "$work/usr/include/amp/amp.h" | paste -sd.)
[ "$(pkg-config --modversion amp)" = "$version" ]
[ -e "$libdir/libamp.so.$version" ]
[ "$(readlink "$libdir/libamp.so")" = "libamp.so.${version%%.*}" ]

# shellcheck disable=SC2046
for half in FP16 BF16 FP32; do
    for language in c:c99 c:c11 c++:c++11 c++:c++17; do
        $cc -x ${language%:*} -std=${language#*:} -pedantic -Wall -Wextra \
            -Wconversion -Wshadow -Werror -DAMP_HALF_$half \
            $(pkg-config --cflags amp) -c "$source/header.c" \
            -o "$work/program.o"
        $cc "$work/program.o" $(pkg-config --libs amp) -o "$work/program"
        "$work/program"
        $cc "$work/program.o" "$libdir/libamp.a" \
            $(pkg-config --static --libs amp | sed 's/-lamp//') \
            -o "$work/program"
        "$work/program"
    done
    # With F16C the inline conversions are others.
    if $cc -mf16c -fsyntax-only -xc /dev/null 2>/dev/null; then
        for language in c:c99 c:c11 c++:c++11 c++:c++17; do
            $cc -x ${language%:*} -std=${language#*:} -pedantic -Wall -Wextra \
                -Wconversion -Wshadow -Werror -DAMP_HALF_$half -mf16c \
                $(pkg-config --cflags amp) -fsyntax-only "$source/header.c"
        done
    fi
    [ -z "$nvcc" ] || {
        "$nvcc" -x cu -DAMP_HALF_$half $(pkg-config --cflags amp) \
            -c "$source/header.c" -o "$work/program.o"
        "$nvcc" "$work/program.o" $(pkg-config --libs amp) -o "$work/program"
        "$work/program"
    }
done

# Nothing but amp_* is exported, nor in the way of a program's own names.
for names in "$(nm -D --defined-only "$libdir/libamp.so")" \
    "$(nm -g --defined-only "$libdir/libamp.a")"; do
    others=$(echo "$names" | awk 'NF == 3 && $2 != "A" {print $3}' |
        grep -v '^amp_' || true)
    [ -z "$others" ] || {
        echo "exports beyond amp_*: $others"
        exit 1
    }
done

# Projects of one language each: the package must not need another.
for language in C CXX; do
    mkdir "$work/$language"
    file=$work/$language/user.$(echo $language | tr CX cx)
    cp "$source/header.c" "$file"
    cat >"$work/$language/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.20)
project(user $language)
find_package(Amp ${version%.*} REQUIRED)
foreach(kind amp amp_static)
    add_executable(user_\${kind} $file)
    target_link_libraries(user_\${kind} PRIVATE Amp::\${kind})
endforeach()
END
    cmake -S "$work/$language" -B "$work/$language/out" \
        -DCMAKE_PREFIX_PATH="$work/usr" >>"$work/log"
    cmake --build "$work/$language/out" >>"$work/log" 2>&1 || {
        tail "$work/log"
        exit 1
    }
    "$work/$language/out/user_amp"
    "$work/$language/out/user_amp_static"
done
