"""The storage levels on large input: time and memory by its size."""

import resource

from common import must
from make_source import make_heap_source, make_source
from tool import TIME

SIZES = (5000, 20000, 100000)
STAGES = ("flows", "scale", "solve", "plan")


def bench(options, targets):
    print("\n== amp-rewrite -O2 on generated sources, one run each\n"
          "                 lines   cpu s  " + " ".join(f"{s:>7}" for s in STAGES)
          + "   MB", flush=True)
    for kind, make in (("static", make_source), ("heap", make_heap_source)):
        solve = {}
        for size in SIZES:
            path = options.work / f"{kind}-{size}.c"
            path.write_text(make(size))
            done = must([options.tool, "-v", "-O2", "--half=bf16", path,
                         "-o", options.work / "out.c"])
            if not done:
                targets.note(False, f"storage, {kind} {size}: the tool fails")
                continue
            seconds = {n: float(s) for n, s in TIME.findall(done.err)}
            lines = path.read_bytes().count(b"\n")
            own = seconds["flows"] + seconds["solve"] + seconds["plan"]
            solve[size] = own / lines
            # of all children so far, of which this is the largest
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            print(f"{kind:16} {lines:6} {done.cpu:7.2f}  "
                  + " ".join(f"{seconds.get(s, 0):7.2f}" for s in STAGES)
                  + f" {peak / 1024:5.0f}", flush=True)
        if SIZES[0] in solve and SIZES[-1] in solve:
            targets.at_most(f"storage, {kind}: flows + solve + plan a line, "
                            f"{SIZES[-1]} over {SIZES[0]}",
                            solve[SIZES[-1]] / solve[SIZES[0]], 2)
