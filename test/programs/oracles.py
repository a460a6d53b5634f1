#!/usr/bin/env python3
"""Judges rewrites of the training programs beside this file.

Each program folder holds plain FP32 C and a program.json:

    sources    C files, the one with main first
    cflags     the flags of its own build; libs: its libraries
    args       arguments before the checkpoint path
    rules      rule file, or absent
    project    true: rewritten with -p from a compilation database
    omp        true: run with two threads
    metrics    of the last line ("final loss 0.1 accuracy 0.9"): name to the
               allowed difference from FP32, {"abs": x} and/or {"rel": y}
    curve      allowed difference of each printed loss, as a metric
    min_half_ops   that the audit must list in half
    buffers    names that must appear in the audit
    scaled     those that must carry the loss scale, so that it is in early
    scale_error    lines of the source ("attn.c:12"): the loss scale has no
               exact placement; fp16 must be refused at one of these places,
               and everything else is judged with --half=bf16
    fused      true: the update is fused into the backward pass, no step can
               be skipped as a whole; an overflow must only do no harm
    no_half_ops    true: nothing is for half here
    levels     that it is judged at; absent: ["O1"]
    half_buffers   names that the audit must list in half at -O2 and -O3
    O3         what is different at -O3, as an object of the above; and there
    untrained  half type to why the program does not train in it without
               masters: that build must compile, what it prints is not judged

The oracles, for each level:
    1 neutral   rewritten with fp32 for half: same stdout, same checkpoint
    2 scale     the same with the loss scale at 2^8 and 2^-3; a scale of 3 must
                change the bits, or nothing was scaled. At -O3, whose scale
                is 1, rewritten with --loss-scale=dynamic
    3 compile   gcc and clang, every half type: no warning the original lacks
    4 repeat    -O0 copies; rewriting a rewritten source changes nothing
    5 train     fp16 and bf16: metrics near FP32; an overflow skips one step
    6 audit     every buffer and op is listed
    7 demoted   -O2 only: with all memory in half that can be, whatever it is
                for, the neutral build is the original and all others compile

One line each: PASS or FAIL, program, level, oracle, reason. Exit 1 if any
failed, 2 if the driver was used wrongly.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HALVES = {"fp16": "AMP_HALF_FP16", "bf16": "AMP_HALF_BF16",
          "fp32": "AMP_HALF_FP32"}
RUN_LIMIT = 120  # seconds; the programs take one or two
STRICT = "-Werror=incompatible-pointer-types"
EXACT = ["-O2", "-ffp-contract=off"]
INJECTED_STEP = 3
# What the runtime logs for a skipped step, once for each bad gradient.
SKIPPED = re.compile(r"group (\d+), step (\d+): .*; step skipped")
WARNING = re.compile(r": warning: .*?(\[-W[^\]]*\])?$", re.MULTILINE)
WORD = re.compile(r"[A-Za-z_]\w*")


class Failure(Exception):
    """An oracle does not hold; the text says why."""


def expect(condition, text):
    if not condition:
        raise Failure(text)


# ---- comparisons -----------------------------------------------------------

def first_difference(a, b):
    """Where two outputs differ, in one line."""
    for number, (x, y) in enumerate(zip(a.splitlines(), b.splitlines()), 1):
        if x != y:
            return f"line {number}: '{x}' against '{y}'"
    return f"{len(a.splitlines())} against {len(b.splitlines())} lines"


def numbers_after(word, line):
    """The number that follows each occurrence of word."""
    tokens = line.replace(",", " ").split()
    found = []
    for key, value in zip(tokens, tokens[1:]):
        if key.endswith(word):
            try:
                found.append(float(value))
            except ValueError:
                pass
    return found


def final_metrics(text):
    """{'loss': 0.1, ...} of the last line that starts with 'final'."""
    for line in reversed(text.splitlines()):
        tokens = line.split()
        if tokens and tokens[0] == "final":
            return {k: float(v) for k, v in zip(tokens[1::2], tokens[2::2])}
    return {}


def loss_curve(text):
    return [x for line in text.splitlines() if not line.startswith("final")
            for x in numbers_after("loss", line)]


def outside(value, reference, allowed):
    """None, or how far value is from reference beyond what is allowed."""
    if not math.isfinite(value):
        return f"{value}"
    room = allowed.get("abs", 0.0) + allowed.get("rel", 0.0) * abs(reference)
    gap = abs(value - reference)
    if gap <= room:
        return None
    return f"{value:.6g} against {reference:.6g}, {gap:.3g} > {room:.3g}"


def compare_training(text, reference, spec, delayed=False):
    """Raises Failure unless the run trained as the reference did. delayed: its
    first steps were skipped while the scale found its level, so a loss may lie
    between the reference's at this point and at the one before."""
    expect("nan" not in text.lower(), "nan in the output")
    got, want = final_metrics(text), final_metrics(reference)
    for name, allowed in spec.get("metrics", {}).items():
        expect(name in want, f"the original prints no final {name}")
        expect(name in got, f"no final {name}")
        problem = outside(got[name], want[name], allowed)
        expect(problem is None, f"final {name}: {problem}")
    if "curve" not in spec:
        return
    ours, theirs = loss_curve(text), loss_curve(reference)
    expect(theirs, "the original prints no losses")
    expect(len(ours) == len(theirs),
           f"{len(ours)} losses printed, the original prints {len(theirs)}")
    for index, (x, y) in enumerate(zip(ours, theirs)):
        if delayed:
            before = theirs[index - 1] if index else math.inf
            y = min(max(x, min(before, y)), max(before, y))
        problem = outside(x, y, spec["curve"])
        expect(problem is None, f"loss {index}: {problem}")


