#!/usr/bin/env python3
"""Judges amp-rewrite on the programs of Csmith, with floats.

Csmith is a generator of C programs with little in them that a person would
write and everything that the language has. At -O1 and at -O2, with all memory
in half that can be, the rewrite must compile for each half type with no warning
that the original lacks, and the neutral build must print what the original
prints. The half builds are not run: Csmith's numbers are no numbers for half.

Csmith prints checksums; those of floats look at their bytes, which keeps the
floats of file scope in FP32. They are printed instead.

A PASS, VOID (the original does not compile, as Csmith mixes up float * and
int * now and then, or it does not end) or FAIL line for each seed. Exit 0 with
a message if there is no csmith; 1 if any failed.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from oracles import Failure, expect, first_difference
from random_layers import seeds_of
from random_storage import new_warnings

RULES = 'keep half variable "*";\nkeep half field "*";\n'
SMALL = ["--float", "--no-volatiles", "--max-funcs", "6",
         "--max-block-depth", "3", "--max-expr-complexity", "5"]
C_FLAGS = ["-std=gnu11", "-O0", "-Wall", "-Wextra", "-ffp-contract=off"]
LIMIT = 10  # seconds for the program, which may not end
TOOL_LIMIT = 120
CHECKSUM = re.compile(r"transparent_crc_bytes *\(&(.*?), sizeof\(.*?\), "
                      r"(\".*?\"), print_hash_value\);")


def command(argv, folder, limit=TOOL_LIMIT):
    try:
        return subprocess.run([str(a) for a in argv], cwd=folder, text=True,
                              capture_output=True, timeout=limit,
                              errors="replace")
    except subprocess.TimeoutExpired:
        raise Failure(f"{argv[0]}: no end after {limit} s") from None
    except OSError as error:
        raise Failure(f"{argv[0]}: {error.strerror}") from None


def compile_with(tools, cc, folder, source, *flags):
    done = command([cc, *C_FLAGS, *tools.cflag, f"-I{tools.csmith_include}",
                    *(f"-I{i}" for i in tools.include), source, *flags],
                   folder)
    error = next((line for line in done.stderr.splitlines()
                  if "error" in line), done.stderr[:200])
    expect(done.returncode == 0, f"{cc} {source}: {error}")
    return done.stderr


def generate(tools, seed, folder):
    done = command([tools.csmith, *SMALL, "--seed", seed], folder)
    expect(done.returncode == 0, f"csmith: {done.stderr[:200]}")
    text = CHECKSUM.sub(r'printf("%s %a\\n", \2, (double)(\1));', done.stdout)
    (folder / "program.c").write_text(text)


def judge_level(tools, folder, level, wanted, before):
    """The number of places that name a half."""
    name = f"rewritten{level}.c"
    done = command([tools.amp_rewrite, "program.c", level,
                    "--loss-scale=none", "--rules", "half.amp", "-o", name,
                    "--", "-std=gnu11", f"-I{tools.csmith_include}"], folder)
    expect(done.returncode == 0,
           f"{level}: exit {done.returncode}: {done.stderr[-300:]}")
    for cc, messages in before.items():
        for half in ("FP16", "FP32"):
            after = compile_with(tools, cc, folder, name,
                                 f"-DAMP_HALF_{half}", "-fsyntax-only")
            extra = new_warnings(after, messages)
            expect(not extra, f"{level} {cc} {half}: new {', '.join(extra)}")
    flags = ["-DAMP_HALF_FP32", "-o", "rewritten"]
    for libdir in tools.libdir:
        flags += [f"-L{libdir}", f"-Wl,-rpath,{libdir}"]
    compile_with(tools, tools.cc, folder, name, *flags, "-lamp", "-lm")
    text = command(["./rewritten"], folder, LIMIT).stdout
    expect(text == wanted, f"{level}: {first_difference(text, wanted)}")
    return (folder / name).read_text().count("amp_half")


def judge(tools, seed, folder):
    generate(tools, seed, folder)
    (folder / "half.amp").write_text(RULES)
    try:
        compile_with(tools, tools.cc, folder, "program.c",
                     "-o", "program", "-lm")
        before = {cc: compile_with(tools, cc, folder, "program.c",
                                   "-fsyntax-only")
                  for cc in (tools.cc, tools.other_cc)}
        done = command(["./program"], folder, LIMIT)
    except Failure as failure:
        return f"VOID seed {seed}: {str(failure)[:200]}", 0
    if done.returncode:
        return f"VOID seed {seed}: exit {done.returncode}", 0
    judge_level(tools, folder, "-O1", done.stdout, before)
    halves = judge_level(tools, folder, "-O2", done.stdout, before)
    return f"PASS seed {seed}: {halves} names of half", halves


def parse(argv):
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--seeds", default="1:20", type=seeds_of,
                   metavar="FIRST:LAST")
    p.add_argument("--csmith", default="csmith")
    p.add_argument("--csmith-include", default="/usr/include/csmith",
                   metavar="DIR", help="holds csmith.h")
    p.add_argument("--amp-rewrite", default="amp-rewrite",
                   type=os.path.abspath)
    p.add_argument("--include", action="append", default=[], metavar="DIR",
                   type=os.path.abspath, help="holds amp/amp.h")
    p.add_argument("--libdir", action="append", default=[], metavar="DIR",
                   type=os.path.abspath)
    p.add_argument("--cflag", action="append", default=[])
    p.add_argument("--cc", default="gcc")
    p.add_argument("--other-cc", default="clang")
    p.add_argument("--work", metavar="DIR",
                   help="where programs that fail are kept")
    return p.parse_args(argv)


def main(argv):
    tools = parse(argv)
    if not shutil.which(tools.csmith):
        print(f"skipped: no program '{tools.csmith}'")
        return 0
    work = pathlib.Path(tools.work or tempfile.mkdtemp(prefix="csmith-"))
    work = work.resolve()
    failed, halves = [], 0
    for seed in tools.seeds:
        folder = work / f"seed-{seed}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            line, count = judge(tools, seed, folder)
            halves += count > 0
            shutil.rmtree(folder)
        except Failure as failure:
            failed.append(seed)
            line = (f"FAIL seed {seed}: {' '.join(str(failure).split())}\n"
                    f"     kept in {folder}")
        print(line, flush=True)
    if not tools.work and not failed:
        work.rmdir()
    print(f"{len(tools.seeds)} programs, {len(failed)} failed, {halves} with "
          "something in half")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
