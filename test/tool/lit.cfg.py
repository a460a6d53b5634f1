"""lit suite of the amp-rewrite command.

Every .c, .cu and .test file below this folder with RUN lines is a test; a file
without them fails, unless it is in a folder named Inputs or is built by the
CMakeLists.txt beside it. Helper programs built here are found by their bare
names. Exact exit codes are asked for with `%exits N command ...`.
"""
import os
import sys

# A module of its own: lit sends the format to worker processes by name.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lit_format  # noqa: E402

config.name = "amp-rewrite"
config.test_format = lit_format.Format(execute_external=True)
config.suffixes = [".c", ".cu", ".test"]
config.excludes = ["Inputs", "inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = config.amp_exec_root

# What runs with libamp is built with its compiler and its sanitizer.
uses_gcc = "clang" not in os.path.basename(config.amp_cc)
same = [
    config.amp_python,
    os.path.join(config.test_source_root, "rewrite", "Inputs", "same.py"),
    f"--amp-rewrite={config.amp_rewrite}",
    f"--cc={config.amp_cc}",
    f"--other-cc={config.amp_clang if uses_gcc else config.amp_gcc}",
    f"--include={os.path.join(config.amp_source, 'runtime', 'include')}",
    f"--lib={config.amp_runtime_lib}",
]
build = [config.amp_cc,
         f"-I{os.path.join(config.amp_source, 'runtime', 'include')}"]
if config.amp_sanitize:
    same.append("--cflag=-fsanitize=address,undefined")
    build.append("-fsanitize=address,undefined")
libdir = os.path.dirname(config.amp_runtime_lib)
link = ["-L", libdir, "-lamp", f"-Wl,-rpath,{libdir}", "-lm"]

# lit replaces these before its own %s, %t and %S.
config.substitutions += [
    ("%amp-rewrite", config.amp_rewrite),
    ("%same", " ".join(same) + " --work=%t.d"),
    ("%clang", config.amp_clang),
    ("%gcc", config.amp_gcc),
    ("%nvcc", config.amp_nvcc),
    ("%FileCheck", config.amp_filecheck),
    ("%python", config.amp_python),
    ("%exits", "sh " + os.path.join(config.test_source_root, "exits.sh")),
    ("%amp-include", os.path.join(config.amp_source, "runtime", "include")),
    ("%amp-build", " ".join(build)),
    ("%amp-link", " ".join(link)),
    ("%root", config.amp_source),
]

config.environment["PATH"] = os.pathsep.join(
    [config.amp_bin, config.amp_llvm_bin, config.environment["PATH"]]
)
config.environment["LC_ALL"] = "C.UTF-8"
config.environment["OMP_WAIT_POLICY"] = "passive"

if os.geteuid() == 0:
    config.available_features.add("root")  # no permission stops root
if config.amp_sanitize:
    config.available_features.add("sanitizer")  # takes all address space
if config.amp_nvcc:
    config.available_features.add("nvcc")
if config.amp_runtime_lib:
    config.available_features.add("runtime")
