"""Random small C programs about float memory, for random_storage.py.

A program is a handful of objects (arrays, allocations, tables of rows, structs
of all that), helpers of a few shapes, and statements that read and write them
in as many spellings as there are. All of it is defined C: indices stay inside,
what is read was written, and no expression has two side effects.

A name that starts with h_ is to be in half, one with f_ in FP32 (RULES); the
rest is as its neighbours want. Numbers are `exact` or `rough`: exact ones
are quarters below 16, so that every store is exact in fp16 and bf16 and the
half builds must print what the original prints. `wrap` brings them back there.
"""

import collections

import storage_snippets
from storage_statements import Buffer, Helper, Scope, Statements

# The last rule: what wraps needs no FP32, whatever it computes with.
RULES = ('keep half variable "h_*";\nkeep half field "*.h_*";\n'
         'keep fp32 variable "f_*";\nkeep fp32 field "p*.f_*";\n'
         "op wrap wrap(x) infer return = x;\n")

HEAD = """\
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

typedef float real;
#define NUMBER float
#define SQUARE(a) ((a) * (a))
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define AT(p, i) ((p)[i])
#define SET(p, i, v) ((p)[i] = (v))
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define DO(...) { __VA_ARGS__ }
#define ROW(p, i) ((p) + (i))
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define FLOATS(n) ((size_t)(n) * sizeof(float))
#define NEW(type, n) ((type *)calloc((size_t)(n), sizeof(type)))

enum { M = 4, N = 8 };

static inline int next(int *i) {
return (*i)++ & 3;
}

static inline double twice(double x) {
return x + x;
}
"""

WRAP = {
    True: "static inline float wrap(double x) {\n"
          "return isfinite(x) ? (float)fmod(trunc(x * 4) / 4, 16) : 1;\n}\n",
    False: "static inline float wrap(double x) {\n"
           "return isfinite(x) ? (float)fmod(x, 16) : 1;\n}\n",
}

Struct = collections.namedtuple("Struct", "name fields")
Field = collections.namedtuple("Field", "name kind struct")


def filled(text, names):
    """The text with these marks in place; others stay."""
    for letter, name in names.items():
        text = text.replace(f"@{letter}", name)
    return text


