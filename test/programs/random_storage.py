#!/usr/bin/env python3
"""Judges the storage edits on random small C programs.

Each seed is a program of storage_programs.py. Seeds are judged in groups of
GROUP, as one program, since most of the time goes to starting tools; a group
that fails is judged again seed by seed. The group decides how it is made: all
of its names are to be half or some, the numbers are exact or rough, one file
or three, with the sanitizers or without. Of each group:

    neutral   the rewrite with fp32 for half prints what the original prints
    half      fp16 and bf16 compile with no warning that the original lacks,
              with gcc and with clang; they end well, and where the numbers
              are exact in half they print what the original prints
    repeat    `--check` of the rewrite finds nothing to do
    order     files in another order give the same rewrite

A PASS or FAIL line for each group, and a summary: how many classes of memory
are in half and in FP32, and for what reasons. A program that fails is kept.
Exit 1 if any failed or nothing was in half, 2 if the driver was used wrongly.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import storage_programs
from oracles import Failure, count_warnings, expect, first_difference
from random_layers import add_common, parse_common

GROUP = 8
RUN_LIMIT = 120  # seconds
C_FLAGS = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-ffp-contract=off",
           "-Werror=incompatible-pointer-types"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
CLASS = re.compile(r"^storage (half|fp32) \S.*?\): (.*?)(?: \[[^\]]*\])?"
                   r"(?: to unlock: .*)?$", re.M)

PLACE = re.compile(r"'[^']*'|(?<= )\(?\S*half\.amp\)?")


class Mode:
    """How the group of a seed is made and judged."""

    def __init__(self, seed):
        number = seed // GROUP
        self.everything = number % 2 == 0
        self.exact = number % 5 != 4
        self.files = number % 3 == 1
        self.sanitized = number % 8 == 3
        self.level = "-O3" if number % 7 == 5 else "-O2"

    def __str__(self):
        return ", ".join([self.level[1:],
                          "all half" if self.everything else "some half",
                          "exact" if self.exact else "rough",
                          "three files" if self.files else "one file"]
                         + ["sanitized"] * self.sanitized)


def new_warnings(text, reference):
    """Kinds that the original lacks; versions of a function repeat its own."""
    return sorted(set(count_warnings(text)) - set(count_warnings(reference)))


def command(argv, folder):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("AMP_")}
    clean.update(ASAN_OPTIONS="detect_leaks=0")
    try:
        return subprocess.run([str(a) for a in argv], cwd=folder, text=True,
                              capture_output=True, timeout=RUN_LIMIT,
                              env=clean, errors="replace")
    except subprocess.TimeoutExpired:
        raise Failure(f"{argv[0]}: no end after {RUN_LIMIT} s") from None
    except OSError as error:
        raise Failure(f"{argv[0]}: {error.strerror}") from None


class Group:
    """Some seeds of one mode, as one program in a folder."""

    def __init__(self, tools, seeds, folder):
        self.tools, self.folder = tools, folder
        self.mode = Mode(seeds[0])
        self.flags = C_FLAGS + (SANITIZE if self.mode.sanitized else [])
        files = program(seeds)
        self.sources = [name for name in files if name.endswith(".c")]
        (folder / "half.amp").write_text(storage_programs.RULES)
        self.original = folder / "original"
        self.original.mkdir()
        for name, text in files.items():
            (self.original / name).write_text(text)

    def compile(self, cc, tree, *flags, output=None):
        """The messages of the compiler."""
        argv = [cc, *self.flags, *self.tools.cflag, *flags,
                *(f"-I{i}" for i in self.tools.include)]
        if output:
            argv += ["-o", self.folder / output]
        else:
            argv += ["-fsyntax-only"]
        argv += [tree / source for source in self.sources]
        if output:
            for d in self.tools.libdir:
                argv += [f"-L{d}", f"-Wl,-rpath,{d}"]
            argv += ["-lamp", "-lm"] if tree != self.original else ["-lm"]
        done = command(argv, self.folder)
        error = next((line for line in done.stderr.splitlines()
                      if "error" in line or "undefined" in line),
                     done.stderr[:200])
        expect(done.returncode == 0, f"{cc} {' '.join(flags)}: {error}")
        return done.stderr

    def output(self, name):
        done = command([self.folder / name], self.folder)
        (self.folder / f"{name}.out").write_text(done.stdout)
        expect(done.returncode == 0,
               f"{name}: exit {done.returncode}: {done.stderr[:400]}")
        return done.stdout

    def database(self, tree, sources):
        entries = [{"directory": str(tree), "file": source,
                    "arguments": ["cc", "-std=gnu11", "-c", source]
                    + [f"-I{i}" for i in self.tools.include]}
                   for source in sources]
        (tree / "compile_commands.json").write_text(json.dumps(entries))
        return tree

    def tool(self, tree, *flags, order=1):
        if self.mode.files:
            where = ["-p", self.database(tree, self.sources[::order]),
                     "--root", tree]
            tail = []
        else:
            where = [tree / "main.c"]
            tail = ["--", "-std=gnu11",
                    *(f"-I{i}" for i in self.tools.include)]
        return command([self.tools.amp_rewrite, *where, self.mode.level,
                        "--loss-scale=none", "--rules",
                        self.folder / "half.amp", *flags, *tail], self.folder)

    def rewrite(self, name, order=1):
        out = self.folder / name
        shutil.copytree(self.original, out,
                        ignore=shutil.ignore_patterns("*.json"))
        flags = (["--out-dir", out] if self.mode.files
                 else ["-o", out / "main.c"])
        done = self.tool(self.original, *flags, order=order)
        expect(done.returncode == 0,
               f"amp-rewrite: exit {done.returncode}: {done.stderr[-400:]}")
        return out

    def judge(self):
        """Counts of classes by ('half' or 'fp32', why)."""
        cc, other = self.tools.cc, self.tools.other_cc
        before = self.compile(cc, self.original, output="run-original")
        wanted = self.output("run-original")
        done = self.tool(self.original, "--dump-after=solve")
        classes = collections.Counter(
            (precision, PLACE.sub("..", why))
            for precision, why in CLASS.findall(done.stdout))
        tree = self.rewrite("rewritten")
        self.compile(cc, tree, "-DAMP_HALF_FP32", output="run-neutral")
        text = self.output("run-neutral")
        expect(text == wanted, f"neutral: {first_difference(text, wanted)}")
        for half in ("fp16", "bf16"):
            self.half(half, before, wanted)
        messages = self.compile(other, self.original)
        after = self.compile(other, tree, "-DAMP_HALF_FP16")
        extra = new_warnings(after, messages)
        expect(not extra, f"{other}: new {', '.join(extra)}")
        done = self.tool(tree, "--check")
        expect(done.returncode == 0,
               f"--check of the rewrite: exit {done.returncode}: "
               + (done.stdout + done.stderr)[:300])
        if self.mode.files:
            again = self.rewrite("reversed", order=-1)
            for path in sorted(tree.glob("*.[ch]")):
                expect(path.read_bytes() == (again / path.name).read_bytes(),
                       f"{path.name} depends on the order of files")
        return classes

    def half(self, half, before, wanted):
        name = f"run-{half}"
        messages = self.compile(self.tools.cc, self.folder / "rewritten",
                                f"-DAMP_HALF_{half.upper()}", output=name)
        extra = new_warnings(messages, before)
        expect(not extra, f"{half}: new {', '.join(extra)}")
        text = self.output(name)
        if self.mode.exact:
            expect(text == wanted, f"{half}: {first_difference(text, wanted)}")


def program(seeds):
    """{file name: text} of the seeds of one group."""
    mode = Mode(seeds[0])
    makers = [storage_programs.Maker(seed, mode.everything, mode.exact).make()
              for seed in seeds]
    made = (storage_programs.in_three_files if mode.files
            else storage_programs.in_one_file)
    return made(makers, mode.exact)


def judge_seeds(tools, seeds, work):
    """The counts of classes, or None after a FAIL line."""
    name = f"{seeds[0]}-{seeds[-1]}" if seeds[1:] else f"{seeds[0]}"
    folder = work / f"seeds-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        classes = Group(tools, seeds, folder).judge()
    except Failure as failure:
        text = " ".join(str(failure).split())
        print(f"FAIL {name} ({Mode(seeds[0])}): {text}\n"
              f"     kept in {folder}", flush=True)
        return None
    shutil.rmtree(folder)
    half = sum(n for (precision, _), n in classes.items()
               if precision == "half")
    print(f"PASS {name} ({Mode(seeds[0])}): {half} of "
          f"{sum(classes.values())} classes in half", flush=True)
    return classes


def judge_group(tools, seeds, work):
    """Counts of classes, and the seeds that fail."""
    classes = judge_seeds(tools, seeds, work)
    if classes is not None:
        return classes, []
    total, failed = collections.Counter(), []
    for seed in seeds if seeds[1:] else []:
        one = judge_seeds(tools, [seed], work)
        total += one or {}
        failed += [seed] * (one is None)
    return total, failed or seeds


def parse(argv):
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_common(p, "0:39")
    p.add_argument("--other-cc", default="clang")
    p.add_argument("--jobs", type=int, default=1, help="groups at a time")
    return parse_common(p, argv)


def main(argv):
    tools = parse(argv)
    groups = collections.defaultdict(list)
    for seed in tools.seeds:
        groups[seed // GROUP].append(seed)
    if tools.print:
        for seeds in groups.values():
            for name, text in program(seeds).items():
                print(f"/* {name} */\n{text}", end="")
        return 0
    work = pathlib.Path(tools.work
                        or tempfile.mkdtemp(prefix="random-storage-"))
    total, failed = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(tools.jobs) as pool:
        for classes, bad in pool.map(
                lambda seeds: judge_group(tools, seeds, work.resolve()),
                groups.values()):
            total += classes
            failed += bad
    if not tools.work and not any(work.iterdir()):
        work.rmdir()
    half = sum(n for (precision, _), n in total.items() if precision == "half")
    print(f"{len(tools.seeds)} programs, {len(failed)} failed; "
          f"{half} of {sum(total.values())} classes in half")
    for (precision, why), n in total.most_common():
        if precision == "fp32":
            print(f"{n:6} fp32: {why}")
    if failed:
        print(f"FAIL; again: {shlex.join(sys.argv)} --seeds "
              + ",".join(map(str, failed)))
    elif not half:
        print("FAIL nothing was in half")
    return 1 if failed or not half else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
