"""How lit finds the tests of this suite; see lit.cfg.py."""
import os
import re

import lit.formats


class Format(lit.formats.ShTest):
    """ShTest, without the sources that a CMakeLists.txt builds."""

    def getTestsInDirectory(self, suite, path, config, local):
        folder = suite.getSourcePath(path)
        built = set()
        cmake = os.path.join(folder, "CMakeLists.txt")
        if os.path.exists(cmake):
            with open(cmake, encoding="utf-8") as file:
                built = set(re.findall(r"[\w.-]+\.cu?\b", file.read()))
        for test in super().getTestsInDirectory(suite, path, config, local):
            if os.path.basename(test.getSourcePath()) not in built:
                yield test