class Maker(Statements):
    """Makes the program of one seed; the parts are lists of lines."""

    def add_struct(self):
        fields, lines = [], []
        name = f"struct {self.outer('s')}"
        for _ in range(self.pick.randrange(2, 5)):
            kind = self.one("pointer", "pointer", "array", "number", "table",
                            "struct", "two")
            field = self.fresh("a")
            t = self.float_type()
            inner = None
            if kind == "struct":
                if not self.structs:
                    continue
                inner = self.pick.choice(self.structs)
                lines.append(f"{inner.name} {field};\n")
            elif kind == "pointer":
                lines.append(f"{t} *{field};\n")
            elif kind == "array":
                lines.append(f"{t} {field}[N];\n")
            elif kind == "number":
                lines.append(f"{t} {field};\nint {field}_n;\n")
            elif kind == "table":
                lines.append(f"{t} *{field}[2];\n")
            else:
                other = self.fresh("b")
                lines.append(f"{t} *{field}, {other}[N];\n")
                fields.append(Field(other, "array", None))
                kind = "pointer"
            fields.append(Field(field, kind, inner))
        field = self.fresh("z")
        lines.append(f"float *{field};\n")
        fields.append(Field(field, "pointer", None))
        self.types.append(f"{name} {{\n{''.join(lines)}}};\n")
        self.structs.append(Struct(name, fields))

    def buffers_of(self, struct, path, root=None):
        """The float memory behind path, which ends with . or ->"""
        found, numbers = [], []
        for f in struct.fields:
            text = path + f.name
            mine = root and f"{root}.{f.name}"
            if f.kind == "pointer":
                found.append(Buffer(text, "N", mine))
            elif f.kind == "array":
                found.append(Buffer(text, "N", mine, array=True))
            elif f.kind == "table":
                found += [Buffer(f"{text}[{r}]", "N", mine and f"{mine}{r}")
                          for r in (0, 1)]
            elif f.kind == "struct":
                more, inner = self.buffers_of(f.struct, text + ".", mine)
                found += more
                numbers += inner
            else:
                numbers.append(text)
        return found, numbers

    def define(self, head, body):
        if self.chance(0.5):
            self.prototypes.append((head, True))
        else:
            self.prototypes.append((head, False))
        self.functions.append((head, f"{{\n{body}}}\n"))

    def local_lines(self):
        s = self.plain("s")
        return s, f"float {s} = 1;\nint k = {self.pick.randrange(4)};\n"

    def add_map(self):
        name = self.outer("map")
        x, y = self.one(("x", "y"), ("out", "in"), ("dst", "src"))
        if self.everything:
            x, y = "h_" + x, "h_" + y
        t, u = self.float_type(), self.float_type()
        s, locals_ = self.local_lines()
        sc = Scope([Buffer(x, "n", "x"), Buffer(y, "n", "y", const=True)], [s])
        head = self.one(f"void {name}({t} *{x}, const {u} *{y}, int n)",
                        f"void {name}({t} *{x}, {u} const *{y}, int n)",
                        f"void {name}({t} {x}[], const {u} {y}[], int n)")
        if self.chance(0.15):
            body = (f"if (n > 4) {{\n{name}({x}, {y}, 4);\n"
                    f"{x}[4] = {y}[0];\nreturn;\n}}\n")
        else:
            body = ""
        text = self.body(sc, self.pick.randrange(1, 4))
        self.define(head, locals_ + body + text + f"{x}[0] = wrap({s} + k);\n")
        self.helpers.append(Helper(name, "map", None))

    def add_fold(self):
        name = self.outer("fold")
        x, y = ("h_a", "h_b") if self.everything else ("a", "b")
        forms = [
            "float s = 0;\nfor (int i = 0; i < n; i++)\n"
            f"s += {x}[i] * {y}[i];\nreturn s;\n",
            f"double s = 0;\nwhile (n-- > 0)\ns += *{x}++ - *{y}++;\n"
            "return (float)s;\n",
            f"if (n == 1)\nreturn *{x} + {y}[0];\n"
            f"return {name}({x}, {y}, 1) + {name}({x} + 1, {y} + 1, n - 1);\n",
            f"float best = {x}[0];\nfor (int i = 1; i < n; i++)\n"
            f"if ({x}[i] > best)\nbest = {x}[i];\n"
            f"return n > 3 ? best : {y}[0];\n",
            f"const float *end = {x} + n;\nfloat s = {y}[0];\n"
            f"for (; {x} < end; ++{x})\ns = fmaxf(s, *{x}) + 0.0f;\nreturn s;\n",
        ]
        self.define(f"float {name}(const float *{x}, const float *{y}, int n)",
                    self.pick.choice(forms))
        self.helpers.append(Helper(name, "fold", None))

    def add_object_helper(self):
        struct = self.pick.choice(self.structs)
        kind = self.one("pointer", "pointer", "value")
        name = self.outer("use")
        star = "*" if kind == "pointer" else ""
        buffers, numbers = self.buffers_of(struct,
                                           "s->" if star else "s.")
        s, locals_ = self.local_lines()
        sc = Scope(buffers, [s, *numbers])
        sc.objects = [("s" if star else "(&s)", struct)]
        sc.objects = [(p, t) for p, t in sc.objects
                      if any(h.struct is t for h in self.helpers)]
        text = self.body(sc, self.pick.randrange(2, 5))
        self.define(f"void {name}({struct.name} {star}s)",
                    locals_ + text
                    + f"{buffers[0].text}[0] = wrap({s} + k);\n")
        self.helpers.append(Helper(name, kind, struct))

    def add_make(self):
        name = self.outer("make")
        x = self.plain("x")
        size = self.one("(size_t)n * sizeof(float)", f"n * sizeof *{x}")
        forms = [
            f"float *{x} = malloc({size});\nif (!{x})\nabort();\n"
            f"for (int i = 0; i < n; i++)\n{x}[i] = 0;\nreturn {x};\n",
            "return calloc(n, sizeof(float));\n",
            "return (float *)calloc(n, sizeof(real));\n",
        ]
        self.define(f"float *{name}(int n)", self.pick.choice(forms))
        self.helpers.append(Helper(name, "make", None))

    def add_reserve(self):
        name = self.outer("reserve")
        self.define(f"void *{name}(size_t bytes)",
                    "void *p = malloc(bytes);\nif (!p)\nabort();\nreturn p;\n")
        self.helpers.append(Helper(name, "reserve", None))

    def add_gadget(self):
        head, body, uses = self.pick.choice(storage_snippets.GADGETS)
        names = {letter: self.plain("g") for letter in "abc"}
        names["X"] = self.outer("g")
        self.define(filled(head, names), filled(body, names))
        self.uses += [text.replace("@X", names["X"]) for text in uses]

    def add_macro(self):
        text, uses = self.pick.choice(storage_snippets.MACROS)
        names = {"a": self.plain("m"), "X": self.outer("M")}
        self.types.append(filled(text, names))
        self.uses += [use.replace("@X", names["X"]) for use in uses]

    def add_type(self):
        text, path, make, unmake, uses = self.pick.choice(
            storage_snippets.TYPES)
        names = {letter: self.fresh("f") for letter in "abc"}
        names["X"] = self.outer("t")
        self.types.append(filled(text, names))
        self.objects_of.append(
            (filled(make, names), filled(unmake, names), filled(path, names),
             [filled(use, names) for use in uses]))

    # ---- objects of main ---------------------------------------------------

    def allocated(self, x, count="N"):
        """An expression that gives count floats."""
        makers = [h for h in self.helpers if h.kind in ("make", "reserve")]
        if makers and self.chance(0.35):
            h = self.pick.choice(makers)
            if h.kind == "make":
                return f"{h.name}({count})"
            cast = self.one("", "(float *)")
            return f"{cast}{h.name}({count} * sizeof(float))"
        forms = [f"malloc({count} * sizeof(float))",
                 f"calloc({count}, sizeof(float))",
                 f"malloc({count} * sizeof *{x})",
                 f"(float *)malloc(sizeof(float) * {count})",
                 f"(real *)calloc({count}, sizeof(real))",
                 f"malloc(sizeof(float[{count}]))",
                 f"realloc(NULL, {count} * sizeof({x}[0]))",
                 f"malloc({count} * sizeof({self.float_type()}))"]
        if self.chance(0.03):
            forms = [f"malloc(FLOATS({count}))", f"NEW(float, {count})",
                     f"malloc({count} * 4)"]
        return self.pick.choice(forms)

    def fill(self, b):
        a, c = self.pick.randrange(1, 9), self.pick.randrange(8)
        i = f"i{self.count}"
        self.count += 1
        e = self.one(f"(float)(({i} * {a} + {c}) % 15 - 7)",
                     f"wrap({i} * {a}.25 + {c})", f"{i} * 0.5f - {c}")
        return (f"for (int {i} = 0; {i} < {b.n}; {i}++)\n"
                f"{b.text}[{i}] = {e};\n")

    def objects(self, sc):
        """Adds an object to sc; its declaration and its end."""
        x = self.fresh("v")
        t = self.float_type()
        form = self.pick.randrange(10)
        if form <= 1:
            b = Buffer(x, "N", x, local=True)
            sc.buffers.append(b)
            again = ""
            if self.chance(0.2):
                again = f"{x} = realloc({x}, 2 * {self.size(b)});\n" \
                        f"if (!{x})\nabort();\n"
            return (f"{t} *{x} = {self.allocated(x)};\n{again}",
                    f"free({x});\n")
        if form == 2:
            y = self.fresh("v")
            sc.buffers += [Buffer(x, "N", x), Buffer(y, "N", y, array=True)]
            return (f"{t} *{x} = {self.allocated(x)}, {y}[N];\n",
                    f"free({x});\n")
        if form == 3:
            word = self.one("", "static ")
            sc.buffers.append(Buffer(x, "N", x, array=True))
            return f"{word}{t} {x}[N];\n", ""
        if form == 4:
            g = x + f"_{self.tag}"
            self.globals.append((f"{t} {g}[N]", self.one("", " = {0}")))
            sc.buffers.append(Buffer(g, "N", g, array=True))
            return "", ""
        if form == 5:
            sc.buffers += [Buffer(f"{x}[{r}]", "M", f"{x}{r}", array=True)
                           for r in (0, 1)]
            return f"{t} {x}[2][M];\n", ""
        if form == 6:
            y = self.plain("w")
            sc.buffers += [Buffer(x, "M", x), Buffer(f"({x} + M)", "M", y)]
            if self.chance(0.5):
                sc.buffers[-1] = Buffer(y, "M", y)
            return (f"{t} *{x} = {self.allocated(x, 'N')};\n"
                    f"{t} *{y} = {x} + M;\n(void){y};\n", f"free({x});\n")
        if form == 7:
            sc.buffers += [Buffer(f"{x}[{r}]", "N", f"{x}{r}") for r in (0, 1)]
            rows = "".join(f"{x}[{r}] = {self.allocated(f'{x}[{r}]')};\n"
                           for r in (0, 1))
            end = f"free({x}[0]);\nfree({x}[1]);\n"
            if self.chance(0.5):
                return f"{t} *{x}[2];\n" + rows, end
            return (f"{t} **{x} = malloc(2 * sizeof({t} *));\n" + rows,
                    f"{end}free({x});\n")
        return self.struct_object(sc)

    def struct_object(self, sc):
        struct = self.pick.choice(self.structs)
        o = self.outer("o")
        form = self.pick.randrange(3)
        if form == 0:
            head, path, p, end = f"{struct.name} {o} = {{0}};\n", o + ".", \
                f"(&{o})", ""
        elif form == 1:
            head = f"{struct.name} *{o} = calloc(1, sizeof *{o});\n"
            path, p, end = o + "->", o, f"free({o});\n"
        else:
            head = f"static {struct.name} {o}[2];\n"
            path, p, end = o + "[1].", f"(&{o}[1])", ""
        buffers, numbers = self.buffers_of(struct, path, o)
        ends = ""
        made = []
        for b in buffers:
            if b.array:
                made.append(b)
                continue
            donors = [c for c in sc.buffers if not c.const and c.n == "N"]
            if donors and self.chance(0.2):
                donor = self.pick.choice(donors)
                head += f"{b.text} = {donor.text};\n"
                made.append(b._replace(root=donor.root))
                continue
            head += f"{b.text} = {self.allocated(b.text)};\n"
            ends += f"free({b.text});\n"
            made.append(b)
        sc.buffers += made
        sc.floats += numbers
        sc.objects.append((p, struct))
        return head, ends + end

    def printed(self, b):
        return ('printf("%s", "' + b.text.replace('"', "") + '");\n'
                f"for (int i = 0; i < {b.n}; i++)\n"
                f'printf(" %.9g", {b.text}[i]);\nprintf("\\n");\n')

    def make(self):
        for _ in range(self.pick.randrange(1, 4)):
            self.add_struct()
        for _ in range(self.pick.randrange(3)):
            self.add_type()
        if self.chance(0.5):
            self.add_macro()
        for _ in range(self.pick.randrange(1, 4)):
            self.add_gadget()
        kinds = [self.add_map, self.add_map, self.add_fold, self.add_make,
                 self.add_reserve, self.add_object_helper]
        self.add_map()
        for _ in range(self.pick.randrange(2, 7)):
            self.pick.choice(kinds)()
        s, head = self.local_lines()
        sc = Scope([], [s])
        ends = []
        for _ in range(self.pick.randrange(3, 6)):
            declared, end = self.objects(sc)
            head += declared
            ends.insert(0, end)
        while len(sc.buffers) < 3:
            declared, end = self.objects(sc)
            head += declared
            ends.insert(0, end)
        text = head + "".join(map(self.fill, sc.buffers))
        text += self.body(sc, self.pick.randrange(5, 12))
        text += "".join(map(self.printed, sc.buffers))
        text += f'printf("%.9g %d\\n", {s}, k);\n' + "".join(ends)
        self.main = f"{self.tag}_main"
        self.entry = f"void {self.main}(void)", f"{{\n{text}}}\n"
        return self