def count_warnings(text):
    return collections.Counter(m.group(1) or "other"
                               for m in WARNING.finditer(text))


def new_warnings(text, reference):
    extra = count_warnings(text) - count_warnings(reference)
    return sorted(extra.elements())


def skipped_steps(log):
    """The set of (group, step)."""
    return {(int(g), int(n)) for g, n in SKIPPED.findall(log)}


def check_audit(document, spec):
    """The audit is an object with lists `ops` and `buffers`."""
    for part in ("ops", "buffers"):
        expect(isinstance(document.get(part), list), f"no list '{part}'")
    words = {w for entry in document["buffers"]
             for w in WORD.findall(entry.get("name") or "")}
    missing = [b for b in spec.get("buffers", []) if b not in words]
    expect(not missing, "not listed: " + ", ".join(missing))
    scaled = {w for entry in document["buffers"] if entry.get("degree") == 1
              for w in WORD.findall(entry.get("name") or "")}
    missing = [b for b in spec.get("scaled", []) if b not in scaled]
    expect(not missing, "not scaled: " + ", ".join(missing))
    for part in ("ops", "buffers"):
        for entry in document[part]:
            expect(entry.get("precision"), f"no precision: {entry}")
            expect(entry.get("reason"), f"no reason: {entry}")
    half = sum(e["precision"] in ("half", "fp16", "bf16")
               for e in document["ops"])
    least = spec.get("min_half_ops", 0)
    expect(half >= least, f"{half} ops in half, expected {least} or more")
    expect(half == 0 or not spec.get("no_half_ops"), f"{half} ops in half")
    return half


def check_half_buffers(document, spec):
    """Those that are to be stored in half are."""
    half = [e for e in document["buffers"]
            if e["precision"] in ("half", "fp16", "bf16")]
    words = {w for entry in half for w in WORD.findall(entry["name"])}
    missing = [b for b in spec.get("half_buffers", []) if b not in words]
    expect(not missing, "not in half: " + ", ".join(missing))
    return f"{len(half)} of {len(document['buffers'])} buffers in half"


# ---- one program -----------------------------------------------------------

