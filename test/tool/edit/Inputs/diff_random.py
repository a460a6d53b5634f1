"""diff_random.py CHECK ROUNDS FOLDER: what `CHECK diff` prints is a patch.

Random pairs of texts: patch(1) makes the new one of the old one, byte for byte.
Where few lines of a text without repeated lines change, the hunks are those of
diff -u.
"""
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


def any_pair(r):
    alphabet = r.choice([2, 3, 5, 20, 200])
    size = r.choice([3, 8, 20, 60, 300, 1000])
    old = [f"L{r.randrange(alphabet)}" for _ in range(r.randrange(size + 1))]
    if r.random() < 0.1:  # nothing in common
        return old, [f"M{r.randrange(alphabet)}" for _ in old]
    return old, edited(r, old, alphabet)


def sparse_pair(r):
    old = [f"line {i}" for i in range(r.randrange(40, 400))]
    new = list(old)
    for k in reversed(range(0, len(old) - 20, r.randrange(9, 60))):
        i = k + r.randrange(4)
        what = r.randrange(3)
        new[i : i + 1] = [[], [f"new {k}"], [f"new {k}", "and more", old[i]]][what]
    return old, new


def text(r, lines, end):
    last = end if lines and r.random() < 0.8 else ""
    return (end.join(lines) + last).encode()


def run(command, folder):
    done = subprocess.run(command, capture_output=True, check=False, cwd=folder)
    if done.stderr:
        raise RuntimeError(done.stderr.decode())
    return done.stdout


def check_pair(check, folder, old, new, exact):
    """What is wrong with the diff, or None."""
    paths = [os.path.join(folder, name) for name in ("old", "new", "patch", "made")]
    for path, content in zip(paths, (old, new)):
        with open(path, "wb") as file:
            file.write(content)
    got = run([check, "diff", "old", "new"], folder)
    if bool(got) != (old != new):
        return "a diff of equal texts, or none of different ones"
    if exact:
        wanted = run(["diff", "-u", "old", "new"], folder)
        if got.split(b"\n", 2)[2:] != wanted.split(b"\n", 2)[2:]:
            return "not the hunks of diff -u"
    made = old
    if got:
        with open(paths[2], "wb") as file:
            file.write(got)
        # An emptied file would be removed without --posix.
        run(["patch", "-s", "--posix", "--binary", "-F0", "-o", "made", "old", "patch"],
            folder)
        with open(paths[3], "rb") as file:
            made = file.read()
    return None if made == new else "patch makes something else of it"


def main():
    check, rounds, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    different = 0
    for seed in range(rounds):
        r = random.Random(seed)
        exact = seed % 4 == 0
        pair = sparse_pair(r) if exact else any_pair(r)
        ends = [r.choice(["\n", "\r\n"])] * 2
        if not exact and r.random() < 0.1:
            ends[1] = "\n"
        old, new = (text(r, *each) for each in zip(pair, ends))
        different += old != new
        wrong = check_pair(check, folder, old, new, exact)
        if wrong:
            print(f"seed {seed}: {wrong}")
            return 1
    if different < rounds // 2:
        print(f"only {different} of {rounds} pairs differ: a weak test")
        return 1
    return 0


sys.exit(main())
