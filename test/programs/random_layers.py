#!/usr/bin/env python3
"""Judges the loss scale of random small training programs.

Each seed makes one C program: a table of layers by value, whose functions say
of which kind each is, with random ways to clear, add to, copy, share and print
the buffers of gradients. Some of them have an exact place for a loss scale,
others must not get one. The tool may do one of two things:

    refuse    exit 2, with an error that says why
    accept    the rewrite with fp32 for half prints, at a loss scale of 1, 2^8
              and 2^-3, exactly what the original prints

Anything else is a FAIL: other output, a crash, no end, an error of another
kind, C that does not compile. The program is then kept, with the rewrite and
what each run printed. Where nothing at all was accepted, the run has shown
nothing and fails too.

A PASS or FAIL line for each seed, and a summary with the reasons of refusals.
Exit 1 if any failed, 2 if the driver was used wrongly.
"""

import argparse
import collections
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from oracles import Failure, expect, first_difference

RUN_LIMIT = 60  # seconds; all that is run takes well under one
TOOL_FLAGS = ["-O1", "--loss-scale=dynamic"]
C_FLAGS = ["-O1", "-w", "-ffp-contract=off"]
SCALES = ["1", "256", "0.125"]
REFUSED = 2  # the tool's exit status for an error of the user
REASON = re.compile(r"error: (.*?)(?: \[(AMP\d+)[^\]]*\])?$", re.MULTILINE)
NOT_FINITE = re.compile(r"\b(nan|inf)\b")

# ---- the parts of a program ------------------------------------------------
# One list a decision; a seed takes one entry of each. An entry that is added
# changes what all seeds mean: see that the seeds the build names (those that
# showed faults of the analysis) still make the same programs.

HEAD = """\
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct layer;
struct net {
struct layer *layers;
int n;
float *input, *delta, *truth, *scratch;
};

struct layer {
int n;
float *w, *g, *y, *delta, *aux, *cost;
void (*forward)(struct layer, struct net);
void (*backward)(struct layer, struct net);
void (*update)(struct layer);
};

enum { S = 8 };

static void fill(int n, float v, float *x) {
for (int i = 0; i < n; i++)
x[i] = v;
}

static void add(int n, const float *x, float *y) {
for (int i = 0; i < n; i++)
y[i] += x[i];
}

static void copy(int n, const float *x, float *y) {
for (int i = 0; i < n; i++)
y[i] = x[i];
}

static void mul(int n, const float *x, float *y) {
for (int i = 0; i < n; i++)
y[i] *= x[i];
}

static float mag(int n, const float *x) {
float s = 0;
for (int i = 0; i < n; i++)
s += x[i] * x[i];
return sqrtf(s);
}
"""

EACH = "for (int i = 0; i < S; i++)\n"
IF_DELTA = "if (net.delta)\n"

# What the layer with weights hands to the layer before it.
WEIGHT_BACKWARD = [
    EACH + IF_DELTA + "net.delta[i] += l.delta[i] * l.w[i];\n",
    IF_DELTA + EACH + "net.delta[i] = l.delta[i] * l.w[i];\n",
    EACH + "net.scratch[i] = l.delta[i] * l.w[i];\n"
    + IF_DELTA + "add(S, net.scratch, net.delta);\n",
]

# The step: gradients are cleared after it, or part of them stays as momentum.
WEIGHT_UPDATE = [
    EACH + "l.w[i] -= 0.05f * l.g[i];\nfill(S, 0, l.g);\n",
    EACH.rstrip() + " {\nl.w[i] -= 0.05f * l.g[i];\nl.g[i] *= 0.5f;\n}\n",
]

MIDDLE_FORWARD = [
    EACH + "l.y[i] = tanhf(net.input[i]);\n",
    EACH + "l.y[i] = tanhf(net.input[i] * 0.7f);\n",
    EACH + "l.y[i] = sqrtf(net.input[i] * net.input[i] + 1);\n",
]

