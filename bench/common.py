"""What the benchmarks share: running and timing programs, medians of
interleaved runs, the machine's description, the targets."""

import collections
import ctypes
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

Done = collections.namedtuple("Done", "code wall cpu out err")
FEATURES = ("avx2", "fma", "f16c", "avx512f", "avx512_bf16", "avx512_fp16",
            "amx_tile", "amx_bf16")


def run(argv, cwd=None, env=None):
    """A program's exit code, its seconds by the clock, the CPU seconds of it
    and its children, and what it printed."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        child = subprocess.Popen([str(a) for a in argv], cwd=cwd, stdout=out,
                                 stderr=err, stdin=subprocess.DEVNULL,
                                 env={**os.environ, **(env or {})})
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
    return Done(child.returncode, wall, usage.ru_utime + usage.ru_stime,
                *texts)


def must(argv, **more):
    """run(), or None after saying why not."""
    done = run(argv, **more)
    if done.code == 0:
        return done
    print(f"  {' '.join(str(a) for a in argv)}\n  exit {done.code}: "
          + first_error(done), flush=True)
    return None


def first_error(done):
    """The line that says why a run failed; a refusal before broken code."""
    lines = done.err.strip().splitlines() or ["no message"]
    errors = [s for s in lines if "error" in s] or lines[-1:]
    return next((s for s in errors if "[AMP4" in s), errors[0])


def interleave(works, rounds):
    """Calls each function of the dictionary in turn, `rounds` times: A B A B,
    so that all see the same machine. A dictionary of lists."""
    results = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            results[name].append(work())
    return results


def ratio(above, below):
    """The median of the ratios of the rounds."""
    return statistics.median(a / b for a, b in zip(above, below))


median = statistics.median


# ---- the machine -----------------------------------------------------------

def cpu_info(key):
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.partition(":")[0].strip() == key:
            return line.partition(":")[2].strip()
    return ""


def has_flag(flag):
    return flag in cpu_info("flags").split()


def first_line(argv):
    try:
        return run(argv).out.strip().splitlines()[0]
    except (OSError, IndexError):
        return "not found"


def openblas():
    try:
        library = ctypes.CDLL("libopenblas.so.0")
    except OSError:
        return "not found"
    texts = []
    for name in ("openblas_get_config", "openblas_get_corename"):
        function = getattr(library, name)
        function.restype = ctypes.c_char_p
        texts.append(function().decode())
    version = " ".join(texts[0].split()[:2])
    wanted = os.environ.get("OPENBLAS_CORETYPE", "not set")
    return f"{version}, kernels {texts[1]}, OPENBLAS_CORETYPE {wanted}"


def onednn():
    class Version(ctypes.Structure):
        _fields_ = [("major", ctypes.c_int), ("minor", ctypes.c_int),
                    ("patch", ctypes.c_int)]
    for name in ("libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"):
        try:
            function = ctypes.CDLL(name).dnnl_version
        except OSError:
            continue
        function.restype = ctypes.POINTER(Version)
        v = function().contents
        return f"{v.major}.{v.minor}.{v.patch}"
    return "not found"


def cmake_value(options, name):
    text = (options.build / "CMakeCache.txt").read_text()
    found = re.search(rf"^{name}:\w+=(.*)$", text, re.MULTILINE)
    return found.group(1) if found else ""


def clang_of(options):
    """The clang of the libclang that the tool uses, to compare like with
    like."""
    library = pathlib.Path(cmake_value(options, "LIBCLANG_LIBRARY"))
    beside = library.parent.parent / "bin/clang"
    return beside if beside.exists() else pathlib.Path("clang")


def print_machine(options):
    have = [f for f in FEATURES if has_flag(f)]
    lack = [f for f in FEATURES if not has_flag(f)]
    compiler = cmake_value(options, "CMAKE_C_COMPILER")
    for name, text in (
            ("cpu", cpu_info("model name")),
            ("", f"{len(os.sched_getaffinity(0))} CPUs; has "
                 f"{' '.join(have) or 'none of'}; lacks "
                 f"{' '.join(lack) or 'nothing'}"),
            ("load", " ".join(f"{x:.1f}" for x in os.getloadavg())),
            ("built", f"{cmake_value(options, 'CMAKE_BUILD_TYPE')}, "
                      f"{first_line([compiler, '--version'])}"),
            ("clang", first_line([clang_of(options), "--version"])),
            ("OpenBLAS", openblas()), ("oneDNN", onednn())):
        print(f"{name:9} {text}", flush=True)
    if os.getloadavg()[0] > len(os.sched_getaffinity(0)):
        print("          the machine is busy with other work: read ratios, "
              "not times")


# ---- targets ---------------------------------------------------------------

class Targets:
    def __init__(self):
        self.met = 0
        self.missed = []
        self.skipped = []

    def note(self, good, text):
        if good:
            self.met += 1
        else:
            self.missed.append(text)
        return good

    def at_most(self, name, value, limit):
        return self.note(value <= limit,
                         f"{name}: {value:.2f}, target {limit:.2f} or less")

    def at_least(self, name, value, limit):
        return self.note(value >= limit,
                         f"{name}: {value:.2f}, target {limit:.2f} or more")

    def skip(self, name, why):
        self.skipped.append(f"{name}: {why}")


def finish(targets):
    print(f"\n== targets: {targets.met} met, {len(targets.missed)} missed, "
          f"{len(targets.skipped)} skipped")
    for kind, lines in (("missed", targets.missed),
                        ("skipped", targets.skipped)):
        for line in lines:
            print(f"{kind:8} {line}")
    sys.stdout.flush()
