"""The expressions and statements of the programs of storage_programs.py."""

import collections
import random
import re

import storage_snippets

# A pointer to n floats; RANK orders the n that occur. Memory of different
# roots does not overlap.
Buffer = collections.namedtuple("Buffer", "text n root const array local",
                                defaults=(False, False, False))
RANK = {"M": 0, "n": 1, "N": 2}
Helper = collections.namedtuple("Helper", "name kind struct")


class Scope:
    """What a statement can name."""

    def __init__(self, buffers=(), floats=()):
        self.buffers = list(buffers)
        self.floats = list(floats)
        self.objects = []   # (pointer to a struct, Struct)
        self.loop = None    # its variable and the rank of its bound
        self.effects = 0    # how many the expression may still have
        self.quiet = False  # the expression changes k


class Expressions:
    """Names and numbers of the program of one seed."""

    def __init__(self, seed, everything, exact):
        self.pick = random.Random(seed)
        self.tag = f"p{seed}"
        self.everything = everything
        self.exact = exact
        self.count = 0
        self.structs, self.helpers = [], []
        self.types, self.prototypes, self.functions = [], [], []
        self.globals = []
        self.objects_of = []  # of the types of storage_snippets.py
        self.uses = []  # of the gadgets that are defined so far

    # ---- names and types ---------------------------------------------------

    def chance(self, p):
        return self.pick.random() < p

    def one(self, *choices):
        return self.pick.choice(choices)

    def fresh(self, base):
        """A name, and with it the wish for a precision."""
        self.count += 1
        wish = "h_"
        if not self.everything:
            wish = self.one("h_", "h_", "h_", "h_", "", "", "f_")
        return f"{wish}{base}{self.count}"

    def plain(self, base):
        self.count += 1
        wish = "h_" if self.everything else ""
        return f"{wish}{base}{self.count}"

    def outer(self, base):
        """A name of file scope."""
        self.count += 1
        return f"{self.tag}_{base}{self.count}"

    def float_type(self):
        return self.one("float", "float", "float", "float", "real", "NUMBER")

    # ---- expressions -------------------------------------------------------

    def number(self):
        if self.exact:
            return self.one("1", "2", "0.5", "3.0f", "-1", "0.25f", "1.5")
        return self.one("0.1", "0.3f", "-1.7", "2.9f", "1e-3", "7", "-0.01f")

    def index(self, b, sc):
        """An int expression from 0 to b.n - 1."""
        if sc.loop and not self.chance(0.15):
            i, rank = sc.loop
            n = b.n
            if RANK[n] < rank:
                return f"{i} % {n}"
            return self.one(i, i, i, i, f"({i} + {self.one(1, 2, 3)}) % {n}")
        if self.chance(0.2) and not sc.quiet:
            if sc.effects and self.chance(0.4):
                sc.effects -= 1
                sc.quiet = True
                return self.one("next(&k)", "(k++ & 3)", "(++k & 3)")
            if not sc.effects:
                return "(k & 3)"
        return str(self.pick.randrange(4))

    def readable(self, sc):
        return self.pick.choice(sc.buffers)

    def writable(self, sc):
        return self.pick.choice([b for b in sc.buffers if not b.const])

    def element(self, b, sc):
        """An element of b, as something that can be read or assigned."""
        i = self.index(b, sc)
        p = b.text
        form = self.pick.random()
        if form < 0.7:
            return f"{p}[{i}]"
        if form < 0.85:
            return f"*({p} + {i})"
        if form < 0.9:
            return f"(&{p}[{i}])[0]"
        if form < 0.93:
            return f"({p}[{i}])"
        if form < 0.95:
            return f"(*(&{p}[0] + {i}))"
        if form < 0.97 and not self.everything:
            return f"AT({p}, {i})"
        if sc.quiet or sc.effects:
            return f"{p}[{i}]"
        return f"(k >= 0 ? {p} : {p})[{i}]"

    def leaf(self, sc):
        form = self.pick.random()
        if form < 0.65:
            return self.element(self.readable(sc), sc)
        if form < 0.75 and sc.floats:
            return self.pick.choice(sc.floats)
        if form < 0.82 and sc.loop:
            return self.one(sc.loop[0], f"(float){sc.loop[0]}")
        return self.number()

    def value(self, sc, depth=2):
        """A number, most often of a float's type."""
        if not depth or self.chance(0.25):
            return self.leaf(sc)
        a = self.value(sc, depth - 1)
        form = self.pick.randrange(17)
        if form == 0:
            return f"-{a}" if a[0] not in "-+" else f"-({a})"
        if form == 1:
            return f"wrap({a})"
        if form == 2:
            return f"(float)(int)wrap({a})"
        if form == 3:
            return f"fabsf((float)({a}))"
        if form == 4:
            return f"(float)twice({a})"
        if form == 5:
            return f"({a}) / {self.one('2', '4.0f', '2.0')}"
        if form == 6:
            return self.fold_call(sc) or a
        if form == 7:
            return f"SQUARE({self.leaf_plain(sc)})"
        b = self.value(sc, depth - 1)
        if form == 8:
            return f"LARGER({self.leaf_plain(sc)}, {self.leaf_plain(sc)})"
        if form == 9:
            return f"({a} > {b} ? {a} : {b})" if not sc.effects \
                and not sc.quiet else f"({a} + {b})"
        if form == 10:
            return f"(float)({a} < {b})"
        if form == 11:
            return f"(fmaxf({a}, {b}) + 0.0f)"  # of -0 and 0 either
        if form == 12:
            return f"((void)({a}), {b})"
        operator = self.one("+", "+", "-", "*")
        return f"({a} {operator} {b})"

    def leaf_plain(self, sc):
        """A leaf without side effects, for text that is used twice."""
        effects, sc.effects = sc.effects, 0
        text = self.leaf(sc)
        sc.effects = effects
        return text

    def fold_call(self, sc):
        folds = [h for h in self.helpers if h.kind == "fold"]
        if not folds:
            return None
        h = self.pick.choice(folds)
        b, c = self.readable(sc), self.readable(sc)
        return (f"{h.name}({self.passed(b, sc)}, {self.passed(c, sc)}, "
                f"{self.least(b, c)})")

    def least(self, *buffers):
        return min((b.n for b in buffers), key=lambda n: RANK[n])

    def passed(self, b, sc):
        """A buffer as an argument."""
        form = self.pick.random()
        if form < 0.7:
            return b.text
        if form < 0.85:
            return f"&{b.text}[0]"
        if form < 0.9 and b.const:
            return b.text
        return f"{b.text} + 0"

    def expression(self, sc, effects=0, depth=2):
        sc.effects, sc.quiet = effects, False
        return self.value(sc, depth)

    def condition(self, sc):
        a, b = self.expression(sc, 0, 1), self.expression(sc, 0, 1)
        return self.one(f"{a} > {b}", f"{a} <= {b}", f"{a} != {b}",
                        f"{a} > 0 && {b} < 3", f"!({a})", "k & 1")