# The last two have no exact scale: a square, and a sum with what is not scaled.
MIDDLE_BACKWARD = [
    IF_DELTA + EACH
    + "net.delta[i] += l.delta[i] * (1 - l.y[i] * l.y[i]);\n",
    "if (net.delta) {\n" + EACH
    + "net.delta[i] = powf(l.y[i] * l.y[i] + 1, -0.5f);\n"
    "mul(S, l.delta, net.delta);\n}\n",
    "if (net.delta) {\ncopy(S, l.delta, net.delta);\n}\n",
    EACH + "l.delta[i] *= 0.9f;\n" + IF_DELTA
    + "add(S, l.delta, net.delta);\n",
    "if (net.delta) {\n" + EACH + "if (i % 3 == 1)\nnet.delta[i] = 0;\n"
    "add(S, l.delta, net.delta);\n}\n",
    "copy(S, l.delta, l.aux);\n" + IF_DELTA + "add(S, l.aux, net.delta);\n",
    "add(S, l.delta, l.aux);\n" + IF_DELTA + "copy(S, l.aux, net.delta);\n",
    IF_DELTA + EACH + "net.delta[i] += l.delta[i] * l.delta[i];\n",
    IF_DELTA + EACH + "net.delta[i] += l.delta[i] + 0.01f * l.y[i];\n",
]

ERROR = "net.input[i] - net.truth[i]"
COPY_OUT = "copy(S, net.input, l.y);\n"

# How a loss seeds the gradient; @ is where it may be cleared before. All
# elements or some, set or added to, with a cost that reads them or not.
LOSS_FORWARD = [
    COPY_OUT + EACH + f"l.delta[i] = {ERROR};\nl.cost[0] = 0;\n" + EACH
    + f"l.cost[0] += ({ERROR}) * ({ERROR});\n",
    COPY_OUT + "@" + EACH + f"l.delta[i] = 0.5f * ({ERROR});\n"
    "l.cost[0] = powf(mag(S, l.delta), 2);\n"
    'if (l.cost[0] > 1e9f)\nprintf("big\\n");\n',
    COPY_OUT + "@" + EACH.rstrip() + " {\nl.delta[i] = net.input[i];\n"
    f"if (net.truth[i] > 0.2f)\nl.delta[i] = {ERROR};\n}}\n"
    "l.cost[0] = powf(mag(S, l.delta), 2);\nl.aux[0] = 1;\n",
    COPY_OUT + EACH + f"if (net.truth[i] > 0.0f)\nl.delta[i] = {ERROR};\n"
    "l.cost[0] = mag(S, l.y);\n",
    COPY_OUT + EACH + f"l.delta[i] += {ERROR};\nl.cost[0] = mag(S, l.y);\n",
]

LOSS_CLEAR = ["", "memset(l.delta, 0, S * sizeof(float));\n"]

LOSS_BACKWARD = [
    "add(S, l.delta, net.delta);\n",
    EACH + "net.delta[i] += 0.5f * l.delta[i];\n",
    "copy(S, l.delta, net.delta);\n",
]

# Where gradients are cleared: inside the loop over the layers, before it, or in
# two of five nowhere, so that a layer overwrites them or adds to stale ones.
CLEAR = [
    ("fill(S, 0, l.delta);\n", ""),
    ("if (l.delta)\nfill(S, 0, l.delta);\n", ""),
    ("", ""),
    ("", "for (int i = 0; i < net.n; i++)\nfill(S, 0, net.layers[i].delta);\n"),
    ("", ""),
]

# What reads a gradient by a constant index after the backward pass.
PEEK = [""] * 5 + [
    'printf("d %.9g\\n", to->layers[0].delta[0]);\n',
    'if (to->layers[1].delta[2] > 0.5f)\nprintf("x\\n");\n',
]

