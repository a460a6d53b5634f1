"""same.py TOOLS... SOURCE [OPTION...] [-- FLAG...]: a rewrite keeps the program.

Rewrites SOURCE with the OPTIONs and prints the diff. The new source must
compile without warnings for each half type and with both compilers, print what
the original prints in the neutral build, at a loss scale of 1 and of 2^8, and
be left alone by a second run. FLAGs go to the compilers and to amp-rewrite.
"""
import argparse
import os
import subprocess
import sys

HALVES = ["-DAMP_HALF_FP16", "-DAMP_HALF_BF16", "-DAMP_HALF_FP32"]
WARNINGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror"]


class Failed(Exception):
    pass


def run(argv, cwd, env=None):
    done = subprocess.run(argv, cwd=cwd, capture_output=True, check=False,
                          env={**os.environ, **(env or {})})
    if done.returncode:
        text = done.stderr.decode(errors="replace")
        raise Failed(f"{' '.join(argv)}: exit {done.returncode}\n{text}")
    return done.stdout


def parse(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("--amp-rewrite", required=True)
    parser.add_argument("--cc", required=True)
    parser.add_argument("--other-cc", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("--lib", required=True)
    parser.add_argument("--cflag", action="append", default=[])
    parser.add_argument("--work", required=True)
    parser.add_argument("--only", choices=["bf16", "neutral"],
                        help="the half types this output is for")
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("source")
    options, rest = parser.parse_known_args(argv)
    at = rest.index("--") if "--" in rest else len(rest)
    options.rewrite, options.flags = rest[:at], rest[at + 1 :]
    return options


def judge(o):
    os.makedirs(o.work, exist_ok=True)
    base = WARNINGS + o.flags + ["-I", os.path.dirname(o.source)]
    amp = ["-I", o.include]
    libdir = os.path.dirname(o.lib)
    link = o.cflag + ["-L", libdir, "-lamp", f"-Wl,-rpath,{libdir}", "-lm"]
    after = ["--", *o.flags, "-I", os.path.dirname(o.source)]
    made = os.path.join(o.work, "new.c")

    tool = [o.amp_rewrite, o.source, *o.rewrite]
    diff = run(tool + after, o.work)
    run(tool + ["-o", made] + after, o.work)
    sys.stdout.buffer.write(diff)
    sys.stdout.flush()
    if not diff:
        raise Failed("nothing was rewritten")
    if run([o.amp_rewrite, made, *o.rewrite] + after, o.work):
        raise Failed("a second run changes the file again")

    halves = {"bf16": HALVES[1:], "neutral": HALVES[2:]}.get(o.only, HALVES)
    for half in halves:
        run([o.cc, *base, *amp, half, "-fsyntax-only", made], o.work)
    run([o.other_cc, *base, *amp, halves[0], "-fsyntax-only", made], o.work)
    run([o.cc, *base, o.source, "-o", "old", "-lm", *o.cflag], o.work)
    run([o.cc, *base, *amp, HALVES[2], made, "-o", "new", *link], o.work)
    wanted = run(["./old"], o.work)
    for scale in ("1", "256"):
        if run(["./new"], o.work, {"AMP_LOSS_SCALE": scale}) != wanted:
            raise Failed(f"prints something else at loss scale {scale}")
    for half in halves[:-1] if o.exact else []:
        run([o.cc, *base, *amp, half, made, "-o", "half", *link], o.work)
        if run(["./half"], o.work) != wanted:
            raise Failed(f"prints something else with {half}")


def main():
    try:
        judge(parse(sys.argv[1:]))
    except Failed as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


sys.exit(main())
