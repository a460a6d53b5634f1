#!/usr/bin/env python3
"""Judges all that the tool does on random small training programs.

Each seed is a program of training_programs.py, which is rewritten at -O2 for
fp16 and for bf16, and at -O3 for one of them, with no rules and no options
besides. The tool may do one of two things:

    refuse    exit 2, with an error that says why
    accept    exit 0, and then

    roles     the audit gives each buffer the role that the seed knows
    neutral   with fp32 for half the rewrite prints what the original prints,
              where there is a loss scale at 1 and at 2^8
    half      no warning that the original lacks, with gcc and with clang; all
              losses are finite, and where no step is skipped (a loss scale
              of 2^8) no further from those of the original than BOUND below
              says

A PASS or FAIL line for each seed, and a summary with the reasons of refusals.
A program that fails is kept. Exit 1 if any failed, more than a third was
refused or nothing was in half, 2 if the driver was used wrongly.
"""

import argparse
import collections
import concurrent.futures
import json
import math
import pathlib
import re
import shlex
import shutil
import sys
import tempfile

import training_programs
from oracles import Failure, expect, first_difference
from random_layers import REFUSED, add_common, parse_common, reason_of
from random_storage import command, new_warnings

C_FLAGS = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-ffp-contract=off",
           "-Werror=incompatible-pointer-types"]
LOSS = re.compile(r"^loss (\S+)$", re.M)

# A rounding to half moves a number by at most u of it. Between parameters and
# loss lie at most four stores in half (a sum and an activation in each of two
# layers), and as many on the way back: 8 u in a step. The loss, which is of the
# second degree in them, moves by twice of it, and the drift of the parameters
# is given as much again: 32 u of the loss that the training began with. At -O3
# each step rounds the parameters as well, STEPS times.
UNIT = {"fp16": 2.0 ** -11, "bf16": 2.0 ** -8}
BOUND = {"-O2": 32, "-O3": 32 + 2 * training_programs.STEPS}


def losses_in(text):
    return [float(loss) for loss in LOSS.findall(text)]


def configurations(seed):
    yield "-O2", "fp16"
    yield "-O2", "bf16"
    yield "-O3", ("fp16", "bf16")[seed % 2]


class Program:
    """One seed in a folder."""

    def __init__(self, tools, seed, folder):
        self.tools, self.seed, self.folder = tools, seed, folder
        self.half_buffers = 0
        self.maker = training_programs.Maker(seed)
        (folder / "program.c").write_text(self.maker.make())

    def compile(self, cc, source, *flags, output=None):
        """The messages of the compiler."""
        argv = [cc, *C_FLAGS, *self.tools.cflag, *flags,
                *(f"-I{i}" for i in self.tools.include)]
        argv += ["-o", output] if output else ["-fsyntax-only"]
        argv.append(source)
        if output:
            for d in self.tools.libdir:
                argv += [f"-L{d}", f"-Wl,-rpath,{d}"]
            argv += ["-lm"] if source == "program.c" else ["-lamp", "-lm"]
        done = command(argv, self.folder)
        error = next((line for line in done.stderr.splitlines()
                      if "error" in line or "undefined" in line),
                     done.stderr[:200])
        expect(done.returncode == 0,
               f"{cc} {source} {' '.join(flags)}: {error}")
        return done.stderr

    def run(self, name, scale=None):
        setting = [f"AMP_LOSS_SCALE={scale}"] if scale else []
        done = command(["env", *setting, self.folder / name], self.folder)
        expect(done.returncode == 0,
               f"{name}: exit {done.returncode}: {done.stderr[:300]}")
        return done.stdout

    def judge(self):
        """[(configuration, reason of a refusal or None)] and a count of buffers
        in half."""
        self.messages = self.compile(self.tools.cc, "program.c",
                                     output="original")
        self.others = self.compile(self.tools.other_cc, "program.c")
        self.wanted = self.run("original")
        return [(f"{level} {half}", self.rewrite(level, half))
                for level, half in configurations(self.seed)
                ], self.half_buffers

    def tool(self, level, half, *flags):
        return command([self.tools.amp_rewrite, "program.c", level,
                        f"--half={half}", *flags], self.folder)

    def rewrite(self, level, half):
        name = f"{level[1:]}-{half}"
        done = self.tool(level, half, "-o", f"{name}.c")
        if done.returncode == REFUSED:
            return reason_of(done.stderr)
        expect(done.returncode == 0, f"{name}: amp-rewrite: exit "
               f"{done.returncode}: {done.stderr[-300:]}")
        self.roles(level, half)
        self.compile(self.tools.cc, f"{name}.c", "-DAMP_HALF_FP32",
                     output=f"{name}-neutral")
        is_scaled = ("amp_loss_scale"
                     in (self.folder / f"{name}.c").read_text())
        for scale in ("1", "256") if is_scaled else (None,):
            text = self.run(f"{name}-neutral", scale)
            expect(text == self.wanted, f"{name} neutral, scale {scale}: "
                   f"{first_difference(text, self.wanted)}")
        self.half(name, level, half)
        return None

    def roles(self, level, half):
        done = self.tool(level, half, "--audit=json")
        expect(done.returncode == 0,
               f"audit: exit {done.returncode}: {done.stderr[-300:]}")
        rows = json.loads(done.stdout)["buffers"]
        found = {row["name"]: row["role"] for row in rows}
        self.half_buffers += sum(row["precision"] == "half" for row in rows)
        for name, role in self.maker.roles.items():
            expect(found.get(name) == role,
                   f"audit {level} {half}: '{name}' is {found.get(name)}, "
                   f"not {role}")

    def half(self, name, level, half):
        define = f"-DAMP_HALF_{half.upper()}"
        for cc, before, output in (
                (self.tools.cc, self.messages, f"{name}-half"),
                (self.tools.other_cc, self.others, None)):
            after = self.compile(cc, f"{name}.c", define, output=output)
            extra = new_warnings(after, before)
            expect(not extra, f"{name}: {cc}: new {', '.join(extra)}")
        wanted = losses_in(self.wanted)
        for loss in losses_in(self.run(f"{name}-half")):
            expect(math.isfinite(loss), f"{name}: the loss is {loss}")
        losses = losses_in(self.run(f"{name}-half", "256"))
        expect(len(losses) == len(wanted), f"{name}: {len(losses)} losses")
        bound = BOUND[level] * UNIT[half] * abs(wanted[0])
        for step, (loss, exact) in enumerate(zip(losses, wanted)):
            expect(abs(loss - exact) <= bound,
                   f"{name}: loss {loss} after {step} steps, {exact} in FP32: "
                   f"further than {bound:.3g}")