def indented(text):
    """The lines of C as they would be written by hand."""
    lines, depth, hanging = [], 0, 0
    for line in text.splitlines():
        depth -= line.startswith("}")
        lines.append((" " * 4 * (depth + hanging) + line).rstrip())
        depth += line.endswith("{")
        opens = (line.startswith(("for (", "if (", "while ("))
                 and line.endswith(")"))
        hanging = hanging + 1 if opens else 0
    return "\n".join(lines) + "\n"


def in_one_file(makers, exact):
    text = HEAD + "\n" + WRAP[exact]
    for m in makers:
        text += "\n" + "\n".join(m.types)
        text += "".join(f"static {h};\n" for h, early in m.prototypes if early)
        text += "".join(f"static {g}{init};\n" for g, init in m.globals)
        for head, body in [*m.functions, m.entry]:
            text += f"\nstatic {head} {body}"
    calls = "".join(f'printf("{m.tag}\\n");\n{m.main}();\n' for m in makers)
    text += f"\nint main(void) {{\n{calls}return 0;\n}}\n"
    return {"main.c": indented(text)}


def in_three_files(makers, exact):
    header = "#ifndef COMMON_H\n#define COMMON_H\n" + HEAD + "\n" + WRAP[exact]
    helpers = entries = '#include "common.h"\n'
    for m in makers:
        header += "\n" + "\n".join(m.types)
        header += "".join(f"{h};\n" for h, _ in m.prototypes)
        header += "".join(f"extern {g};\n" for g, _ in m.globals)
        header += f"{m.entry[0]};\n"
        helpers += "".join(f"{g}{init};\n" for g, init in m.globals)
        for head, body in m.functions:
            helpers += f"\n{head} {body}"
        entries += f"\n{m.entry[0]} {m.entry[1]}"
    calls = "".join(f'printf("{m.tag}\\n");\n{m.main}();\n' for m in makers)
    entries += f"\nint main(void) {{\n{calls}return 0;\n}}\n"
    return {"main.c": indented(entries), "helpers.c": indented(helpers),
            "common.h": indented(header + "#endif\n")}
