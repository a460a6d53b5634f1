#!/usr/bin/env python3
"""Runs the benchmarks on a build that run.sh made. docs/benchmarks.md says
what the figures mean."""

import argparse
import pathlib
import re
import shutil
import sys

import llmc
import mlp
import storage
import tool
from common import Targets, finish, has_flag, print_machine, run

GEMM = re.compile(r"(fp16|bf16)\s+(\d+) x\s+(\d+) x\s+(\d+)"
                  r"\s+\S+\s+\S+\s+([\d.]+)$")
KERNEL = re.compile(r"(\S.*?\S)\s+(\d+)\s+[\d.]+\s+[\d.]+\s+([\d.]+)$")
PARTS = ("tool", "storage", "runtime", "mlp", "llmc")


def runtime(options, targets):
    """libamp over the raw primitive and memcpy, and buffers in half over FP32:
    bench/runtime prints it. What is stored in half has no target."""
    print("\n== libamp over the oneDNN primitive and memcpy", flush=True)
    program = options.build / "bench/runtime/amp_bench_runtime"
    done = run([program])
    print(done.out.rstrip())
    if done.code:
        print(done.err.rstrip())
        return
    for line in done.out.partition("\nproduct, half")[0].splitlines():
        if m := GEMM.match(line):
            if min(int(x) for x in m.groups()[1:4]) >= 1024:
                targets.at_most("gemm " + " x ".join(m.groups()[1:4]) + " "
                                + m.group(1), float(m.group(5)), 1.1)
        elif m := KERNEL.match(line):
            targets.at_least(f"{m.group(1)}, {m.group(2)} elements",
                             float(m.group(3)), 0.8)


def parse():
    p = argparse.ArgumentParser(
        prog="sh bench/run.sh", description="Prints ratios; a figure without "
        "its machine and its peer means little, so both are printed.")
    p.add_argument("--build", type=pathlib.Path, help=argparse.SUPPRESS)
    p.add_argument("--only", default=",".join(PARTS),
                   help="parts, with commas (%(default)s)")
    p.add_argument("--rounds", type=int, default=7,
                   help="interleaved rounds of a comparison (%(default)s)")
    p.add_argument("--tool-inputs", nargs="+", default=[], metavar="INPUT",
                   help="more input of the tool: a file, or in quotes a file "
                        "or -p DIR with options of amp-rewrite, as "
                        "'a.c --rules=a.amp -- -I include'")
    p.add_argument("--no-own-inputs", action="store_true",
                   help="leave out the project's own programs (tool)")
    p.add_argument("--llmc", type=pathlib.Path, metavar="DIR",
                   help="a checkout of karpathy/llm.c")
    p.add_argument("--llmc-steps", type=int, default=4, metavar="N",
                   help="steps of a run (%(default)s)")
    p.add_argument("--darknet", type=pathlib.Path, metavar="DIR",
                   help="pjreddie/darknet with its compile_commands.json")
    p.add_argument("--attention", type=pathlib.Path, metavar="DIR",
                   help="a checkout of markusheimerl/attention")
    p.add_argument("--cc", default="gcc", help="compiles what is run")
    options = p.parse_args()
    options.only = options.only.split(",")
    if not set(options.only) <= set(PARTS):
        p.error(f"--only takes {', '.join(PARTS)}")
    if options.rounds < 1 or options.llmc_steps < 2:
        p.error("at least 1 round and 2 steps")
    options.build = options.build.resolve()
    options.top = pathlib.Path(__file__).resolve().parent.parent
    options.tool = options.build / "tool/amp-rewrite"
    options.work = options.build / "bench-work"
    options.amx = has_flag("amx_bf16")
    return options


def main():
    options = parse()
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    targets = Targets()
    print_machine(options)
    for name, part in (("tool", tool.bench), ("storage", storage.bench),
                       ("runtime", runtime),
                       ("mlp", mlp.bench), ("llmc", llmc.bench)):
        if name in options.only:
            part(options, targets)
    finish(targets)
    return 0


if __name__ == "__main__":
    sys.exit(main())
