"""amp-rewrite over `clang -fsyntax-only` on the same input."""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import time

from common import (clang_of, first_error, interleave, median, must, ratio,
                    run)
from make_source import make_source

TIME = re.compile(r"^amp-rewrite: time: (\w+) ([\d.]+) s$", re.MULTILINE)
FRONT = ("load", "collect")  # what a compiler's parser does, too
BUSY = 3.0  # seconds: fewer rounds above this

# args: of amp-rewrite; parses: of clang, each with its folder
Input = collections.namedtuple("Input", "name args parses")


def single(name, source, flags=(), options=()):
    flags = [str(f) for f in flags]
    return Input(name, [source, *options, "--", *flags],
                 [(None, [*flags, source])])


def parse_flags(entry):
    """A compilation database entry's arguments, without the compiler's name
    and the output."""
    argv = entry.get("arguments") or shlex.split(entry["command"])
    kept, skip = [], True
    for word in argv:
        if skip:
            skip = False
        elif word == "-o":
            skip = True
        elif word != "-c":
            kept.append(word)
    return entry["directory"], kept


def project(name, database, options=(), root=None):
    """All of a folder's compile_commands.json."""
    entries = json.loads((database / "compile_commands.json").read_text())
    return Input(name, ["-p", database, "--root", root or database, *options],
                 [parse_flags(e) for e in entries])


def own_project(work, name, folder, sources, flags, options=()):
    """A project without a compilation database gets one here."""
    database = work / f"{name}-db"
    database.mkdir()
    (database / "compile_commands.json").write_text(json.dumps(
        [{"directory": str(folder), "file": s,
          "arguments": ["cc", *flags, "-c", s]} for s in sources]))
    return project(name, database, options, root=folder)


def test_program(folder, work):
    spec = json.loads((folder / "program.json").read_text())
    options = []
    if spec.get("rules"):
        options.append(f"--rules={folder / spec['rules']}")
    if spec.get("project"):
        return own_project(work, folder.name, folder, spec["sources"],
                           spec["cflags"], options)
    return single(folder.name, folder / spec["sources"][0], spec["cflags"],
                  options)


def given(text):
    """An input as the user typed it."""
    argv = shlex.split(text)
    own, _, flags = (argv, "", []) if "--" not in argv else (
        argv[:argv.index("--")], "--", argv[argv.index("--") + 1:])
    if "-p" in own:
        at = own.index("-p")
        return project(own[at + 1], pathlib.Path(own[at + 1]).resolve(),
                       own[:at] + own[at + 2:])
    files = [a for a in own if not a.startswith("-")]
    if len(files) != 1:
        raise SystemExit(f"--tool-inputs: one file or -p DIR in '{text}'")
    return single(files[0], files[0], flags,
                  [a for a in own if a.startswith("-")])


def inputs(options):
    rules = options.top / "bench/rules"
    found = []
    if not options.no_own_inputs:
        found.append(single("examples/mlp",
                            options.top / "examples/mlp/train.c"))
        programs = (options.top / "test/programs").glob("*/program.json")
        found += [test_program(p.parent, options.work)
                  for p in sorted(programs)]
        for lines in (1000, 5000, 20000):
            path = options.work / f"generated-{lines}.c"
            path.write_text(make_source(lines))
            found.append(single(path.stem, path))
    if options.llmc:
        found.append(single("llm.c train_gpt2",
                            options.llmc / "train_gpt2.c",
                            ["-I", options.llmc],
                            [f"--rules={rules / 'llmc.amp'}"]))
    if options.darknet:
        found.append(project("darknet", options.darknet.resolve(),
                             [f"--rules={rules / 'darknet.amp'}"]))
    if options.attention:
        folder = options.attention.resolve()
        found.append(own_project(options.work, "attention", folder,
                                 sorted(p.name for p in folder.glob("*.c")),
                                 ["-O3", "-march=native", "-ffast-math"]))
    return found + [given(t) for t in options.tool_inputs]


