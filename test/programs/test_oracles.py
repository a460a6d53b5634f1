#!/usr/bin/env python3
"""Tests of oracles.py: its comparisons, and that each oracle catches what it
is there for, with a toy program, a toy rewriter and a toy runtime."""

import contextlib
import io
import json
import pathlib
import stat
import sys
import tempfile
import unittest

import oracles

TOY = """\
#include <stdio.h>
static float w, g;
int main(int argc, char **argv)
{
    for (int step = 1; step <= 20; step++) {
        float d = w - 1.7f;
        g = d * 0.3f;
        w -= 0.5f * g;
        printf("step %d loss %.9g\\n", step, d * d);
    }
    printf("final loss %.9g\\n", (w - 1.7f) * (w - 1.7f));
    FILE *f = argc > 1 ? fopen(argv[1], "wb") : NULL;
    if (f) {
        fwrite(&w, sizeof w, 1, f);
        fclose(f);
    }
    return 0;
}
"""

SEED = ("float d = w - 1.7f;\n        g = d * 0.3f;",
        "float d = w - 1.7f;\n        g = toy_half(toy_scale() * d * 0.3f);")
STEP = ("w -= 0.5f * g;",
        "g /= toy_scale();\n        if (toy_step(step)) w -= 0.5f * g;")
INCLUDE = ("#include <stdio.h>", '#include "toy.h"\n#include <stdio.h>')

RUNTIME = """\
#include <stdio.h>
#include <stdlib.h>
static inline float toy_scale(void)
{
    const char *s = getenv("AMP_LOSS_SCALE");
    return s ? (float)atof(s) : 1.0f;
}
static inline int toy_step(int step)
{
    const char *s = getenv("AMP_INJECT_OVERFLOW");
    if (!s || atoi(s) != step)
        return 1;
    fprintf(stderr, "group 0, step %d: inf; step skipped\\n", step);
    return 0;
}
#ifdef AMP_HALF_FP32
#define toy_half(x) (x)
#else
#define toy_half(x) ((float)(int)((x) * 4096) / 4096)
#endif
"""

# Replaces pairs of text; behaves as the command line that the driver assumes.
REWRITER = """\
#!{python}
import json, pathlib, sys
recipe = json.loads(pathlib.Path({recipe!r}).read_text())
argv = sys.argv[1:]
if "--" in argv:
    argv = argv[:argv.index("--")]
def value(option):
    return pathlib.Path(argv[argv.index(option) + 1])
if "-p" in argv:
    commands = (value("-p") / "compile_commands.json").read_text()
    sources = [pathlib.Path(c["directory"]) / c["file"]
               for c in json.loads(commands)]
else:
    sources = [pathlib.Path(a) for a in argv if a.endswith("toy.c")][:1]
assert all(s.exists() for s in sources)
if "--audit=json" in argv:
    print(json.dumps(recipe["audit"]))
    sys.exit()
if "--half=fp16" in argv and recipe.get("refuse"):
    print(recipe["refuse"], file=sys.stderr)
    sys.exit(2)
for source in sources:
    text = source.read_text()
    if "toy.h" in text:
        print(recipe["says"], file=sys.stderr)
    elif "main" in text:
        demoted = any(a.endswith("everything.amp") for a in argv)
        part = ("O0" if "-O0" in argv else "all" if demoted
                else "O2" if "-O2" in argv else "O1")
        for old, new in recipe[part]:
            assert old in text, old
            text = text.replace(old, new)
    out = (value("--out-dir") / source.name if "-p" in argv
           else value("-o"))
    out.write_text(text)
"""

AUDIT = {"ops": [{"precision": "half", "reason": "allow"}],
         "buffers": [{"name": "w", "precision": "fp32", "reason": "param"},
                     {"name": "g", "precision": "fp32", "reason": "grad"}]}

SPEC = {"sources": ["toy.c"], "cflags": ["-Wall", "-Wextra"], "libs": [],
        "metrics": {"loss": {"abs": 1e-2}}, "curve": {"abs": 1e-2},
        "min_half_ops": 1, "buffers": ["w", "g"]}


