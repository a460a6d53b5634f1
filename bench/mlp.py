"""A training step of examples/mlp: the original on OpenBLAS and on oneDNN
FP32, and its rewrite in bf16 and fp16."""

import re

from common import interleave, median, must, ratio

STEP = re.compile(r"([\d.]+) ms/step")
TEST = re.compile(r"^test +loss (\S+) +accuracy (\S+)", re.MULTILINE)
EPOCHS = 3  # the first warms up

# name: the text that the example's source has, and what replaces it
SHAPES = {
    "layers 512-1024-1024-16": {},
    "layers 1024-2048-2048-16": {"#define DIM 512": "#define DIM 1024",
                                 "#define HIDDEN 1024": "#define HIDDEN 2048"},
}


def compile_all(options, folder):
    """The four programs, or None."""
    cc, top, lib = options.cc, options.top, options.build / "runtime"
    source, rewritten = folder / "train.c", folder / "train_amp.c"
    amp = [f"-I{top / 'runtime/include'}", rewritten, f"-L{lib}",
           f"-Wl,-rpath,{lib}", "-lamp"]
    steps = [[options.tool, source, "-O1", "-o", rewritten]]
    programs = {}
    for name, inputs in (
            ("OpenBLAS FP32", [source]),
            ("oneDNN FP32", [source, top / "bench/dnnl_cblas.c", "-ldnnl"]),
            ("bf16", ["-DAMP_HALF_BF16", *amp]),
            ("fp16", ["-DAMP_HALF_FP16", *amp])):
        programs[name] = folder / name.replace(" ", "-")
        steps.append([cc, "-O2", *inputs, "-lopenblas", "-lm", "-o",
                      programs[name]])
    return programs if all(must(s) for s in steps) else None


def train(program):
    done = must([program])
    if not done:
        return None
    return median([float(x) for x in STEP.findall(done.out)][1:]), \
        TEST.search(done.out).groups()


def bench_shape(options, targets, name, edits):
    folder = options.work / f"mlp-{len(edits)}"
    folder.mkdir()
    text = (options.top / "examples/mlp/train.c").read_text()
    edits = {"#define EPOCHS 6": f"#define EPOCHS {EPOCHS}",
             "#define TRAIN_ROWS 8192": "#define TRAIN_ROWS 4096", **edits}
    for old, new in edits.items():
        if old not in text:
            raise SystemExit(f"examples/mlp/train.c has no '{old}'")
        text = text.replace(old, new)
    (folder / "train.c").write_text(text)
    programs = compile_all(options, folder)
    if not programs:
        return
    runs = interleave({n: lambda p=p: train(p) for n, p in programs.items()},
                      min(options.rounds, 5))
    if any(None in r for r in runs.values()):
        return
    times = {n: [x[0] for x in r] for n, r in runs.items()}
    print(f"{name}, batch 256\n"
          "                 ms/step  OpenBLAS/  oneDNN/    test loss  accuracy")
    for n, t in times.items():
        loss, accuracy = runs[n][-1][1]
        print(f"  {n:14} {median(t):7.2f}  "
              f"{ratio(times['OpenBLAS FP32'], t):8.2f}  "
              f"{ratio(times['oneDNN FP32'], t):8.2f}   "
              f"{float(loss):9.6f}  {float(accuracy):8.4f}", flush=True)
    what = f"MLP step bf16 over oneDNN FP32, {name}"
    if options.amx:
        targets.at_least(what, ratio(times["oneDNN FP32"], times["bf16"]), 2.0)
    else:
        targets.skip(what, "the target is for CPUs with AMX, this has none")


def bench(options, targets):
    print("\n== examples/mlp, a step: original over rewrite", flush=True)
    if not options.amx:
        print("no AMX here: operands are rounded to half, products are FP32; "
              "a gain is not expected")
    for name, edits in SHAPES.items():
        bench_shape(options, targets, name, edits)