BACKWARD = """\
struct net net = *to;
struct net whole = net;
for (int i = net.n - 1; i >= 0; i--) {
struct layer l = net.layers[i];
if (i == 0) {
net = whole;
} else {
struct layer p = net.layers[i - 1];
net.input = p.y;
net.delta = p.delta;
}
l.backward(l, net);
}
"""

UPDATE = """\
for (int i = 0; i < to->n; i++) {
struct layer l = to->layers[i];
if (l.update)
l.update(l);
}
"""

WEIGHTS = """\
l.w = calloc(S, sizeof(float));
l.g = calloc(S, sizeof(float));
for (int q = 0; q < S; q++)
l.w[q] = 0.5f + 0.1f * (float)((q * 7 + i * 3) % 5);
l.update = w_update;
"""

TRAIN = """\
for (int step = 0; step < 6; step++) {
for (int q = 0; q < S; q++) {
x[q] = 0.1f * (float)((q + step) % 7) + 0.05f;
t[q] = 0.2f * (float)((q * step) % 4);
}
net.input = x;
net.delta = 0;
forward(&net);
backward(&net);
update(&net);
for (int i = 0; i < net.n; i++)
if (net.layers[i].cost)
printf("%d %d %.9g\\n", step, i, net.layers[i].cost[0]);
}
for (int i = 0; i < net.n; i++)
if (net.layers[i].w)
for (int q = 0; q < S; q++)
printf("%.9g\\n", net.layers[i].w[q]);
return 0;
"""


# ---- making a program ------------------------------------------------------

def indented(text):
    """The lines of C as they would be written by hand."""
    lines, depth, hanging = [], 0, 0
    for line in text.splitlines():
        depth -= line.startswith("}")
        lines.append((" " * 4 * (depth + hanging) + line).rstrip())
        depth += line.endswith("{")
        opens = line.startswith(("for (", "if (")) and line.endswith(")")
        hanging = hanging + 1 if opens else 0
    return "\n".join(lines) + "\n"


def function(head, body):
    return f"\nstatic {head} {{\n{body}}}\n"


def pass_of(kind, direction, body):
    return function(f"void {kind}_{direction}(struct layer l, struct net net)",
                    body)


def weight_kind(pick):
    grad = EACH + "l.g[i] += l.delta[i] * net.input[i];\n"
    if pick.random() < 0.3:
        grad += "fill(S, 0, net.scratch);\n"
    back = grad + pick.choice(WEIGHT_BACKWARD)
    return (pass_of("w", "forward",
                    EACH + "l.y[i] = tanhf(l.w[i] * net.input[i]);\n")
            + pass_of("w", "backward", back)
            + function("void w_update(struct layer l)",
                       pick.choice(WEIGHT_UPDATE)))


def middle_kind(pick, kind):
    return (pass_of(kind, "forward", pick.choice(MIDDLE_FORWARD))
            + pass_of(kind, "backward", pick.choice(MIDDLE_BACKWARD)))


def loss_kind(pick, kind):
    seed = pick.choice(LOSS_FORWARD)
    seed = seed.replace("@", pick.choice(LOSS_CLEAR))
    return (pass_of(kind, "forward", seed)
            + pass_of(kind, "backward", pick.choice(LOSS_BACKWARD)))


def whole_net(pick):
    """forward, backward and update of the net."""
    inside, before = pick.choice(CLEAR)
    ahead = ("struct net net = *to;\n" + before
             + "for (int i = 0; i < net.n; i++) {\n"
             "struct layer l = net.layers[i];\n" + inside
             + "l.forward(l, net);\nnet.input = l.y;\n}\n")
    return (function("void forward(struct net *to)", ahead)
            + function("void backward(struct net *to)",
                       BACKWARD + pick.choice(PEEK))
            + function("void update(struct net *to)", UPDATE))