class Comparisons(unittest.TestCase):
    def test_outside(self):
        self.assertIsNone(oracles.outside(1.05, 1.0, {"rel": 0.1}))
        self.assertIsNone(oracles.outside(1.05, 1.0, {"abs": 0.1}))
        self.assertIsNotNone(oracles.outside(1.2, 1.0, {"rel": 0.1}))
        self.assertIsNotNone(oracles.outside(1.2, 1.0, {}))
        self.assertIsNotNone(oracles.outside(float("nan"), 1, {"abs": 9}))
        self.assertIsNotNone(oracles.outside(float("inf"), 1, {"abs": 9}))

    def test_reading_output(self):
        text = "4: loss 2.5, 3 avg\nit 5 dloss 1 gloss -2\nfinal loss 7\n"
        self.assertEqual(oracles.loss_curve(text), [2.5, 1, -2])
        self.assertEqual(oracles.final_metrics(text), {"loss": 7})
        self.assertEqual(oracles.final_metrics("loss 7\n"), {})

    def test_first_difference(self):
        self.assertIn("line 2", oracles.first_difference("a\nb\n", "a\nc\n"))
        self.assertIn("1 against 2", oracles.first_difference("a", "a\nb"))

    def test_warnings(self):
        old = "a.c:1:2: warning: one [-Wunused]\n"
        new = "b.c:9:2: warning: one [-Wunused]\n"
        self.assertEqual(oracles.new_warnings(new, old), [])
        self.assertEqual(oracles.new_warnings(new + new, old), ["[-Wunused]"])
        self.assertEqual(oracles.new_warnings("x: warning: y\n", old),
                         ["other"])

    def test_skipped(self):
        log = ("amp: group 1, step 3: inf in gradient 'dW'; step skipped (x)\n"
               "amp: group 1, step 3: NaN in gradient 'dB'; step skipped (x)\n"
               "amp: group 0, step 4: scale 2\n")
        self.assertEqual(oracles.skipped_steps(log), {(1, 3)})

    def test_training(self):
        spec = {"metrics": {"loss": {"abs": 0.1}}, "curve": {"abs": 0.1}}
        good = "loss 2\nfinal loss 1\n"
        oracles.compare_training("loss 2.05\nfinal loss 1.05\n", good, spec)
        for bad in ("loss 2\nfinal loss nan\n", "loss 3\nfinal loss 1\n",
                    "loss 2\nfinal loss 2\n", "loss 2\n", "final loss 1\n"):
            with self.assertRaises(oracles.Failure):
                oracles.compare_training(bad, good, spec)

    def test_audit(self):
        self.assertEqual(oracles.check_audit(AUDIT, SPEC), 1)
        with self.assertRaises(oracles.Failure):
            oracles.check_audit(AUDIT, {"buffers": ["missing"]})
        scaled = json.loads(json.dumps(AUDIT))
        scaled["buffers"][1]["degree"] = 1
        oracles.check_audit(scaled, {"scaled": ["g"]})
        for tree in (AUDIT, {**scaled, "buffers": scaled["buffers"][:1]}):
            with self.assertRaises(oracles.Failure):
                oracles.check_audit(tree, {"scaled": ["g"]})
        with self.assertRaises(oracles.Failure):
            oracles.check_audit(AUDIT, {"min_half_ops": 2})
        with self.assertRaises(oracles.Failure):
            oracles.check_audit(AUDIT, {"no_half_ops": True})
        with self.assertRaises(oracles.Failure):
            oracles.check_audit({"ops": [], "buffers": [{"name": "w"}]}, {})


