"""Random small training programs, for random_training.py.

A network of two layers learns by gradients: parameters, activations, gradients
of both, and the state of an optimizer, in arrays, behind pointers, in fields of
a struct or of a table of layers. Each decision of a seed takes one of several
ways to write the same step. `Maker.roles` says what each buffer is for, under
the name that an audit gives it.
"""

import random

STEPS = 12
ROWS, BATCHES = 8, 2
FORWARD = ["local", "memory", "product"]
ACTIVATIONS = {
    "tanh": ("tanhf(@)", "(1 - @ * @)"),
    "relu": ("(@ > 0 ? @ : 0)", "(@ > 0 ? 1.0f : 0.0f)"),
    "sigmoid": ("(1 / (1 + expf(-(@))))", "(@ * (1 - @))"),
}
# how the gradient of the loss begins: where it is measured, or apart; divided
# by the rows there, or in the step
SEEDS = ["measured", "apart", "undivided"]
GRADIENTS = ["set", "add", "memory"]
CLEARS = ["memset", "loop", "after"]
OPTIMIZERS = {
    "sgd": [[], ["#w[i] -= rate * #g[i];"], ["#w[i] = #w[i] - rate * #g[i];"],
            ["#w[i] += -rate * #g[i];"],
            ["float step = rate * #g[i];", "#w[i] -= step;"]],
    "decay": [[], ["#w[i] -= rate * (#g[i] + 0.001f * #w[i]);"]],
    "momentum": [["v"],
                 ["#v[i] = 0.9f * #v[i] + #g[i];", "#w[i] -= rate * #v[i];"],
                 ["#v[i] = 0.9f * #v[i] - rate * #g[i];", "#w[i] += #v[i];"],
                 ["#v[i] *= 0.9f;", "#v[i] += #g[i];",
                  "#w[i] -= rate * #v[i];"]],
    "adam": [["v", "s"],
             ["#v[i] = 0.9f * #v[i] + 0.1f * #g[i];",
              "#s[i] = 0.99f * #s[i] + 0.01f * #g[i] * #g[i];",
              "#w[i] -= rate * (#v[i] / (1 - powf(0.9f, count))) /\n"
              "(sqrtf(#s[i] / (1 - powf(0.99f, count))) + 1e-4f);"]],
}
RATES = {"sgd": "0.2f", "decay": "0.2f", "momentum": "0.05f", "adam": "0.01f"}

HEAD = """\
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {{ I = {inputs}, H = {hidden}, O = {outputs}, R = {rows}, BATCHES = {n} }};

static float data[BATCHES * R * I], want[BATCHES * R * O];
static unsigned seed = {seed};

static float noise(void) {{
seed = seed * 1664525u + 1013904223u;
return (float)(seed >> 8) / 8388608.0f - 1.0f;
}}
"""
PRODUCT = """
static void product(int rows, int n, int m, const float *a, const float *b,
float keep, float *c) {
for (int r = 0; r < rows; r++)
for (int j = 0; j < m; j++) {
float sum = 0;
for (int i = 0; i < n; i++)
sum += a[r * n + i] * b[j * n + i];
c[r * m + j] = sum + keep * c[r * m + j];
}
}
"""


def indented(text):
    lines, depth = [], 0
    for line in text.splitlines():
        depth -= line.startswith("}")
        lines.append("    " * depth + line if line else "")
        depth += line.count("{") - line.count("}") + line.startswith("}")
    return "\n".join(lines) + "\n"


