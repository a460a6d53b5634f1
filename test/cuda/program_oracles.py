#!/usr/bin/env python3
"""Judges a rewrite of a CUDA training program without a GPU.

usage: program_oracles.py host|nvcc ORIGINAL.cu (--rewritten FILE | --diff FILE)
           --include DIR... [--lib FILE...] [--flag FLAG...]
           [--cxx CXX] [--nvcc NVCC]

host: both are compiled for the CPU behind harness/host_cuda.h and linked with
the fakes, which shows that they compute the same, not what a GPU computes.
    neutral   same output and same parameter file
    scale     the same with the loss scale at 2^8 and 2^-3; a scale of 3 must
              change the parameters, or nothing was scaled
    train     fp16 and bf16: final loss and accuracy near FP32 and different
              parameters; the overflow put in at step 3 skips that step only
nvcc: both compile without a warning and link, in every half type.

One line each: PASS or FAIL, the oracle, the reason. Exit 1 if any failed."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
HALVES = ("FP32", "FP16", "BF16")
LIMIT = 120  # seconds
SKIPPED = re.compile(r"group \d+, step (\d+): .*; step skipped")
NUMBER = re.compile(r"(\w+) (-?[\d.]+(?:e[-+]?\d+)?)")


class Failed(Exception):
    pass


def expect(condition, reason):
    if not condition:
        raise Failed(reason)


def call(command, env=None):
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True,
                              text=True, timeout=LIMIT, check=False,
                              env={**os.environ, **(env or {})})
    except subprocess.TimeoutExpired:
        raise Failed("%s: took over %d s" % (command[0], LIMIT)) from None
    expect(done.returncode == 0, "%s: exit %d\n%s%s" % (
        command[0], done.returncode, done.stdout, done.stderr))
    return done


class Judge:
    def __init__(self, options, folder):
        self.options = options
        self.folder = pathlib.Path(folder)
        self.original = options.original
        self.rewritten = options.rewritten or self.patched()
        self.spec = json.loads(
            (options.original.parent / "cuda.json").read_text())

    def patched(self):
        target = self.folder / "rewritten.cu"
        call(["patch", "-s", "-o", target, self.original, self.options.diff])
        return target

    def includes(self):
        return ["-I%s" % d for d in self.options.include]

    # ---- host

    def build_host(self, source, half, name):
        translated = self.folder / (name + ".cpp")
        translated.write_text(call(
            [sys.executable, HERE / "harness/launches.py", source]).stdout)
        program = self.folder / name
        call([self.options.cxx, "-std=c++17", "-O2", "-ffp-contract=off",
              "-DAMP_HALF_" + half, "-include", "host_cuda.h",
              "-I%s" % (HERE / "harness"), *self.includes(), translated,
              "-o", program, *self.options.lib, *self.options.flag])
        return program

    def run(self, program, **env):
        parameters = self.folder / (program.name + ".bin")
        done = call([program, parameters],
                    {"AMP_LOSS_SCALE": "", "AMP_INJECT_OVERFLOW": "",
                     "AMP_LOG": "warn", "OMP_WAIT_POLICY": "passive", **env})
        return done.stdout, parameters.read_bytes(), done.stderr

    def near(self, name, got, want):
        allowed = self.spec["metrics"][name]
        limit = max(allowed.get("abs", 0), allowed.get("rel", 0) * abs(want))
        expect(abs(got - want) <= limit, "%s %g, FP32 %g" % (name, got, want))

    def metrics(self, stdout):
        last = stdout.strip().splitlines()[-1]
        return {k: float(v) for k, v in NUMBER.findall(last)}

    def neutral(self):
        self.want = self.run(self.build_host(self.original, "FP32", "original"))
        self.programs = {h: self.build_host(self.rewritten, h, h)
                         for h in HALVES}
        got = self.run(self.programs["FP32"])
        expect(got[0] == self.want[0], "output differs:\n" + got[0])
        expect(got[1] == self.want[1], "parameters differ")

    def scale(self):
        for scale in ("256", "0.125"):
            got = self.run(self.programs["FP32"], AMP_LOSS_SCALE=scale)
            expect(got[:2] == self.want[:2], "scale %s changes bits" % scale)
        got = self.run(self.programs["FP32"], AMP_LOSS_SCALE="3")
        expect(got[1] != self.want[1], "scale 3 changes nothing")

    def train(self):
        for half in ("FP16", "BF16"):
            for inject in ("", "3"):
                out, parameters, log = self.run(
                    self.programs[half], AMP_INJECT_OVERFLOW=inject,
                    AMP_CHECK_CASTS="1")
                skipped = set(SKIPPED.findall(log))
                expect(skipped == set(inject.split()),
                       "%s: skipped %s\n%s" % (half, skipped, log))
                expect("error" not in log, log)
                expect(parameters != self.want[1], half + ": nothing in half")
                want = self.metrics(self.want[0])
                got = self.metrics(out)
                for name in self.spec["metrics"]:
                    self.near(name, got[name], want[name])

    # ---- nvcc

    def compile(self):
        for source, halves in ((self.original, ["FP32"]),
                               (self.rewritten, HALVES)):
            for half in halves:
                call([self.options.nvcc, "-arch=sm_80", "-DAMP_HALF_" + half,
                      "--Werror=all-warnings", "-Xcompiler=-Wall,-Wextra",
                      *self.includes(), source, "-o", self.folder / half,
                      *self.options.lib, *self.spec["libs"],
                      *self.options.flag])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=("host", "nvcc"))
    parser.add_argument("original", type=pathlib.Path)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--rewritten", type=pathlib.Path)
    which.add_argument("--diff", type=pathlib.Path)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--lib", action="append", default=[])
    parser.add_argument("--flag", action="append", default=[])
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--nvcc", default="nvcc")
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        try:
            judge = Judge(options, folder)
        except Failed as reason:
            print("FAIL patch: %s" % reason)
            return 1
        oracles = ([judge.neutral, judge.scale, judge.train]
                   if options.mode == "host" else [judge.compile])
        for oracle in oracles:
            try:
                oracle()
                print("PASS %s" % oracle.__name__)
            except Failed as reason:
                print("FAIL %s: %s" % (oracle.__name__, reason))
                failed = True
                if oracle == judge.neutral:
                    break  # the others need its programs
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
