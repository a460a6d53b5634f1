"""diff_random.py CHECK ROUNDS FOLDER: compares `CHECK diff` with diff -u."""
import os
import random
import subprocess
import sys


def edited(r, lines, alphabet):
    lines = list(lines)
    for _ in range(r.choice([0, 1, 2, 5, 20, len(lines) // 3])):
        i = r.randrange(len(lines) + 1)
        what = r.randrange(4)
        if what == 0:
            lines.insert(i, f"L{r.randrange(alphabet)}")
        elif what == 1:
            del lines[i : i + 1]
        elif what == 2 and i < len(lines):
            fresh = r.random() < 0.7
            lines[i] = f"N{r.randrange(5)}" if fresh else f"L{r.randrange(alphabet)}"
        else:
            del lines[i : i + r.randrange(6)]
    return lines


def text(r, lines):
    end = "\n" if lines and r.random() < 0.8 else ""
    return "\n".join(lines) + end


def hunks(command):
    """Exit status and all but the two header lines."""
    done = subprocess.run(command, capture_output=True, check=False)
    return done.stdout.split(b"\n", 2)[2:], done.stderr


def main():
    check, rounds, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    old, new = os.path.join(folder, "old"), os.path.join(folder, "new")
    different = 0
    for seed in range(rounds):
        r = random.Random(seed)
        alphabet = r.choice([2, 3, 5, 20, 200])
        size = r.choice([3, 8, 20, 60, 300, 1000])
        lines = [f"L{r.randrange(alphabet)}" for _ in range(r.randrange(size + 1))]
        for path, content in ((old, lines), (new, edited(r, lines, alphabet))):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text(r, content))
        got, errors = hunks([check, "diff", old, new])
        wanted, _ = hunks(["diff", "-u", old, new])
        different += bool(wanted)
        if got != wanted or errors:
            print(f"seed {seed}: not what diff -u prints\n{errors.decode()}")
            return 1
    if different < rounds // 2:
        print(f"only {different} of {rounds} pairs differ: a weak test")
        return 1
    return 0


sys.exit(main())