class Program:
    def __init__(self, folder, tools, work):
        self.folder = pathlib.Path(folder).resolve()
        self.name = self.folder.name
        self.tools = tools
        self.work = pathlib.Path(work) / self.name
        self.work.mkdir(parents=True, exist_ok=True)
        self.spec = json.loads((self.folder / "program.json").read_text())
        self.plain_spec = self.spec
        self.sources = self.spec["sources"]
        self.level = "O1"
        self.extra_rules = None
        self.extra_flags = []
        self.warnings = {}  # of the original, by compiler
        self.copied = False
        self.built = {}
        self.runs = {}

    def levels(self):
        return self.spec.get("levels", ["O1"])

    def at(self, level):
        """Goes on at another level; runs of the original stay."""
        self.level = level
        self.spec = {**self.plain_spec, **self.plain_spec.get(level, {})}
        self.work = self.work.parent / f"{self.name}-{level}"
        self.work.mkdir(parents=True, exist_ok=True)
        self.built = {k: v for k, v in self.built.items() if k is None}
        self.runs = {k: v for k, v in self.runs.items() if k[0] is None}

    # running things

    def environment(self, extra):
        env = {k: v for k, v in os.environ.items()
               if not k.startswith(("AMP_", "OMP_", "OPENBLAS_"))}
        env.update(OPENBLAS_NUM_THREADS="1", OMP_WAIT_POLICY="passive",
                   OMP_NUM_THREADS="2" if self.spec.get("omp") else "1",
                   ASAN_OPTIONS="detect_leaks=0")
        env.update(extra)
        return env

    def command(self, argv, cwd=None, env=None):
        try:
            return subprocess.run([str(a) for a in argv], cwd=cwd, text=True,
                                  capture_output=True, timeout=RUN_LIMIT,
                                  env=env, errors="replace")
        except subprocess.TimeoutExpired:
            raise Failure(f"{argv[0]}: no end after {RUN_LIMIT} s") from None
        except OSError as error:
            raise Failure(f"{argv[0]}: {error.strerror}") from None

    def rewriter(self, *argv):
        rules = self.spec.get("rules")
        argv = list(argv)
        if rules:
            argv += ["--rules", self.folder / rules]
        if self.extra_rules:
            argv += ["--rules", self.extra_rules]
        if not self.spec.get("project"):
            argv += ["--", *self.spec["cflags"], "-I", self.folder]
        return self.command([self.tools.amp_rewrite, *argv],
                            env=self.environment({}))

    def database(self, tree):
        """A folder with the compilation database of the sources in tree."""
        folder = self.work / f"db-{pathlib.Path(tree).name}"
        folder.mkdir(exist_ok=True)
        entries = []
        for source in self.sources:
            argv = ["cc", *self.spec["cflags"], "-I", str(self.folder)]
            argv += [f"-I{i}" for i in self.tools.include]
            entries.append({"directory": str(tree), "file": source,
                            "arguments": [*argv, "-c", source]})
        text = json.dumps(entries, indent=1)
        (folder / "compile_commands.json").write_text(text)
        return folder

    def rewrite(self, tree, out, *flags):
        """Rewrites the sources in tree into the folder out."""
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        if self.spec.get("project"):
            return self.rewriter("-p", self.database(tree), *flags,
                                 "--root", tree, "--out-dir", out)
        source = self.sources[0]
        return self.rewriter(tree / source, *flags, "-o", out / source)

    def compile(self, tree, cc, flags, output=None):
        """Compiles, and links if output is given. The compiler's messages."""
        argv = [cc, *self.spec["cflags"], *flags, f"-I{self.folder}"]
        if tree != self.folder:
            argv += [f"-I{i}" for i in self.tools.include]
        files = [p if p.exists() else self.folder / s
                 for s in self.sources for p in [tree / s]]
        if output:
            argv += [*self.tools.cflag, *files, "-o", output]
            if tree != self.folder:
                for d in self.tools.libdir:
                    argv += [f"-L{d}", f"-Wl,-rpath,{d}"]
                argv += self.tools.lib
            steps = [[*argv, *self.spec["libs"]]]
        else:
            steps = [[*argv, "-c", f, "-o", os.devnull] for f in files]
        messages = ""
        for step in steps:
            done = self.command(step)
            messages += done.stderr
            if done.returncode:
                error = next((line for line in done.stderr.splitlines()
                              if "error" in line or "undefined" in line),
                             done.stderr[:200])
                raise Failure(f"{cc} {' '.join(flags)}: {error}")
        return messages

    def run(self, half=None, **env):
        """stdout, checkpoint and stderr of a build (None: the original)."""
        key = (half, tuple(sorted(env.items())))
        if key in self.runs:
            return self.runs[key]
        if half not in self.built:
            binary = self.work / f"run-{half or 'original'}"
            tree = self.rewritten() if half else self.folder
            defines = [f"-D{HALVES[half]}"] if half else []
            self.compile(tree, self.tools.cc, [*EXACT, *defines], binary)
            self.built[half] = binary
        checkpoint = self.work / "checkpoint"
        checkpoint.unlink(missing_ok=True)
        done = self.command([self.built[half], *self.spec.get("args", []),
                             checkpoint], cwd=self.work,
                            env=self.environment(env))
        what = f"{half or 'original'} {env or ''}"
        expect(done.returncode == 0,
               f"{what}: exit {done.returncode}: {done.stderr[-200:]}")
        expect(checkpoint.exists(), f"{what}: no checkpoint")
        self.runs[key] = done.stdout, checkpoint.read_bytes(), done.stderr
        return self.runs[key]

    # what the oracles look at

    def is_scaled(self):
        """Does the rewritten source scale the loss, unless told otherwise?"""
        return self.level != "O3" or bool(self.extra_flags)

    def no_fp16(self):
        return self.spec.get("scale_error") and self.is_scaled()

    def half_flag(self):
        if self.extra_rules:
            return ["--loss-scale=none"]
        return [*self.extra_flags, *(["--half=bf16"] if self.no_fp16()
                                     else [])]

    def half_types(self):
        return ["bf16"] if self.no_fp16() else ["fp16", "bf16"]

    def rewritten(self):
        out = self.work / "amp"
        if "amp" not in self.built:
            done = self.rewrite(self.folder, out, f"-{self.level}",
                                *self.half_flag())
            expect(done.returncode == 0,
                   f"amp-rewrite: exit {done.returncode}: {done.stderr[:300]}")
            for source in self.sources:
                expect((out / source).exists() or self.spec.get("project"),
                       f"amp-rewrite wrote no {source}")
            self.built["amp"] = out
        return out

    def same_as_original(self, what, **env):
        text, parameters, _ = self.run("fp32", **env)
        original_text, original_parameters, _ = self.run()
        expect(text == original_text,
               f"{what}: {first_difference(text, original_text)}")
        expect(parameters == original_parameters, f"{what}: other checkpoint")

    def neutral(self):
        self.same_as_original("neutral")

    def nothing_in_half(self):
        stored = self.level != "O1" and self.spec.get("half_buffers")
        return self.spec.get("no_half_ops") and not stored

    def scale(self):
        if self.level == "O3" and not self.extra_flags:
            return self.scale_on_demand()
        if self.spec.get("scale_error"):
            return self.refused()
        if self.nothing_in_half():
            return "nothing in half, nothing to scale"
        # at -O3 a second rewrite, for which one must do
        for factor in ("256",) if self.extra_flags else ("256", "0.125"):
            self.same_as_original(f"scale {factor}", AMP_LOSS_SCALE=factor)
        odd = self.run("fp32", AMP_LOSS_SCALE="3")
        expect(odd[:2] != self.run()[:2],
               "a scale of 3 changes no bit: nothing is scaled")
        return None

    def scale_on_demand(self):
        level = self.level
        self.at(f"{level}-scaled")
        self.level = level
        self.extra_flags = ["--loss-scale=dynamic"]
        try:
            return self.scale()
        finally:
            self.extra_flags = []
            self.at(level)

    def refused(self):
        out = self.work / "refused"
        done = self.rewrite(self.folder, out, f"-{self.level}",
                            "--half=fp16", *self.extra_flags)
        expect(done.returncode in (2, 3, 4),
               f"--half=fp16: exit {done.returncode}, expected an error")
        expect(not any(out.iterdir()), "--half=fp16: wrote output")
        places = self.spec["scale_error"]
        expect(any(re.search(re.escape(p) + r"\b", done.stderr)
                   for p in places),
               f"--half=fp16: none of {', '.join(places)} in the message: "
               + done.stderr[:300])
        return "refused under fp16"

    def compiles(self):
        tree = self.rewritten()
        for cc in (self.tools.cc, self.tools.other_cc):
            if cc not in self.warnings:
                self.warnings[cc] = self.compile(self.folder, cc,
                                                 ["-O2", STRICT])
            before = self.warnings[cc]
            for half in [*self.half_types(), "fp32"]:
                after = self.compile(tree, cc,
                                     ["-O2", STRICT, f"-D{HALVES[half]}"])
                extra = new_warnings(after, before)
                expect(not extra, f"{cc} {half}: new {', '.join(extra)}")

    def copies(self):
        """-O0, once for all levels."""
        if self.copied:
            return
        self.copied = True
        copy = self.work / "O0"
        done = self.rewrite(self.folder, copy, "-O0")
        expect(done.returncode == 0, f"-O0: {done.stderr[:300]}")
        for source in self.sources:
            if self.spec.get("project") and not (copy / source).exists():
                continue  # an unchanged file need not be written
            expect((copy / source).read_bytes()
                   == (self.folder / source).read_bytes(),
                   f"-O0 changed {source}")

    def repeat(self):
        self.copies()
        tree, again = self.rewritten(), self.work / "again"
        done = self.rewrite(tree, again, f"-{self.level}", *self.half_flag())
        expect(done.returncode == 0, f"second run: {done.stderr[:300]}")
        for source in self.sources:
            if (again / source).exists():
                expect((again / source).read_bytes()
                       == (tree / source).read_bytes(),
                       f"second run changed {source}")
        written = [p.relative_to(tree) for p in tree.rglob("*.[ch]*")]
        changed = any((tree / name).read_bytes()
                      != (self.folder / name).read_bytes()
                      for name in written if (self.folder / name).exists())
        expect(("already" if changed else "nothing to rewrite") in done.stderr,
               "second run does not say so")

    def train(self):
        reference = self.run()[0]
        compare_training(reference, reference, self.spec)
        notes = []
        for half in self.half_types():
            if half in self.spec.get("untrained", {}):
                notes.append(f"{half} not judged: "
                             + self.spec["untrained"][half])
                continue
            env = {"AMP_LOG": "info", "AMP_MIN_MNK": "1"}
            try:
                text, _, log = self.run(half, **env)
                compare_training(text, reference, self.spec,
                                 bool(skipped_steps(log)))
                if self.spec.get("min_half_ops"):
                    expect(text != reference, "same bits as FP32: no op ran "
                           "in half")
                if self.is_scaled() and not self.spec.get("scale_error"):
                    self.overflow(half, env, skipped_steps(log), reference)
            except Failure as failure:
                raise Failure(f"{half}: {failure}") from None
            notes.append(f"{half} " + " ".join(
                f"{k} {v:.4g}" for k, v in final_metrics(text).items()))
        return "; ".join(notes)

    def overflow(self, half, env, usual, reference):
        if self.nothing_in_half():
            return
        text, _, log = self.run(half, **env,
                                AMP_INJECT_OVERFLOW=str(INJECTED_STEP))
        steps = skipped_steps(log)
        injected = {s for s in steps if s[1] == INJECTED_STEP}
        if not self.spec.get("fused"):
            expect(injected, f"injected overflow: step {INJECTED_STEP} not "
                   f"skipped, but {sorted(steps)}")
        unwanted = sorted(steps - usual - injected)
        expect(not unwanted, "injected overflow: also skipped "
               f"{len(unwanted)}, first {unwanted[:3]}")
        loose = dict(self.spec)
        loose.pop("curve", None)  # one update less
        try:
            compare_training(text, reference, loose)
        except Failure as failure:
            raise Failure(f"injected overflow: {failure}") from None

    def audit(self):
        where = (["-p", self.database(self.folder), "--root", self.folder]
                 if self.spec.get("project")
                 else [self.folder / self.sources[0]])
        done = self.rewriter("--audit=json", f"-{self.level}",
                             *self.half_flag(), *where)
        expect(done.returncode == 0,
               f"exit {done.returncode}: {done.stderr[:300]}")
        try:
            document = json.loads(done.stdout)
        except ValueError as error:
            raise Failure(f"not JSON: {error}") from None
        spec = self.spec if self.is_scaled() else {**self.spec, "scaled": []}
        half = check_audit(document, spec)
        note = f"{half} of {len(document['ops'])} ops in half"
        if self.level == "O1":
            return note
        return f"{note}, {check_half_buffers(document, self.spec)}"

    def demoted(self):
        """Numbers may be bad in half: parameters and state are in it, too."""
        if self.level != "O2":
            return "at -O2 only"
        level = self.level
        self.at(f"{level}-demoted")
        self.level = level
        self.extra_rules = self.work / "everything.amp"
        self.extra_rules.write_text('keep half variable "*";\n'
                                    'keep half field "*";\n')
        try:
            self.neutral()
            self.compiles()
        finally:
            self.extra_rules = None
            self.at(level)
        return None