class Oracles(unittest.TestCase):
    """Each test spoils one thing; only its oracle may fail."""

    def failed(self, edits=(INCLUDE, SEED, STEP), zero=(), audit=None,
               spec=None, refuse=None, says="already rewritten",
               demoted=None):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            toy = root / "toy"
            toy.mkdir()
            (toy / "toy.c").write_text(TOY)
            (toy / "other.c").write_text("int other;\n")
            (toy / "program.json").write_text(json.dumps(spec or SPEC))
            (root / "toy.h").write_text(RUNTIME)
            recipe = root / "recipe.json"
            recipe.write_text(json.dumps({
                "O1": list(edits), "O0": list(zero), "O2": list(edits),
                "all": list(edits if demoted is None else demoted), "audit": audit or AUDIT,
                "refuse": refuse, "says": says}))
            tool = root / "rewriter"
            tool.write_text(REWRITER.format(python=sys.executable,
                                            recipe=str(recipe)))
            tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                status = oracles.main([
                    str(toy), "--amp-rewrite", str(tool), "--include",
                    folder, "--lib", "", "--other-cc", "gcc"])
            lines = out.getvalue().splitlines()
            levels = (spec or SPEC).get("levels", ["O1"])
            self.assertEqual(len(lines), len(oracles.ORACLES) * len(levels))
            bad = [line.split()[3] for line in lines
                   if line.startswith("FAIL")]
            self.assertEqual(status, 1 if bad else 0, out.getvalue())
            return "".join(bad)

    def test_right(self):
        self.assertEqual(self.failed(), "")

    def test_project(self):
        spec = dict(SPEC, sources=["toy.c", "other.c"], project=True)
        self.assertEqual(self.failed(spec=spec), "")
        step = (STEP[0], STEP[1].replace("g /= toy_scale();", ""))
        self.assertEqual(self.failed((INCLUDE, SEED, step), spec=spec), "2")

    def test_levels(self):
        spec = dict(SPEC, levels=["O1", "O2"], half_buffers=["g"])
        self.assertEqual(self.failed(spec=spec), "6")
        audit = json.loads(json.dumps(AUDIT))
        audit["buffers"][1]["precision"] = "half"
        self.assertEqual(self.failed(spec=spec, audit=audit), "")
        twisted = (STEP[0], STEP[1].replace("0.5f", "0.50001f"))
        self.assertEqual(self.failed(spec=spec, audit=audit,
                                     demoted=(INCLUDE, SEED, twisted)), "7")

    def test_other_arithmetic(self):
        twisted = (STEP[0], STEP[1].replace("0.5f", "0.50001f"))
        self.assertEqual(self.failed((INCLUDE, SEED, twisted)), "12")

    def test_never_scaled(self):
        plain = (SEED[0], SEED[1].replace("toy_scale() * ", ""))
        step = (STEP[0], STEP[1].replace("g /= toy_scale();", ""))
        self.assertEqual(self.failed((INCLUDE, plain, step)), "2")

    def test_never_unscaled(self):
        step = (STEP[0], STEP[1].replace("g /= toy_scale();", ""))
        self.assertEqual(self.failed((INCLUDE, SEED, step)), "2")

    def test_new_warning(self):
        unused = ("static float w, g;", "static float w, g;\nstatic int u;")
        self.assertEqual(self.failed((INCLUDE, SEED, STEP, unused)), "3")

    def test_incompatible_pointer(self):
        wrong = ("return 0;", "int *p = &w; return p == 0;")
        self.assertIn("3", self.failed((INCLUDE, SEED, STEP, wrong)))

    def test_O0_changes(self):
        zero = [("static float w, g;", "static float g, w;")]
        self.assertEqual(self.failed(zero=zero), "4")

    def test_says_nothing_second_time(self):
        self.assertEqual(self.failed(says="done"), "4")

    def test_overflow_not_skipped(self):
        step = (STEP[0], STEP[1].replace("if (toy_step(step)) ", ""))
        self.assertEqual(self.failed((INCLUDE, SEED, step)), "5")

    def test_half_never_ran(self):
        seed = (SEED[0], SEED[1].replace("toy_half", ""))
        self.assertEqual(self.failed((INCLUDE, seed, STEP)), "5")

    def test_buffer_not_listed(self):
        audit = dict(AUDIT, buffers=AUDIT["buffers"][:1])
        self.assertEqual(self.failed(audit=audit), "6")

    def test_refusal(self):
        spec = dict(SPEC, scale_error=["toy.c:6"])
        said = "toy.c:6:9: error: no place found"
        self.assertEqual(self.failed(spec=spec, refuse=said), "")
        elsewhere = "toy.c:60:9: error: no place found"
        self.assertEqual(self.failed(spec=spec, refuse=elsewhere), "2")
        self.assertEqual(self.failed(spec=spec), "2")


if __name__ == "__main__":
    unittest.main()