class Maker:
    def __init__(self, seed):
        r = random.Random(f"training {seed}")
        self.seed = seed
        self.style = r.choice(["arrays", "pointers", "fields", "layers"])
        self.inputs, self.hidden = r.randint(3, 7), r.randint(4, 9)
        self.outputs = r.randint(2, 4)
        self.forward = [r.choice(FORWARD), r.choice(FORWARD)]
        self.activation = r.choice(list(ACTIVATIONS))
        self.softmax = r.random() < 0.35
        self.begin = r.choice(SEEDS)
        self.gradients = r.choice(GRADIENTS)
        self.clear = r.choice(CLEARS)
        self.two_stages = r.random() < 0.4
        self.optimizer = r.choice(list(OPTIMIZERS))
        self.state, *forms = OPTIMIZERS[self.optimizer]
        self.update = r.choice(forms)
        self.step_function = r.random() < 0.5
        self.batches = BATCHES if r.random() < 0.5 else 1
        self.clips = r.random() < 0.25
        self.slows = r.random() < 0.3
        self.in_main = r.random() < 0.5
        self.sizes = ["I", "H", "O"]
        # later decisions stand behind: the seeds of the tests keep the others
        self.room = r.random() < 0.4
        self.counts_down = r.random() < 0.25
        self.table = self.step_function and r.random() < 0.4
        self.micro = (self.batches > 1 and self.gradients != "set"
                      and r.random() < 0.5)
        self.decay_term = r.random() < 0.2
        self.direct = self.begin != "measured" and r.random() < 0.25
        self.evaluates = r.random() < 0.3

    # ---- memory ----------------------------------------------------------

    def buffers(self):
        """(kind, layer, size) of each."""
        for k in range(2):
            of, to = self.sizes[k:k + 2]
            for kind in ["w", "gw"] + [f"{s}w" for s in self.state]:
                yield kind, k, f"{of} * {to}"
            for kind in ["b", "gb"] + [f"{s}b" for s in self.state]:
                yield kind, k, to
            yield "out", k, f"R * {to}"
            if k == 0 or not self.direct or self.style == "layers":
                yield "dout", k, f"R * {to}"

    def at(self, kind, k):
        return {"arrays": f"{kind}{k}", "pointers": f"{kind}{k}",
                "fields": f"m->{kind}{k}",
                "layers": f"net[{k}].{kind}"}[self.style]

    def name(self, kind, k):
        return {"arrays": f"{kind}{k}", "pointers": f"{kind}{k}",
                "fields": f"model.{kind}{k}",
                "layers": f"layer.{kind}"}[self.style]

    @property
    def roles(self):
        def role(kind):
            if kind in ("out", "dout"):
                return "activation"
            return {"g": "grad", "v": "state", "s": "state"}.get(
                kind[0] if kind[1:] else "", "param")
        return {self.name(kind, k): role(kind)
                for kind, k, _ in self.buffers()}

    @property
    def model(self):
        return "struct model *m" if self.style == "fields" else "void"

    def given(self, *more):
        first = ["m"] if self.style == "fields" else []
        return ", ".join(first + list(more))

    def taken(self, *more):
        first = ["struct model *m"] if self.style == "fields" else []
        return ", ".join(first + list(more)) or "void"

    def declarations(self):
        kinds = list(dict.fromkeys(kind for kind, _, _ in self.buffers()))
        if self.style == "arrays":
            return "".join(f"static float {kind}{k}[{size}];\n"
                           for kind, k, size in self.buffers())
        if self.style == "pointers":
            return "".join(f"static float *{kind}{k};\n"
                           for kind, k, _ in self.buffers())
        if self.style == "layers":
            fields = "".join(f"float *{kind};\n" for kind in kinds)
            return f"struct layer {{\n{fields}}};\nstatic struct layer net[2];\n"
        fields = "".join(f"float *{kind}{k};\n"
                         for kind, k, _ in self.buffers())
        return f"struct model {{\n{fields}}};\n"

    def setup(self):
        text = ""
        room = ("room(@)" if self.room else "calloc(@, sizeof(float))")
        if self.style != "arrays":
            text += "".join(
                f"{self.at(kind, k)} = {room.replace('@', size)};\n"
                for kind, k, size in self.buffers())
        for k, size in enumerate(("I * H", "H * O")):
            text += (f"for (int i = 0; i < {size}; i++)\n"
                     f"{self.at('w', k)}[i] = 0.6f * noise();\n")
        helper = ("static float *room(int n) {\n"
                  "float *p = malloc(n * sizeof(float));\nif (!p)\nexit(1);\n"
                  "memset(p, 0, n * sizeof(float));\nreturn p;\n}\n"
                  if self.room and self.style != "arrays" else "")
        return f"{helper}static void set_up({self.model}) {{\n{text}}}\n"

    # ---- the pass forward --------------------------------------------------

    def layer(self, k):
        of, to = self.sizes[k:k + 2]
        x = "x" if k == 0 else self.at("out", 0)
        y, w, b = (self.at(kind, k) for kind in ("out", "w", "b"))
        each = f"for (int r = 0; r < R; r++)\nfor (int o = 0; o < {to}; o++)"
        act = ACTIVATIONS[self.activation][0] if k == 0 else "@"
        there = f"{y}[r * {to} + o]"
        term = f"{w}[o * {of} + i] * {x}[r * {of} + i]"
        if self.forward[k] == "local":
            return (f"{each} {{\nfloat v = {b}[o];\n"
                    f"for (int i = 0; i < {of}; i++)\nv += {term};\n"
                    f"{there} = {act.replace('@', 'v')};\n}}\n")
        if self.forward[k] == "memory":
            text = (f"{each} {{\n{there} = {b}[o];\n"
                    f"for (int i = 0; i < {of}; i++)\n{there} += {term};\n}}\n")
        else:
            text = (f"product(R, {of}, {to}, {x}, {w}, 0, {y});\n"
                    f"{each}\n{there} += {b}[o];\n")
        if k == 0:
            text += (f"for (int i = 0; i < R * {to}; i++)\n"
                     f"{y}[i] = {act.replace('@', f'{y}[i]')};\n")
        return text

    def softmax_text(self):
        y = self.at("out", 1)
        return (f"for (int r = 0; r < R; r++) {{\nfloat *p = {y} + r * O;\n"
                "float top = p[0], sum = 0;\nfor (int o = 1; o < O; o++)\n"
                "top = p[o] > top ? p[o] : top;\nfor (int o = 0; o < O; o++)\n"
                "sum += expf(p[o] - top);\nfor (int o = 0; o < O; o++)\n"
                "p[o] = expf(p[o] - top) / sum;\n}\n")

    def forward_text(self):
        text = self.layer(0) + self.layer(1)
        if self.softmax:
            text += self.softmax_text()
        return (f"static void forward({self.taken('const float *x')}) {{\n"
                f"{text}}}\n")

    # ---- the loss and the way back -----------------------------------------

    def error(self, i):
        """What the last layer's sum is to blame for; without a buffer."""
        by = "" if self.begin == "undivided" else " / R"
        return f"(({self.at('out', 1)}[{i}] - t[{i}]){by})"

    def blame(self, k, i):
        return (self.error(i) if self.direct and k == 1
                else f"{self.at('dout', k)}[{i}]")

    def first_gradient(self):
        return f"{self.at('dout', 1)}[i] = {self.error('i')};\n"

    def loss_text(self):
        y = self.at("out", 1)
        term = (f"-t[i] * logf({y}[i] + 1e-6f)" if self.softmax
                else f"0.5f * ({y}[i] - t[i]) * ({y}[i] - t[i])")
        seed = self.first_gradient() if self.begin == "measured" else ""
        return (f"static float measure({self.taken('const float *t')}) {{\n"
                f"float loss = 0;\nfor (int i = 0; i < R * O; i++) {{\n"
                f"loss += {term};\n{seed}}}\nreturn loss / R;\n}}\n")

    def weight_gradient(self, k):
        of, to = self.sizes[k:k + 2]
        x = "x" if k == 0 else self.at("out", 0)
        gw, gb = (self.at(kind, k) for kind in ("gw", "gb"))
        d = self.blame(k, f"r * {to} + o")
        if self.gradients == "memory":
            return (f"for (int r = 0; r < R; r++)\n"
                    f"for (int o = 0; o < {to}; o++) {{\n{gb}[o] += {d};\n"
                    f"for (int i = 0; i < {of}; i++)\n"
                    f"{gw}[o * {of} + i] += {d} * {x}[r * {of} + i];\n}}\n")
        op = "=" if self.gradients == "set" else "+="
        return (f"for (int o = 0; o < {to}; o++) {{\nfloat sum = 0;\n"
                f"for (int r = 0; r < R; r++)\nsum += {d};\n"
                f"{gb}[o] {op} sum;\nfor (int i = 0; i < {of}; i++) {{\n"
                f"float dot = 0;\nfor (int r = 0; r < R; r++)\n"
                f"dot += {d} * {x}[r * {of} + i];\n"
                f"{gw}[o * {of} + i] {op} dot;\n}}\n}}\n")

    def hidden_gradient(self):
        y, dy, w = self.at("out", 0), self.at("dout", 0), self.at("w", 1)
        slope = ACTIVATIONS[self.activation][1]
        at = slope.replace("@", f"{y}[r * H + i]")
        value = "sum" if self.two_stages else f"sum * {at}"
        text = ("for (int r = 0; r < R; r++)\nfor (int i = 0; i < H; i++) {\n"
                "float sum = 0;\nfor (int o = 0; o < O; o++)\n"
                f"sum += {self.blame(1, 'r * O + o')} * {w}[o * H + i];\n"
                f"{dy}[r * H + i] = {value};\n}}\n")
        if self.two_stages:
            text += (f"for (int i = 0; i < R * H; i++)\n"
                     f"{dy}[i] *= {slope.replace('@', f'{y}[i]')};\n")
        return text

    def cleared(self):
        if self.gradients == "set" or self.clear == "after":
            return ""
        text = ""
        for kind, k, size in self.buffers():
            if kind in ("gw", "gb"):
                text += (f"memset({self.at(kind, k)}, 0, "
                         f"({size}) * sizeof(float));\n"
                         if self.clear == "memset" else
                         f"for (int i = 0; i < {size}; i++)\n"
                         f"{self.at(kind, k)}[i] = 0;\n")
        return text

    def backward_text(self):
        text = "" if self.micro else self.cleared()
        if self.begin != "measured" and not self.direct:
            text += f"for (int i = 0; i < R * O; i++)\n{self.first_gradient()}"
        text += self.weight_gradient(1) + self.hidden_gradient()
        text += self.weight_gradient(0)
        if self.decay_term:
            text += "".join(
                f"for (int i = 0; i < {size}; i++)\n"
                f"{self.at('g' + kind, k)}[i] += 0.002f * "
                f"{self.at(kind, k)}[i];\n"
                for kind, k, size in self.buffers() if kind == "w")
        unread = "" if self.begin != "measured" else "(void)t;\n"
        clear = (f"static void clear({self.model}) {{\n{self.cleared()}}}\n"
                 if self.micro else "")
        return (f"{clear}static void backward("
                f"{self.taken('const float *x', 'const float *t')}) {{\n"
                f"{unread}{text}}}\n")

    # ---- the step ------------------------------------------------------------

    def step_lines(self, access):
        lines = list(self.update)
        if self.gradients != "set" and self.clear == "after":
            lines.append("#g[i] = 0;")
        for mark in ["w", "g", *self.state]:
            lines = [line.replace(f"#{mark}", access(mark)) for line in lines]
        return "\n".join(lines)

    def one_step(self, kind, k, size):
        def access(mark):
            return self.at(kind if mark == "w" else mark + kind, k)
        if not self.step_function:
            return (f"for (int i = 0; i < {size}; i++) {{\n"
                    f"{self.step_lines(access)}\n}}\n")
        buffers = [access(mark) for mark in ["w", "g", *self.state]]
        more = ["count"] if self.state[1:] else []
        return f"learn({', '.join([size, 'rate'] + more + buffers)});\n"

    def all_steps(self, parts):
        """By tables of pointers."""
        marks = ["w", "g", *self.state]
        text = ""
        for mark in marks:
            names = [self.at(kind if mark == "w" else mark + kind, k)
                     for kind, k, _ in parts]
            text += f"float *all_{mark}[] = {{{', '.join(names)}}};\n"
        sizes = ", ".join(size for _, _, size in parts)
        more = ["count"] if self.state[1:] else []
        given = ["sizes[k]", "rate"] + more + [f"all_{m}[k]" for m in marks]
        return (f"{text}const int sizes[] = {{{sizes}}};\n"
                "for (int k = 0; k < 4; k++)\n"
                f"learn({', '.join(given)});\n")

    def step_text(self):
        text = ""
        if self.step_function:
            count = ["float count"] if self.state[1:] else []
            head = ", ".join(["int n", "float rate"] + count +
                             [f"float *{m}" for m in ["w", "g", *self.state]])
            text += (f"static void learn({head}) {{\n"
                     "for (int i = 0; i < n; i++) {\n"
                     f"{self.step_lines(str)}\n}}\n}}\n")
        parts = [(kind, k, size) for kind, k, size in self.buffers()
                 if kind in ("w", "b")]
        body = ""
        if self.clips:
            body += "float norm = 0;\n"
            for kind, k, size in parts:
                g = f"{self.at('g' + kind, k)}[i]"
                body += f"for (int i = 0; i < {size}; i++)\nnorm += {g} * {g};\n"
            body += "norm = sqrtf(norm);\nif (norm > 0.5f) {\n"
            for kind, k, size in parts:
                body += (f"for (int i = 0; i < {size}; i++)\n"
                         f"{self.at('g' + kind, k)}[i] *= 0.5f / norm;\n")
            body += "}\n"
        body += (self.all_steps(parts) if self.table else
                 "".join(self.one_step(*part) for part in parts))
        count = ["float count"] if self.state[1:] else []
        return (f"{text}static void update("
                f"{self.taken('float rate', *count)}) {{\n{body}}}\n")

    def score_text(self):
        """Of rows that were not trained on; the loss has all the accuracy."""
        y = self.at("out", 1)
        return (f"static int score({self.model}) {{\n"
                "static float other[R * I];\nint right = 0;\n"
                "for (int i = 0; i < R * I; i++)\nother[i] = noise();\n"
                f"forward({self.given('other')});\n"
                f"for (int r = 0; r < R; r++)\n"
                f"right += {y}[r * O] > {y}[r * O + 1];\nreturn right;\n}}\n")

    # ---- all of it -----------------------------------------------------------

    def loop(self):
        rate = RATES[self.optimizer]
        if self.begin == "undivided" and self.optimizer != "adam":
            rate += " / R"
        count = ["(float)++count"] if self.state[1:] else []
        once = (f"forward({self.given('x')});\nloss += measure("
                f"{self.given('t')});\nbackward({self.given('x', 't')});\n")
        update = f"update({self.given('rate', *count)});\n"
        before = f"clear({self.given()});\n" if self.micro else ""
        after = update if self.micro else ""
        once += "" if self.micro else update
        head = (f"int step = {STEPS};\nwhile (step-- > 0) {{\n"
                if self.counts_down else
                f"for (int step = 0; step < {STEPS}; step++) {{\n")
        each = (f"{before}for (int b = 0; b < BATCHES; b++) {{\n"
                "const float *x = data + b * R * I, *t = want + b * R * O;\n"
                f"{once}}}\n{after}" if self.batches > 1 else
                f"const float *x = data, *t = want;\n{once}")
        slower = "rate *= 0.95f;\n" if self.slows else ""
        return (f"float rate = {rate};\n" + ("int count = 0;\n" if count else "")
                + f"{head}float loss = 0;\n{each}{slower}"
                'printf("loss %.9g\\n", loss / BATCHES);\n}\n')

    def make(self):
        text = HEAD.format(inputs=self.inputs, hidden=self.hidden,
                           outputs=self.outputs, rows=ROWS, n=self.batches,
                           seed=self.seed + 1)
        text += self.declarations()
        if "product" in self.forward:
            text += PRODUCT
        text += self.setup() + self.forward_text() + self.loss_text()
        text += self.backward_text() + self.step_text()
        fill = ("for (int i = 0; i < BATCHES * R * I; i++)\n"
                "data[i] = noise();\n"
                "for (int i = 0; i < BATCHES * R; i++)\n")
        fill += ("want[i * O + (data[i * I] + data[i * I + 1] > 0)] = 1;\n"
                 if self.softmax else "for (int o = 0; o < O; o++)\n"
                 "want[i * O + o] = 0.7f * data[i * I + o % I] "
                 "- 0.4f * data[i * I + 1];\n")
        own = ("struct model model, *m = &model;\n"
               if self.style == "fields" else "")
        end = ("float sum = 0;\nfor (int i = 0; i < I * H; i++)\n"
               f"sum += {self.at('w', 0)}[i] * {self.at('w', 0)}[i];\n"
               'printf("weights %.9g\\n", sum);\n')
        if self.evaluates:
            text += self.score_text()
            end += f'printf("right %d\\n", score({self.given()}));\n'
        if self.in_main:
            text += (f"int main(void) {{\n{own}{fill}set_up({self.given()});\n"
                     f"{self.loop()}{end}return 0;\n}}\n")
        else:
            text += (f"static void train({self.model}) {{\n{self.loop()}}}\n"
                     f"int main(void) {{\n{own}{fill}set_up({self.given()});\n"
                     f"train({self.given()});\n{end}return 0;\n}}\n")
        return indented(text)
