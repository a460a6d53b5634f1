"""database.py FOLDER: a compile database as CMake writes them, in FOLDER/build,
with paths relative to it and one command that comes twice."""
import json
import os
import sys

build = os.path.join(os.path.realpath(sys.argv[1]), "build")
os.makedirs(build, exist_ok=True)
entries = [
    {"directory": build, "file": f"../src/{name}.c",
     "command": f"gcc -I../inc -O2 -c ../src/{name}.c -o {name}.o"}
    for name in ("mm", "layer", "main", "layer")
]
with open(os.path.join(build, "compile_commands.json"), "w", encoding="utf-8") as file:
    json.dump(entries, file, indent=1)