def construction(kind, shares):
    """What main does for a layer of this kind."""
    text = WEIGHTS if kind == "w" else ""
    text += "l.y = calloc(S, sizeof(float));\n"
    text += ("l.delta = net.layers[i - 1].delta;\n" if shares
             else "l.delta = calloc(S, sizeof(float));\n")
    text += "l.aux = calloc(S, sizeof(float));\n"
    if kind.startswith("l"):
        text += "l.cost = calloc(1, sizeof(float));\n"
    text += f"l.forward = {kind}_forward;\nl.backward = {kind}_backward;\n"
    return f'if (!strcmp(plan[i], "{kind}")) {{\n{text}}}'


def main_function(plan, kinds, sharing):
    quoted = ", ".join(f'"{kind}"' for kind in plan)
    made = " else ".join(construction(k, k == sharing) for k in kinds)
    return ("\nint main(void) {\n"
            f"static const char *const plan[] = {{{quoted}}};\n"
            "static float x[S], t[S], scratch[S];\n"
            "struct net net = {0};\n"
            f"net.n = {len(plan)};\n"
            f"net.layers = calloc({len(plan)}, sizeof(struct layer));\n"
            "net.truth = t;\nnet.scratch = scratch;\n"
            "for (int i = 0; i < net.n; i++) {\n"
            "struct layer l = {0};\nl.n = S;\n"
            f"{made}\nnet.layers[i] = l;\n}}\n{TRAIN}}}\n")


def generate(seed):
    """The C program of a seed."""
    pick = random.Random(seed)
    layers = pick.choice([4, 5, 6])
    text = HEAD + weight_kind(pick)
    middles = [f"m{k}" for k in range(pick.choice([1, 2, 3]))]
    for kind in middles:
        text += middle_kind(pick, kind)
    losses = [f"l{k}" for k in range(pick.choice([1, 2]))]
    for kind in losses:
        text += loss_kind(pick, kind)
    text += whole_net(pick)
    kinds = ["w"] + middles + losses
    plan = ["w"] + [pick.choice(kinds) for _ in range(layers - 2)]
    plan.append(pick.choice(losses))
    sharing = middles[0] if pick.random() < 0.25 else None
    return indented(text + main_function(plan, kinds, sharing))


# ---- judging it ------------------------------------------------------------

def command(argv, folder, **env):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("AMP_")}
    clean.update(ASAN_OPTIONS="detect_leaks=0", **env)
    try:
        return subprocess.run([str(a) for a in argv], cwd=folder, text=True,
                              capture_output=True, timeout=RUN_LIMIT,
                              env=clean, errors="replace")
    except subprocess.TimeoutExpired:
        raise Failure(f"{argv[0]}: no end after {RUN_LIMIT} s") from None
    except OSError as error:
        raise Failure(f"{argv[0]}: {error.strerror}") from None


def build(tools, folder, source, *flags):
    binary = folder / pathlib.Path(source).stem
    done = command([tools.cc, *C_FLAGS, *tools.cflag, source, "-o", binary,
                    *flags, "-lm"], folder)
    expect(done.returncode == 0, f"{source}: {done.stderr[:300]}")
    return binary


def output_of(binary, folder, name, **env):
    done = command([binary], folder, **env)
    (folder / f"{name}.out").write_text(done.stdout)
    expect(done.returncode == 0,
           f"{name}: exit {done.returncode}: {done.stderr[-200:]}")
    return done.stdout


def reason_of(messages):
    """What the first error says, without the names it is said of."""
    found = REASON.search(messages)
    expect(found, f"refused without an error: {messages[:200]}")
    text = re.sub(r"'[^']*'", "'..'", found.group(1))
    return f"{found.group(2)}: {text}" if found.group(2) else text