def judge_seed(tools, seed, work):
    """What became of it, as `judge` says, or None after a FAIL line."""
    folder = work / f"seed-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        results, in_half = Program(tools, seed, folder).judge()
    except Failure as failure:
        text = " ".join(str(failure).split())
        print(f"FAIL seed {seed}: {text}\n     kept in {folder}", flush=True)
        return None
    shutil.rmtree(folder)
    refused = [name for name, why in results if why]
    print(f"PASS seed {seed}: {in_half} buffers in half"
          + (f", refused {', '.join(refused)}" if refused else ""), flush=True)
    return results, in_half


def parse(argv):
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_common(p, "0:15")
    p.add_argument("--other-cc", default="clang")
    p.add_argument("--jobs", type=int, default=1, help="seeds at a time")
    return parse_common(p, argv)


def main(argv):
    tools = parse(argv)
    if tools.print:
        for seed in tools.seeds:
            print(training_programs.Maker(seed).make(), end="")
        return 0
    work = pathlib.Path(tools.work
                        or tempfile.mkdtemp(prefix="random-training-"))
    with concurrent.futures.ThreadPoolExecutor(tools.jobs) as pool:
        results = list(pool.map(
            lambda seed: judge_seed(tools, seed, work.resolve()),
            tools.seeds))
    if not tools.work and not any(work.iterdir()):
        work.rmdir()
    failed = [s for s, result in zip(tools.seeds, results) if result is None]
    done = [result for result in results if result]
    rewrites = [one for result, _ in done for one in result]
    in_half = sum(n for _, n in done)
    refused = collections.Counter(why for _, why in rewrites if why)
    count = sum(refused.values())
    print(f"{len(tools.seeds)} programs, {len(failed)} failed; "
          f"{len(rewrites)} rewrites, {count} refused; "
          f"{in_half} buffers in half")
    for why, n in refused.most_common():
        print(f"{n:6} refused: {why}")
    if failed:
        print(f"FAIL; again: {shlex.join(sys.argv)} --seeds "
              + ",".join(map(str, failed)))
    too_many = 3 * count > len(rewrites)
    if too_many:
        print("FAIL more than a third was refused")
    if not in_half:
        print("FAIL nothing was in half")
    return 1 if failed or too_many or not in_half else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