ORACLES = [("neutral", Program.neutral), ("scale", Program.scale),
           ("compile", Program.compiles), ("repeat", Program.repeat),
           ("train", Program.train), ("audit", Program.audit),
           ("demoted", Program.demoted)]


def judge(program, wanted, level):
    """Runs the oracles, prints a line each; how many failed."""
    failed = 0
    name_of = f"{program.name} {level}"
    for number, (name, oracle) in enumerate(ORACLES, 1):
        if wanted and str(number) not in wanted and name not in wanted:
            continue
        try:
            note = oracle(program)
            print(f"PASS {name_of} {number} {name}"
                  + (f": {note}" if note else ""), flush=True)
        except Failure as failure:
            text = " ".join(str(failure).split())
            print(f"FAIL {name_of} {number} {name}: {text}", flush=True)
            failed += 1
    return failed


def judge_levels(program, wanted, levels):
    failed = 0
    for level in levels or program.levels():
        program.at(level)
        failed += judge(program, wanted, level)
    return failed


def parse(argv):
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("programs", nargs="+", metavar="FOLDER")
    p.add_argument("--amp-rewrite", default="amp-rewrite")
    p.add_argument("--include", action="append", default=[], metavar="DIR",
                   help="holds amp/amp.h")
    p.add_argument("--libdir", action="append", default=[], metavar="DIR")
    p.add_argument("--lib", default="-lamp", type=shlex.split,
                   help="how libamp is linked (-lamp)")
    p.add_argument("--cflag", action="append", default=[],
                   help="for what is run, as -fsanitize=address")
    p.add_argument("--cc", default="gcc", help="builds what is run")
    p.add_argument("--other-cc", default="clang",
                   help="oracle 3 compiles with it too")
    p.add_argument("--levels", default="", type=lambda t: t.split(","),
                   help="judge at these, with commas, not at the program's")
    p.add_argument("--only", default="", type=lambda t: t.split(","),
                   help="numbers or names of oracles, with commas")
    p.add_argument("--work", metavar="DIR", help="kept; default: temporary")
    options = p.parse_args(argv)
    options.only = [o for o in options.only if o]
    options.levels = [o.lstrip("-") for o in options.levels if o]
    return options


def main(argv):
    tools = parse(argv)
    with tempfile.TemporaryDirectory(prefix="oracles-") as temporary:
        try:
            programs = [Program(folder, tools, tools.work or temporary)
                        for folder in tools.programs]
        except (OSError, ValueError, KeyError) as error:
            print(f"oracles: {error}", file=sys.stderr)
            return 2
        failed = sum(judge_levels(program, tools.only, tools.levels)
                     for program in programs)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