def judge(tools, seed, folder):
    """('accepted', None), ('refused', why) or ('void', why)."""
    (folder / "program.c").write_text(generate(seed))
    original = output_of(build(tools, folder, "program.c"), folder, "program")
    if NOT_FINITE.search(original):
        return "void", "trains to infinity"
    done = command([tools.amp_rewrite, "program.c", *TOOL_FLAGS,
                    "-o", "rewritten.c"], folder)
    if done.returncode == REFUSED:
        return "refused", reason_of(done.stderr)
    expect(done.returncode == 0,
           f"amp-rewrite: exit {done.returncode}: {done.stderr[-300:]}")
    expect("amp_loss_scale" in (folder / "rewritten.c").read_text(),
           "neither refused nor scaled")
    flags = ["-DAMP_HALF_FP32", *(f"-I{i}" for i in tools.include)]
    for libdir in tools.libdir:
        flags += [f"-L{libdir}", f"-Wl,-rpath,{libdir}"]
    binary = build(tools, folder, "rewritten.c", *flags, "-lamp")
    for scale in SCALES:
        text = output_of(binary, folder, f"scale-{scale}",
                         AMP_LOSS_SCALE=scale)
        expect(text == original,
               f"scale {scale}: {first_difference(text, original)}")
    return "accepted", None


def judge_seed(tools, seed, work):
    """Prints its lines; what became of it and why."""
    folder = work / f"seed-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        what, why = judge(tools, seed, folder)
    except Failure as failure:
        text = " ".join(str(failure).split())
        print(f"FAIL seed {seed}: {text}\n"
              f"     kept in {folder}; again:\n"
              f"     {shlex.join([*sys.argv, f'--seeds={seed}'])}", flush=True)
        return "failed", None
    shutil.rmtree(folder)
    print(f"PASS seed {seed}: {what}" + (f": {why}" if why else ""),
          flush=True)
    return what, why


def seeds_of(text):
    """'1,29,40:44' names 1, 29 and 40 to 44."""
    seeds = []
    for part in text.split(","):
        first, _, last = part.partition(":")
        seeds += range(int(first), int(last or first) + 1)
    if not seeds:
        raise ValueError(text)
    return list(dict.fromkeys(seeds))


def add_common(p, seeds):
    """What every driver of random programs takes."""
    p.add_argument("--seeds", default=seeds, type=seeds_of,
                   metavar="FIRST:LAST",
                   help="both included; or a list: 1,29,40:44")
    p.add_argument("--amp-rewrite", default="amp-rewrite")
    p.add_argument("--include", action="append", default=[], metavar="DIR",
                   type=os.path.abspath, help="holds amp/amp.h")
    p.add_argument("--libdir", action="append", default=[], metavar="DIR",
                   type=os.path.abspath)
    p.add_argument("--cflag", action="append", default=[],
                   help="for every compilation, as -fsanitize=address")
    p.add_argument("--cc", default="gcc")
    p.add_argument("--print", action="store_true",
                   help="print the programs and judge nothing")
    p.add_argument("--work", metavar="DIR",
                   help="where programs that fail are kept; default: a new "
                   "folder in the temporary one")


def parse_common(p, argv):
    tools = p.parse_args(argv)
    found = shutil.which(tools.amp_rewrite)
    if not found and not tools.print:
        p.error(f"no program '{tools.amp_rewrite}'")
    tools.amp_rewrite = os.path.abspath(found or "")
    return tools


def parse(argv):
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_common(p, "0:24")
    return parse_common(p, argv)


def main(argv):
    tools = parse(argv)
    if tools.print:
        print("\n".join(generate(seed) for seed in tools.seeds), end="")
        return 0
    work = pathlib.Path(tools.work
                        or tempfile.mkdtemp(prefix="random-layers-"))
    results = collections.Counter(judge_seed(tools, seed, work.resolve())
                                  for seed in tools.seeds)
    if not tools.work and not any(work.iterdir()):
        work.rmdir()
    count = collections.Counter()
    for (what, _), n in results.items():
        count[what] += n
    print(f"{len(tools.seeds)} programs: {count['accepted']} accepted, "
          f"{count['refused']} refused, {count['void']} void, "
          f"{count['failed']} failed")
    for (what, why), n in results.most_common():
        if why:
            print(f"{n:6} {what}: {why}")
    if not count["accepted"]:
        print("FAIL nothing was accepted")
    return 1 if count["failed"] or not count["accepted"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
