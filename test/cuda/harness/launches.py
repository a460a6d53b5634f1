#!/usr/bin/env python3
"""Translates kernel<<<grid, block[, shared[, stream]]>>>(args) to AMP_LAUNCH,
so that a .cu file compiles with a host compiler behind host_cuda.h.

usage: launches.py in.cu > out.cpp"""
import re
import sys

LAUNCH = re.compile(r"(\w+)\s*<<<(.*?)>>>\s*\(", re.S)


def split_arguments(text):
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + [text[start:].strip()]


def replace(match):
    config = split_arguments(match.group(2))
    if len(config) > 2 and config[2] != "0":
        sys.exit("launches.py: shared memory is not supported: "
                 + match.group(0))
    stream = config[3] if len(config) > 3 else "0"
    return "AMP_LAUNCH(%s, %s, %s, %s, " % (
        match.group(1), config[0], config[1], stream)


with open(sys.argv[1], encoding="utf-8") as source:
    code = source.read()
print('#line 1 "%s"' % sys.argv[1])
sys.stdout.write(LAUNCH.sub(replace, code))