def lines_of(entry):
    total = 0
    for folder, argv in entry.parses:
        for word in argv:
            path = pathlib.Path(folder or ".") / word
            if path.suffix in (".c", ".cu") and path.is_file():
                total += path.read_bytes().count(b"\n")
    return total


def command(options, entry, half):
    out = options.work / "out"
    where = ["--out-dir", out] if "-p" in entry.args else ["-o", f"{out}.c"]
    return [options.tool, "-v", "-O1", f"--half={half}", *where, *entry.args]


def half_of(options, entry):
    """fp16, or bf16 where a program has no exact loss scale. None: neither."""
    done = run(command(options, entry, "fp16"))
    if done.code == 0:
        return "fp16"
    print(f"{entry.name}: fp16 is refused: {first_error(done)}", flush=True)
    return "bf16" if must(command(options, entry, "bf16")) else None


def rewrite(options, entry, half):
    """Seconds of the run by stage; 'wall' and 'cpu' of all of it."""
    done = run(command(options, entry, half))
    stages = {n: float(s) for n, s in TIME.findall(done.err)}
    return {**stages, "wall": done.wall, "cpu": done.cpu}


def syntax(options, entry, clang):
    """Seconds of clang over the same files, as many at a time as the tool
    takes."""
    def one(parse):
        folder, argv = parse
        return run([clang, "-fsyntax-only", *argv], cwd=folder).cpu
    start = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        cpu = sum(pool.map(one, entry.parses))
    return {"wall": time.perf_counter() - start, "cpu": cpu}


def measure(options, entry, clang, targets):
    half = half_of(options, entry)
    if not half:
        targets.note(False, f"{entry.name}: the tool fails")
        return None
    first = rewrite(options, entry, half)
    rounds = options.rounds if first["wall"] < BUSY else 3
    runs = interleave({"clang": lambda: syntax(options, entry, clang),
                       "tool": lambda: rewrite(options, entry, half)}, rounds)
    parse = [r["wall"] for r in runs["clang"]]
    front = [sum(r[s] for s in FRONT) for r in runs["tool"]]
    # Reading the rules, writing and leaving count as the rest.
    rest = [r["wall"] - f for r, f in zip(runs["tool"], front)]
    front_ratio = ratio(front, parse)
    limit = max(0.3, 2 * median(parse))
    cpu = ratio([r["cpu"] for r in runs["tool"]],
                [r["cpu"] for r in runs["clang"]])
    lines = lines_of(entry)
    good = targets.at_most(f"{entry.name}: load + collect over clang",
                           front_ratio, 1.2)
    good = targets.at_most(f"{entry.name}: seconds of the rest",
                           median(rest), limit) and good
    print(f"{entry.name[:20]:20} {lines:6} {median(parse):7.3f} "
          f"{median(front):9.3f} {front_ratio:5.2f} {median(rest):6.3f} "
          f"{limit:6.2f} {cpu:6.2f}{'' if good else '  missed'}")
    stages = [s for s in first if s not in (*FRONT, "wall", "cpu")]
    print("   " + "  ".join(
        f"{s} {median([r[s] for r in runs['tool']]):.3f}" for s in stages),
        flush=True)
    cost = median([r["wall"] for r in runs["tool"]])
    return cost, cost / max(lines, 1)


def bench(options, targets):
    print("\n== amp-rewrite -O1 over clang -fsyntax-only\n"
          "                      lines   clang   load+   (1.2)   rest  limit "
          "   cpu\n"
          "                                  s collect s ratio      s      s "
          " ratio", flush=True)
    clang = clang_of(options)
    costs = {}
    for entry in inputs(options):
        costs[entry.name] = measure(options, entry, clang, targets)
    small, large = costs.get("generated-1000"), costs.get("generated-20000")
    if small and large:
        middle = costs.get("generated-5000")
        print("a line costs, in microseconds: "
              + ", ".join(f"{1e6 * c[1]:.1f} ({n} lines)" for n, c in
                          (("1k", small), ("5k", middle), ("20k", large))
                          if c))
        if middle:
            targets.at_most("20k over 5k lines: time a line",
                            large[1] / middle[1], 1.5)
