"""A training step of llm.c's train_gpt2.c at its default shape: its own build
over its rewrite in bf16. The user names his checkout."""

import os
import re
import subprocess

from common import interleave, median, must
from make_llmc_inputs import make_inputs

FLAGS = ["-Ofast", "-march=native", "-fopenmp", "-DOMP", "-Wno-unused-result",
         "-Wno-ignored-pragmas", "-Wno-unknown-attributes"]
STEP = re.compile(r"^step (\d+): train loss (\S+) \(took (\S+) ms\)")


def compile_both(options, folder):
    source, rewritten = options.llmc / "train_gpt2.c", folder / "train_amp.c"
    lib = options.build / "runtime"
    include = f"-I{options.llmc}"
    programs = {"original": folder / "original", "bf16": folder / "bf16"}
    steps = [
        [options.tool, source, "-O1", "--half=bf16",
         f"--rules={options.top / 'bench/rules/llmc.amp'}", "-o", rewritten,
         "--", include],
        [options.cc, *FLAGS, include, source, "-lm", "-o",
         programs["original"]],
        [options.cc, *FLAGS, "-DAMP_HALF_BF16", include,
         f"-I{options.top / 'runtime/include'}", rewritten, f"-L{lib}",
         f"-Wl,-rpath,{lib}", "-lamp", "-lm", "-o", programs["bf16"]]]
    return programs if all(must(s) for s in steps) else None


def train(program, folder, steps):
    """Milliseconds of each step and the loss at the last. The program goes
    on for 40 steps; it is stopped after `steps`."""
    child = subprocess.Popen(["stdbuf", "-oL", program], cwd=folder, text=True,
                             stdout=subprocess.PIPE, env=os.environ)
    times, loss = [], None
    for line in child.stdout:
        if m := STEP.match(line):
            times.append(float(m.group(3)))
            loss = float(m.group(2))
            if len(times) == steps:
                break
    child.kill()
    child.communicate()
    if len(times) < steps:
        raise SystemExit(f"{program} ended after {len(times)} steps")
    return times, loss


def bench(options, targets):
    print("\n== llm.c train_gpt2.c, 124M, batch 4 x 64, a step: original over "
          "rewrite", flush=True)
    if not options.llmc:
        print("not measured: --llmc names a checkout")
        return
    options.llmc = options.llmc.resolve()
    folder = options.work / "llmc"
    folder.mkdir()
    programs = compile_both(options, folder)
    if not programs:
        return
    make_inputs(folder)
    runs = interleave({n: lambda p=p: train(p, folder, options.llmc_steps)
                       for n, p in programs.items()},
                      min(options.rounds, 2))
    # the first step of a run allocates and makes primitives
    times = {n: [t for r in rs for t in r[0][1:]] for n, rs in runs.items()}
    for n, t in times.items():
        print(f"  {n:9} {median(t):9.1f} ms/step ({len(t)} steps)   loss at "
              f"step {options.llmc_steps - 1}: {runs[n][0][1]:.6f}")
    gain = median(times["original"]) / median(times["bf16"])
    print(f"  original over bf16: {gain:.2f}", flush=True)
    (folder / "gpt2_124M.bin").unlink()
    what = "llm.c step, original over bf16"
    if options.amx:
        targets.at_least(what, gain, 7.0)
    else:
        targets.skip(what, "the target of 7 is for CPUs with AMX")
