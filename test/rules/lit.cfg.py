import os
import sys

import lit.formats

config.name = "rules"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".amp", ".test"]
config.excludes = ["inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.environ["AMP_RULES_OUT"]
config.substitutions.append(("%packs", os.environ["AMP_RULES_PACKS"]))
config.substitutions.append(("%{python}", sys.executable))
config.environment["PATH"] = os.pathsep.join(
    [os.environ["AMP_RULES_BIN"], os.environ["AMP_LLVM_BIN"], os.environ["PATH"]]
)
