"""program.py TRAIN KIND: a variant of the trainer TRAIN, as bytes on stdout."""
import sys


def variant(source, kind):
    at = b"    for (int step"
    if kind == "crlf":
        return source.replace(b"\n", b"\r\n")
    if kind == "bom":
        return b"\xef\xbb\xbf" + source
    if kind == "no-newline":
        return source.rstrip(b"\n")
    if kind == "utf8":
        return source.replace(b"A linear", "Stra\u00dfe \u4f60\u597d".encode())
    if kind == "latin1":
        return source.replace(b"A linear", b"Stra\xdfe")
    if kind.startswith("terms="):
        terms = b" + ".join(b"goal[%d]" % (i % 8) for i in range(int(kind[6:])))
        return source.replace(at, b"    float big = " + terms + b";\n    (void)big;\n" + at)
    if kind.startswith("parens="):
        n = int(kind[7:])
        nested = b"(" * n + b"goal[0]" + b")" * n
        return source.replace(at, b"    float big = " + nested + b";\n    (void)big;\n" + at)
    if kind.startswith("elses="):
        chain = b"".join(b"    if (c == %d) c = 1;\n    else" % i for i in range(int(kind[6:])))
        return source.replace(at, b"    int c = 0;\n" + chain + b" c = 2;\n" + at)
    if kind == "big":
        helper = b"""
/* helper %d */
float helper_%d(const float *v, int n) {
    float s = 0;
    for (int i = 0; i < n; i++)
        s += v[i] * %d.0f;
    return s;
}
"""
        made = b"".join(helper % (i, i, i) for i in range(14000))
        return source.replace(b"\nint main", made + b"\nint main")
    raise ValueError(kind)


with open(sys.argv[1], "rb") as file:
    sys.stdout.buffer.write(variant(file.read(), sys.argv[2]))