class Statements(Expressions):
    """What is done with the memory that a scope has."""

    def wrapped(self, sc, effects=0):
        e = self.expression(sc, effects)
        return self.one(f"wrap({e})", f"wrap({e})", f"wrap({e}) * 1.0",
                        f"(float)(int)wrap({e})", f"(wrap({e}))")

    def again(self, b):
        """Brings what b holds back into range."""
        i = self.plain("q").replace("h_", "")
        return (f"for (int {i} = 0; {i} < {b.n}; {i}++)\n"
                f"{b.text}[{i}] = wrap({b.text}[{i}]);\n")

    def looped(self, b, sc, body):
        """A loop over b around what body(b, sc) makes."""
        outside = sc.loop
        i = f"i{self.count}"
        self.count += 1
        sc.loop = i, RANK[b.n]
        head = self.one(f"for (int {i} = 0; {i} < {b.n}; {i}++) {{\n",
                        f"for (int {i} = 0; {i} < {b.n}; {i}++) {{\n",
                        f"for (int {i} = {b.n} - 1; {i} >= 0; --{i}) {{\n",
                        f"EACH({i}, {b.n}) {{\n")
        text = head + body(b, sc) + "}\n"
        sc.loop = outside
        return text

    def store(self, b, sc):
        # The left side has no effects where the right side may have some.
        sc.effects, sc.quiet = 0, False
        left = self.element(b, sc)
        if self.chance(0.2):
            c = self.writable(sc)
            sc.effects = 0
            return f"{left} = {self.element(c, sc)};\n"
        if self.chance(0.15):
            c = self.writable(sc)
            middle = self.element(c, sc)
            return f"{left} = {middle} = {self.wrapped(sc)};\n"
        return f"{left} = {self.wrapped(sc)};\n"

    def update(self, b, sc):
        """A compound store; what it gives is brought back into range."""
        effects = self.one(0, 1)
        sc.effects, sc.quiet = effects, False
        left = self.element(b, sc)
        used = sc.quiet
        operator = self.one("+=", "+=", "-=", "*=", "/=")
        if operator == "/=":
            right = self.one("2", "4.0f", "(1 + 1)")
        elif operator == "*=":
            right = self.one("2", "0.5f", "-1", "(k & 1 ? 2 : -1)"
                             if not used else "2")
        else:
            sc.effects, sc.quiet = 0, used
            right = f"wrap({self.value(sc, 1)})" if self.chance(0.5) \
                else self.leaf_plain(sc)
            if self.exact and not right.startswith("wrap"):
                right = f"wrap({right})"
        return f"{left} {operator} {right};\n{self.again(b)}"

    def increment(self, b, sc):
        sc.effects, sc.quiet = 0, False
        e = self.element(b, sc)
        if not e.endswith("]") and not e.startswith("("):
            e = f"({e})"
        form = self.one(f"{e}++", f"++{e}", f"{e}--", f"--{e}")
        if sc.floats and self.chance(0.4):
            form = f"{sc.floats[0]} = {form}"
        return f"{form};\n{self.again(b)}"

    def walk(self, sc):
        """A pointer that moves over a buffer."""
        b, c = self.writable(sc), self.readable(sc)
        p, q = self.plain("p"), self.plain("q")
        n = self.least(b, c)
        t = self.float_type()
        form = self.pick.randrange(7)
        if form == 0:
            return (f"{{\n{t} *{p} = {b.text};\nconst {t} *{q} = {c.text};\n"
                    f"for (int i = 0; i < {n}; i++)\n"
                    f"*{p}++ = wrap(*{q}++ + {self.number()});\n}}\n")
        if form == 1:
            return (f"for ({t} *{p} = {b.text}; {p} < {b.text} + {b.n}; "
                    f"{p}++)\n"
                    f"*{p} = wrap(*{p} * 2 - 1);\n")
        if form == 2:
            s = sc.floats[0]
            return (f"{{\nconst {t} *{q} = {c.text}, "
                    f"*end{p} = {c.text} + {c.n};\n"
                    f"while ({q} != end{p})\n{s} += *{q}++;\n"
                    f"{s} = wrap({s});\n}}\n")
        if form == 3:
            return (f"{{\n{t} *{p} = {b.text} + {b.n};\n"
                    f"while ({p} > {b.text})\n*--{p} += 1;\n"
                    f"{self.again(b)}}}\n")
        if form == 4:
            return (f"{{\n{t} *{p} = {b.text};\nint left = {b.n};\n"
                    f"do {{\n*{p}++ *= {self.one('2', '-1', '0.5f')};\n"
                    f"}} while (--left);\n{self.again(b)}}}\n")
        if form == 5:
            d = self.writable(sc)
            return (f"{{\n{t} *{p} = {b.text};\n{p}[1] = 2;\n{p} = {d.text};\n"
                    f"{p}[2] = {p}[1];\n}}\n")
        return (f"{{\nconst {t} *{q} = {c.text};\n"
                f"k += (int)({q} + 3 - {c.text});\n"
                f"if ({q} && {q}[0] > {q}[1])\nk++;\n}}\n")

    def size(self, b, t="float"):
        """The bytes of b."""
        forms = [f"{b.n} * sizeof({t})", f"sizeof({t}) * {b.n}",
                 f"{b.n} * sizeof *{b.text}", f"{b.n} * sizeof({b.text}[0])"]
        if b.array:
            forms += [f"sizeof {b.text}", f"sizeof({b.text})"]
        if self.chance(0.03):
            forms = [f"FLOATS({b.n})"]
        if self.chance(0.03) and not self.everything:
            forms = [f"{b.n} * 4"]
        return self.pick.choice(forms)

    def memory(self, sc):
        """memcpy and its kin."""
        b = self.writable(sc)
        form = self.pick.randrange(5)
        if form == 0:
            return f"memset({b.text}, 0, {self.size(b)});\n"
        if form == 1:
            return (f"memmove({b.text} + 1, {b.text}, 2 * "
                    f"{self.one('sizeof(float)', f'sizeof *{b.text}')});\n")
        others = [c for c in sc.buffers if c.root != b.root and c.root]
        if not others or not b.root:
            return f"memset({b.text}, 0, {self.size(b)});\n"
        c = self.pick.choice(others)
        n = b if RANK[b.n] <= RANK[c.n] else c
        call = self.one("memcpy", "memcpy", "memmove")
        return (f"{call}({self.passed(b, sc)}, {self.passed(c, sc)}, "
                f"{self.size(n)});\n")

    def file(self, sc):
        b, c = self.writable(sc), self.readable(sc)
        n = self.least(b, c)
        read = self.one(
            f"fread({b.text}, sizeof(float), {n}, file)",
            f"fread({b.text}, sizeof *{b.text}, {n}, file)")
        write = self.one(
            f"fwrite({c.text}, sizeof(float), {n}, file)",
            f"fwrite({c.text}, sizeof({c.text}[0]), (size_t){n}, file)")
        return ("{\nFILE *file = tmpfile();\n"
                f"if (!file || {write} != {n})\nabort();\nrewind(file);\n"
                f"if ({read} != {n})\nabort();\nfclose(file);\n}}\n")

    def output(self, sc):
        b = self.readable(sc)
        sc.effects, sc.quiet = 0, False
        e = [self.element(b, sc), self.expression(sc, 0, 1)]
        return self.one(
            f'printf("%.9g %.9g\\n", {e[0]}, (double){e[0]});\n',
            f'printf("%.9g %d\\n", {e[0]} + 1, (int){e[0]});\n',
            f'printf("%.9g\\n", (double)({e[1]}));\n')

    def map_call(self, sc):
        maps = [h for h in self.helpers if h.kind == "map"]
        b = self.writable(sc)
        others = [c for c in sc.buffers if c.root != b.root and c.root]
        if not maps or not others or not b.root:
            return self.looped(b, sc, self.store)
        c, h = self.pick.choice(others), self.pick.choice(maps)
        name = h.name
        if self.chance(0.06):
            g = self.pick.choice(maps)
            op = self.plain("op").replace("h_", "")
            form = self.one(f"k & 1 ? {h.name} : {g.name}", f"&{h.name}")
            return ("{\n"
                    f"void (*{op})(float *, const float *, int) = {form};\n"
                    f"{op}({b.text}, {c.text}, {self.least(b, c)});\n}}\n")
        return (f"{name}({self.passed(b, sc)}, {self.passed(c, sc)}, "
                f"{self.least(b, c)});\n")

    def object_call(self, sc):
        fitting = [(h, p) for h in self.helpers for p, s in sc.objects
                   if h.struct is s]
        if not fitting:
            return self.map_call(sc)
        h, p = self.pick.choice(fitting)
        return f"{h.name}({'*' if h.kind == 'value' else ''}{p});\n"

    def control(self, sc, depth):
        inner = [self.statement(sc, depth - 1) for _ in range(3)]
        label = self.outer("again")
        forms = [
            f"if ({self.condition(sc)}) {{\n{inner[0]}}}\n",
            f"if ({self.condition(sc)}) {{\n{inner[0]}}} else {{\n"
            f"{inner[1]}}}\n",
            f"switch (k & 3) {{\ncase 0:\n{inner[0]}break;\ncase 1: {{\n"
            f"{inner[1]}break;\n}}\ndefault:\n{inner[2]}}}\n",
            f"for (int round = 0; round < 2; round++) {{\n{inner[0]}}}\n",
        ]
        if self.chance(0.15):
            forms = [f"{{\nint left = 2;\n{label}:\n{inner[0]}"
                     f"if (--left)\ngoto {label};\n}}\n"]
        return self.pick.choice(forms)

    def pointers(self, sc):
        """Local pointers to what is there."""
        b, c = self.writable(sc), self.writable(sc)
        x, y = self.fresh("x"), self.plain("y")
        t = self.float_type()
        n = self.least(b, c)
        made = Buffer(x, n, None)
        form = self.pick.randrange(5)
        if form == 0:
            head = f"{t} *{x} = k & 1 ? {b.text} : {c.text};\n"
        elif form == 1:
            head = f"{t} *{x} = {b.text}, *{y} = {c.text};\n"
            head += f"{y}[0] = wrap({x}[1] + {y}[2]);\n"
        elif form == 2:
            head = (f"{t} *{x} = (float *)((char *){b.text} + 2 * "
                    f"sizeof(float)) - 2;\n")
        elif form == 3:
            head = (f"void *{y} = {b.text};\n{t} *{x} = "
                    f"{self.one('', '(float *)')}{y};\n")
        else:
            head = f"{t} {y} = {b.text}[0], *{x} = {b.text};\n"
            head += f"{x}[1] = wrap({y} + 1);\n"
        inner = Scope([*sc.buffers, made], sc.floats)
        inner.objects = sc.objects
        return f"{{\n{head}{self.looped(made, inner, self.store)}}}\n"

    def scratch(self, sc):
        """Memory of a block's own."""
        b = self.writable(sc)
        x = self.fresh("t")
        t = self.float_type()
        made = Buffer(x, "N", x, array=True)
        form = self.pick.randrange(4)
        tail = ""
        if form == 0:
            head = f"{t} {x}[N] = {{0}};\n"
        elif form == 1:
            head = f"static {t} {x}[N];\n"
        elif form == 2:
            head = f"{t} {x}[N], {self.plain('u')} = 1;\n"
            head += f"memset({x}, 0, sizeof {x});\n"
        else:
            made = Buffer(x, "N", x)
            head = f"{t} *{x} = calloc(N, sizeof *{x});\n"
            tail = f"free({x});\n"
        inner = Scope([*sc.buffers, made], sc.floats)
        inner.objects = sc.objects
        return (f"{{\n{head}{self.looped(made, inner, self.store)}"
                f"{self.looped(b, inner, self.store)}"
                f"{self.map_call(inner)}{tail}}}\n")

    def odd(self, sc):
        """What stands in the way of half now and then."""
        b = self.writable(sc)
        s = sc.floats[0]
        form = self.pick.randrange(6)
        if form == 0:
            return (f'if (sscanf("3 -2.5", "%f%f", &{b.text}[0], &{s}) != 2)\n'
                    "abort();\n")
        if form == 1:
            return (f"{{\nunsigned bits;\nmemcpy(&bits, &{b.text}[1], "
                    "sizeof bits);\nk += bits >> 31;\n}\n")
        if form == 2:
            return f"SET({b.text}, 1, wrap({s}));\n"
        if form == 3:
            return (f"if (memcmp({b.text}, {self.readable(sc).text}, "
                    "M * sizeof(float)) == 0)\nk++;\n")
        if form == 4:
            return f"*({b.const and 'const ' or ''}float *){b.text} = 3;\n"
        return f"k += (int)(sizeof({b.text}[0]) == sizeof({s}));\n" \
            if not self.everything else f"k += sizeof({s}) == 4;\n"

    # ---- snippets ----------------------------------------------------------

    def apart(self, sc):
        """Two buffers to write that do not overlap, or None."""
        some = [b for b in sc.buffers if b.root and not b.const]
        if not some:
            return None
        b = self.pick.choice(some)
        others = [c for c in some if c.root != b.root]
        return (b, self.pick.choice(others)) if others else None

    def expand(self, text, sc, names):
        """A text of storage_snippets.py, or None if sc has too little."""
        pair = self.apart(sc)
        if not pair:
            return None
        b, c = pair
        sc.effects, sc.quiet = 0, False

        def mark(match):
            letter = match.group(1)
            if letter in "abcdhX":
                if letter not in names:
                    names[letter] = (self.fresh("x") if letter == "h"
                                     else self.plain("y"))
                return names[letter]
            return {"P": lambda: b.text, "Q": lambda: c.text,
                    "R": lambda: self.readable(sc).text,
                    "S": lambda: sc.floats[0],
                    "T": self.float_type,
                    "W": lambda: self.wrapped(sc),
                    "E": lambda: self.expression(sc),
                    "n": lambda: self.least(b, c),
                    "i": lambda: self.index(b, sc),
                    "+": lambda: self.again(b)}[letter]()

        return re.sub("@(.)", mark, text)

    def snippet(self, sc):
        choice = self.pick.random()
        if choice < (0.01 if self.everything else 0.05):
            text = self.pick.choice(storage_snippets.PINNED)
        elif choice < 0.4 and self.uses:
            text = self.pick.choice(self.uses)
        else:
            text = self.pick.choice(storage_snippets.STATEMENTS)
        return self.expand(text, sc, {}) or self.again(self.writable(sc))

    def typed(self, sc):
        """A block with an object of one of the types."""
        if not self.objects_of or not self.apart(sc):
            return self.snippet(sc)
        make, unmake, path, uses = self.pick.choice(self.objects_of)
        head = self.expand(make, sc, {})
        made = Buffer(path, "M", None if "@P" in make else path)
        inner = Scope([*sc.buffers, made], sc.floats)
        inner.objects, inner.loop = sc.objects, sc.loop
        text = "".join(self.expand(self.pick.choice(uses), inner, {})
                       or "" for _ in range(2))
        return (f"{{\n{head}{self.looped(made, inner, self.store)}"
                f"{text}{self.statement(inner, 0)}{unmake}}}\n")

    def statement(self, sc, depth=2):
        if self.chance(0.3):
            return self.snippet(sc)
        if depth and self.chance(0.07):
            return self.typed(sc)
        form = self.pick.random()
        b = self.writable(sc)
        if depth and form < 0.1:
            return self.control(sc, depth)
        if form < 0.3:
            return self.looped(b, sc, self.store)
        if form < 0.35:
            return self.store(b, sc)
        if form < 0.45:
            return self.looped(b, sc, self.update) if self.chance(0.3) \
                else self.update(b, sc)
        if form < 0.5:
            return self.increment(b, sc)
        if form < 0.6:
            return self.walk(sc)
        if form < 0.67:
            return self.memory(sc)
        if form < 0.7:
            return self.output(sc)
        if form < 0.72:
            return self.file(sc)
        if form < 0.8:
            return self.map_call(sc)
        if form < 0.86:
            return self.object_call(sc)
        if form < 0.91:
            return self.pointers(sc)
        if form < 0.95:
            return self.scratch(sc)
        if form < 0.97:
            return self.odd(sc)
        s = self.pick.choice(sc.floats)
        return f"{s} = wrap({self.expression(sc, 1)});\n"

    def body(self, sc, statements):
        return "".join(self.statement(sc) for _ in range(statements))
