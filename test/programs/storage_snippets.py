"""Ways to use float memory that the programs of storage_programs.py mix in.

Text with marks: @P and @Q are buffers that may be written and do not overlap,
of at least four floats, @n the number of both; @R one that may only be read.
@S is a float, @W a number to store, @E any number, @i an index. @T is the type float
or a name for it. @a to @d are new names, @h a name with a wish for a precision,
@X the name of what a gadget defines. @+ brings what @P holds back into range.

A gadget is something of file scope, and what is done with it.
"""

STATEMENTS = [
    # declarations
    "{\n@T @a = @P[0], *@b = @P, @c = @b[1];\n@b[2] = wrap(@a + @c);\n}\n",
    "for (@T @a = @P[0], *@b = @P; @b < @P + @n; @b++)\n"
    "*@b = wrap(@a - *@b);\n",
    "{\n@T *const @a = @P;\nconst @T *const @b = @a + 1;\n@a[0] = *@b;\n}\n",
    "{\n@T const *@a;\n@T *@b;\n@a = @b = @P;\n@b[3] = @a[2];\n}\n",
    "{\n@T *@h = @P, *@a = @Q, @b;\n@b = @h[0];\n@a[1] = wrap(@b * 2);\n}\n",
    "{\n@T @h[N] = {0}, *@a = @h;\n@a[1] = @P[1];\n@S += @h[1];\n}\n",
    "{\n@T @h[2][M];\nmemset(@h, 0, sizeof @h);\n@h[1][2] = @P[1];\n"
    "@P[0] = (*(@h + 1))[2];\n}\n",
    "{\n@T @h[M] = {0}, (*@a)[M] = &@h;\n(*@a)[2] = @P[1];\n"
    "@P[2] = @h[2];\n}\n",
    "{\n@T *@a[] = {@P, @P + 1};\n@a[1][0] = wrap(@a[0][2] + 1);\n}\n",
    "{\n@T **@a = (float *[]){@P, @P};\n@a[1][3] = @W;\n}\n",
    "{\n@T *@h = (float[M]){0};\n@h[1] = @P[1];\n@P[0] = @h[1];\n}\n",
    "{\nregister @T *restrict @a = @P;\n@a[1] = @W;\n}\n",
    "{\n_Alignas(32) @T @h[N] = {0};\n@h[3] = @P[1];\n@S -= @h[3];\n}\n",
    "{\n@T @h[M] __attribute__((aligned(16))) = {0};\n@h[2] = @P[2];\n"
    "@P[1] = @h[2];\n}\n",
    "{\n@T /* here */ *@h /* there */ = @P; // and here\n@h[0] = @W;\n}\n",
    "{\n@T\n*@h\n=\n@P,\n@a\n= 2;\n@h\n[1]\n=\nwrap(@a);\n}\n",
    "{\nint @a = 4;\n@T @h[@a];\nfor (int i = 0; i < @a; i++)\n"
    "@h[i] = @P[i];\n@S += @h[3];\n}\n",
    "{\n@T *@h = @P;\n{\n@T *@h = @Q;\n@h[1] = @W;\n}\n@h[2] = @W;\n}\n",
    "{\n__typeof__(*@P) @a = @P[1];\n@S += @a;\n}\n",
    "{\n__typeof__(@P[0]) *@a = @P;\n@a[1] = @W;\n}\n",
    # values
    "{\nfloat @a = @P[1] = @W;\n@S += @a;\n}\n",
    "{\nint @a = @P[1];\n@S += @a;\n}\n",
    "{\n_Bool @a = @P[1];\nif (@P[2])\n@S += @a;\n}\n",
    "{\nunsigned char @a = fabsf(@P[3]);\nshort @b = (short)@P[0];\n"
    "@S += @a - @b;\n}\n",
    "@P[1] = k & 3;\n",
    "@P[2] = 'a' - 96;\n",
    "@P[0] = (unsigned char)k & 3u;\n",
    "@P[@i] = @R[1] > 0 ? @R[2] : @P[3];\n",
    "@P[1] = !@R[1] + (@R[2] && @P[2]) - (@R[0] || 0);\n",
    "@S += @R[1] ? @R[2] : 0;\n",
    "@S += (@P[1] = @W) > 0 ? 1 : 2;\n",
    "if ((@P[2] = @W) != 0 && @P[2] > -3)\n@S += 1;\n",
    "@S += (@P[1] += 1) * 2;\n@+",
    "@S = @P[1]++ + @R[0] * 0;\n@+",
    "@S = wrap(--@P[2]);\n@+",
    "@S += wrap(@P[1] -= @Q[1]--);\n@Q[1] = wrap(@Q[1]);\n@+",
    "switch ((int)@R[1]) {\ncase 0:\n@S += 1;\nbreak;\ndefault:\n"
    "@S -= @R[1];\n}\n",
    "for (int i = 0; i < 4 && @R[i] != 1; i++)\n@S += @R[i];\n",
    "(void)@R[1];\n",
    "{\nfloat @a[M] = {0};\nmemcpy(@a, @R, M * sizeof(float));\n"
    "@S += @a[1];\n}\n",
    "@S += 2[@R] + *(1 + @R) + *&@R[3];\n",
    "(k & 1 ? @P : @Q)[1] += 1;\n@P[1] = wrap(@P[1]);\n"
    "@Q[1] = wrap(@Q[1]);\n",
    "*(k & 1 ? &@P[1] : &@P[2]) = @W;\n",
    "@P[(int)fabsf(@R[1]) & 3] = @W;\n",
    "@P[k++ & 1] -= 0.5;\n@+",
    "@P[1] = (@S += 1, wrap(@S));\n",
    "@P[1] = @P[2] = @P[3] = @R[0];\n",
    "@P[1] += @P[2] *= -1;\n@+",
    "@P[1] = wrap(@P[1] * 3u - 1L);\n",
    "@P[1] = wrap(@R[1] / 3.0f + @R[2] * 0.1);\n",
    "@P[2] /= -2.0;\n@+",
    'printf("%.9g%s", @R[1], @R[2] > 0 ? "+\\n" : "-\\n");\n',
    "{\nchar @a[32];\nsnprintf(@a, sizeof @a, \"%g\", @R[1]);\n"
    "k += @a[0] == '-';\n}\n",
    "k += isnan(@R[1]) || signbit(@R[2]);\n",
    "@S = wrap(@S + fminf(@R[1], (float)floor(@R[2])) + ldexp(@R[3], 1));\n",
    "@S += ({ float @a = @P[1]; @a + 1; });\n",
    # sums
    "for (int i = 0; i < 3; i++)\n@P[1] += @R[i];\n@+",
    "for (int i = 0; i < 3; i++)\n@P[2]++;\n@+",
    "for (int j = 0; j < k % 3; j++)\nfor (int i = 0; i < 4; i++)\n"
    "@P[i] -= @R[j];\n@+",
    "for (int j = 0; j < 2; j++)\nfor (int i = 0; i < 4; i++)\n"
    "@P[i] += @Q[j] + j;\n@+",
    "{\n@T *@h = @P + 1;\nfor (int j = 0; j < 2; j++) {\n"
    "for (int i = 0; i < 3; i++)\n@h[i] += j;\n"
    "for (int i = 0; i < 3; i++)\n@h[i] -= @R[i] + @h[i] * 0;\n}\n@+}\n",
    "if (k & 1)\nfor (int j = 0; j < 2; j++)\nfor (int i = 0; i <= 1; ++i)\n"
    "*(@P + 2 + i) += @S * 0 + 1;\nelse\nfor (int j = k & 3; j > 0; j--)\n"
    "@P[0] = 1 + @P[0];\n@+",
    "for (int j = 0; j < 4; j++)\nif (@R[j] > 0)\n@P[1] += @R[j];\n@+",
    "for (int j = 0; j < 3; j++) {\n@P[1] += 1;\n@S += @P[j];\n}\n"
    "@S = wrap(@S);\n@+",
    "{\n@T *@a = NULL;\nfor (int j = 0; j < k * 0; j++)\n@a[0] += 1;\n"
    "for (int j = 0; j < k * 0; j++)\nfor (int i = 0; i < 4; i++)\n"
    "@a[i] += 1;\n}\n",
    "{\n@T @h[2][M] = {{0}};\nfor (int r = 0; r < 2; r++)\n"
    "for (int j = 0; j < 3; j++)\nfor (int i = 0; i < M; i++)\n"
    "@h[r][i] = @h[r][i] + fabsf(@R[j]);\n@S = wrap(@S + @h[1][2]);\n}\n",
    # pointers
    "{\n@T *@h = k & 1 ? @P : NULL;\nif (@h)\n@h[1] = @W;\n"
    "if (!@h || @h == @P)\nk++;\n}\n",
    "{\n@T *@h = @P;\n@h += 2;\n@h[-1] = @W;\n@h -= 1;\n*@h += 1;\n@+}\n",
    "{\nconst @T *@a = &@P[1], *@b = &@P[3];\nk += (int)(@b - @a);\n"
    "k += @a < @b;\n}\n",
    "{\n@T **@a = &(@T *){@P};\n(*@a)[1] = @W;\n**@a = 2;\n}\n",
    "{\n@T *@h = @P, **@a = &@h;\n*(*@a + 1) = @W;\n(*@a)++;\n"
    "@h[0] = @W;\n}\n",
    "{\n@T(*@a)[2] = (@T(*)[2])@P;\n@a[1][0] = wrap(@a[0][1] + 1);\n}\n",
    "{\nvoid *@a = @P;\n((@T *)@a)[1] = @W;\n*((float *)@a + 2) = 1;\n}\n",
    "{\nconst void *@a = @P;\nconst @T *@b = @a;\n@S += @b[1];\n}\n",
    "{\nchar *@a = (char *)@P + sizeof(float);\n*(@T *)@a = @W;\n}\n",
    "{\n@T *@a = @P, *@b = @Q, *@c = @a;\n@a = @b;\n@b = @c;\n"
    "@a[1] = @W;\n@b[2] = @W;\n}\n",
    "{\n@T *@a = @P;\nwhile (@a < @P + 3)\n*@a++ = @a[1];\n}\n"
    .replace("*@a++ = @a[1]", "@a[0] = @a[1], @a++"),
    "{\n@T *@a = @P, *@b = @P + 3;\nwhile (@a < @b) {\n@T @c = *@a;\n"
    "*@a++ = *@b;\n*@b-- = @c;\n}\n}\n",
    # bytes
    "{\nsize_t @a = M * sizeof(float);\n@T *@h = malloc(@a), *@b = malloc(@a);"
    "\nif (!@h || !@b)\nabort();\nmemcpy(@h, @P, @a);\nmemset(@b, 0, @a);\n"
    "@b[1] = @h[1];\n@P[0] = @b[1];\nfree(@h);\nfree(@b);\n}\n",
    "{\n@T *@h = calloc(M, sizeof(@T));\nif (!@h)\nabort();\n"
    "@h = realloc(@h, 2 * M * sizeof(@T));\nif (!@h)\nabort();\n"
    "memcpy(@h + M, @P, sizeof(@T) * M);\n@S += @h[M + 1];\nfree(@h);\n}\n",
    "{\n@T @h[N];\nmemcpy(@h, @P, M * sizeof @h[0]);\nmemset(&@h[M], 0, "
    "sizeof @h - M * sizeof *@h);\n@S += @h[1] + @h[5];\n}\n",
    "{\n@T *@a = @P + 3;\nmemset(@P, 0, (size_t)(@a - @P) * sizeof *@a);\n}\n",
    "{\n@T *@a = @P;\nmemset(@a, 0, sizeof(*@a));\nmemmove(&@a[1], &@a[0], "
    "sizeof(@T));\n}\n",
    "{\nsize_t @a = sizeof @P[0];\nvoid *@b = malloc(4 * @a);\n@T *@h = @b;\n"
    "if (!@h)\nabort();\nfor (int i = 0; i < 4; i++)\n@h[i] = @P[i];\n"
    "@S += @h[2];\nfree(@b);\n}\n",
    "{\n@T @h[N];\nfor (size_t i = 0; i < sizeof(@h) / sizeof(@h[0]); i++)\n"
    "@h[i] = @P[i % 4];\nfor (size_t i = 0; i < sizeof @h / sizeof(float); "
    "i++)\n@S += @h[i];\n@S = wrap(@S);\n}\n",
    "{\nFILE *@a = tmpfile();\nif (!@a)\nabort();\nint @b = k;\n"
    "size_t @c = fwrite(&@b, sizeof @b, 1, @a);\n"
    "@c += fwrite(@P, sizeof(float) * 2, 2, @a);\n"
    "@c += fwrite(&@P[1], 1, 3 * sizeof(float), @a);\n"
    "fseek(@a, sizeof @b + sizeof(float), SEEK_SET);\n"
    "@c += fread(@P + 2, sizeof *@P, 2, @a);\n"
    'printf("%d %ld\\n", (int)@c, ftell(@a));\nfclose(@a);\n}\n',
    "{\nFILE *@a = tmpfile();\nif (!@a)\nabort();\n"
    'fprintf(@a, "%.9g %.9g\\n", @P[1], (double)@P[2]);\nrewind(@a);\n'
    '@S = 0;\nif (fscanf(@a, "%f", &@S) != 1)\nabort();\n@P[0] = @S;\n'
    "fclose(@a);\n}\n",
    "{\n@T *@h = NULL;\nint @a = 0;\nfor (int i = 0; i < 4; i++) {\n"
    "if (i >= @a) {\n@a = @a ? 2 * @a : 2;\n"
    "@h = realloc(@h, @a * sizeof *@h);\nif (!@h)\nabort();\n}\n"
    "@h[i] = @P[i];\n}\n@S += @h[3];\nfree(@h);\n}\n",
    "{\n__m128 @a = _mm_loadu_ps(@P);\n"
    "_mm_storeu_ps(@P, _mm_add_ps(@a, _mm_set1_ps(1)));\n@+}\n",
    'if (sscanf("3 -2.5", "%f%f", &@P[0], &@S) != 2)\nabort();\n',
    'if (sscanf("7 1.5", "%d%f", &k, @P + 1) != 2)\nabort();\n',
    # macros
    "@P[1] = wrap(SQUARE(@R[1]) - LARGER(@R[2], SQUARE(@R[3])));\n",
    "DO(@P[1] = @W; @P[2] = @P[1];)\n",
    "EACH(@a, 4) @P[@a] = @W;\n",
    "#define BUF@a @P\nBUF@a[1] = wrap(BUF@a[2] + 1);\nBUF@a[3]++;\n"
    "@+#undef BUF@a\n",
    "#define VAL@a @R[1]\n@S += VAL@a;\n#undef VAL@a\n",
    "#define TYPE@a @T\n{\nTYPE@a *@h = @P;\n@h[1] = @W;\n}\n#undef TYPE@a\n",
    "{\n@T *@h = ROW(@P, 1);\n@h[1] = ROW(@P, 0)[1];\n}\n",
    "{\n@T @h[N] = {0};\nfor (unsigned i = 0; i < COUNT(@h); i++)\n"
    "@h[i] = @P[i & 3];\n@S = wrap(@S + @h[6]);\n}\n",
]

# What macros in file scope make: (their text, what is done with it)
MACROS = [
    ("#define OP_@X(name, op)\\\nstatic inline void name(float *@a, float v) {"
     "\\\n@a[1] = wrap(@a[1] op v);\\\n}\nOP_@X(@X, +)\nOP_@X(@X_less, -)\n",
     ["@X(@P, 2);\n", "@X_less(@Q, @R[2]);\n", "@X(@P, @W);\n"]),
    ("#define @X(p, i) ((p)[(i) & 3])\n",
     ["@X(@P, 1) = @W;\n", "@S += @X(@R, k) + @X(@P, 2);\n",
      "@X(@P, 2) += @X(@Q, 1);\n@+"]),
    ("#define @X(p, i, v) (p)[i] = wrap((p)[i] + (v))\n",
     ["@X(@P, 1, 2);\n", "@X(@P, 2, @R[1]);\n"]),
    ("#define @X(a, b) do { __typeof__(a) t_ = (a); (a) = (b); (b) = t_; } "
     "while (0)\n",
     ["@X(@P[1], @Q[2]);\n", "@X(@P[1], @S);\n@P[1] = wrap(@P[1]);\n"]),
    ("#define @X(a, b) ({ __typeof__(a) a_ = (a), b_ = (b); "
     "a_ > b_ ? a_ : b_; })\n",
     ["@P[1] = @X(@R[1], @R[2]);\n", "@S += @X(@P[1], 0.5f);\n"]),
    ("static float @a_pool[4 * N];\nstatic int @a_used;\n"
     "static inline float *@X(int n) {\nif (@a_used + n > 4 * N)\n"
     "@a_used = 0;\nfloat *p = @a_pool + @a_used;\n@a_used += n;\n"
     "memset(p, 0, n * sizeof *p);\nreturn p;\n}\n",
     ["{\n@T *@h = @X(4);\n@h[1] = @P[1];\n@P[2] = @h[1];\n}\n",
      "{\n@T *@h = @X(M), *@a = @X(M);\n@a[1] = @h[2] = @W;\n"
      "@S += @a[1];\n}\n"]),
]

# What stays in FP32 as a rule, and keeps its neighbours there: seldom.
PINNED = [
    "{\nuintptr_t @a = (uintptr_t)@P;\nif (@a % sizeof(float))\nk++;\n}\n",
    "k += _Generic(@P, float *: 1, default: 0);\n",
    "{\nunion { float f; unsigned u; } @a = {@P[1]};\nk += @a.u >> 31;\n}\n",
    "{\nunion { float *f; void *u; } @a = {@P};\n@a.f[1] = @W;\n}\n",
    "{\nint *@a = (int *)@P;\nk += @a[1] < 0;\n}\n",
    "k += sizeof(@P[0]) > 2;\n",
    "{\nstatic const @T @h[M] = {1, 2, -1, 0.5f};\n@P[1] = @h[k & 3];\n}\n",
    "{\n@T @h[] = {@W, @W, 1, 2};\n@P[1] = @h[2];\n}\n",
    "{\n@T @a = 0;\n@P[1] = truncf(modff(@P[1], &@a) * 4) / 4;\n@S += @a;\n}\n",
    "{\n@T *@a = @P;\n@S += ((volatile @T *)@a)[1];\n}\n",
]

# (what is defined in file scope, what is done with it)
GADGETS = [
    ("float *@X(float *@a, int i)", "return @a + i;\n",
     ["*@X(@P, 1) = @W;\n", "@X(@P, 1)[1] += 2;\n@+", "*@X(@P, 2) += 1;\n@+",
      "@S += *@X(@P, 3);\n", "{\n@T *@h = @X(@P, 1);\n@h[0] = @W;\n}\n"]),
    ("float *@X(float *@a, float *@b, int which)",
     "return which ? @a : @b;\n",
     ["@X(@P, @Q, k & 1)[1] = @W;\n", "@S += *@X(@P, @P + 1, 0);\n"]),
    ("void @X(float *@a, float v)", "*@a = wrap(v + *@a);\n",
     ["@X(&@P[1], 2);\n", "@X(@P, @R[2]);\n", "@X(&@S, 1);\n",
      "@X(@P + 2, @Q[1] = @W);\n"]),
    ("float @X(const float *@a, int i)", "return @a[i & 3];\n",
     ["@S += @X(@R, 1);\n", "@P[1] = @X(@R, (int)@X(@P, 2));\n",
      "@P[2] = wrap(@X(@P, k) - @X(@Q, 1));\n"]),
    ("void @X(float **@a, int n)",
     "*@a = malloc(n * sizeof **@a);\nif (!*@a)\nabort();\n"
     "memset(*@a, 0, n * sizeof(float));\n",
     ["{\n@T *@h = NULL;\n@X(&@h, 4);\n@h[1] = @P[1];\n@P[0] = @h[1];\n"
      "free(@h);\n}\n"]),
    ("void @X(float **@a, float **@b)",
     "float *t = *@a;\n*@a = *@b;\n*@b = t;\n",
     ["{\n@T *@c = @P, *@d = @Q;\n@X(&@c, &@d);\n@c[1] = @W;\n@d[2] = @W;\n"
      "}\n"]),
    ("void @X(void *@a, const void *@b, size_t bytes)",
     "memcpy(@a, @b, bytes);\n",
     ["@X(@P, @Q, M * sizeof(float));\n", "@X(@P, @Q, 2 * sizeof *@P);\n"]),
    ("void @X(void *@a, size_t n, size_t size)",
     "memset(@a, 0, n * size);\n",
     ["@X(@P, 3, sizeof(float));\n", "@X(&@P[1], 2, sizeof @P[0]);\n"]),
    ("float @X(float *@a)", "return *@a = wrap(*@a + 1);\n",
     ["@S += @X(@P);\n", "@P[2] = @X(&@Q[1]);\n"]),
    ("float @X(float *@a)", "return @a[1] += 1;\n",
     ["@S += @X(@P);\n@+"]),
    ("float @X(float *@a)", "return (*@a)++;\n",
     ["@S += @X(@P);\n@+"]),
    ("double @X(float *@a, double v)", "return @a[2] = wrap(v);\n",
     ["@S += @X(@P, @R[1] * 0.5);\n"]),
    ("int @X(const float *@a, const float *@b)",
     "return @a[1] > @b[1] ? @a[0] : @b[0];\n",
     ["k += @X(@P, @Q) & 1;\n", "k += @X(@R, @R) > 2;\n"]),
    ("void @X(float @a[static 4], int n)",
     "for (int i = 0; i < n && i < 4; i++)\n@a[i] = wrap(@a[i] * 2);\n",
     ["@X(@P, 4);\n"]),
    ("void @X(int n, float @a[n])",
     "for (int i = 0; i < n; i++)\n@a[i] = wrap(@a[i] - 1);\n",
     ["@X(4, @P);\n"]),
    ("float @X(float (*@a)[2])", "return @a[0][1] = @a[1][0];\n",
     ["@S += @X((float (*)[2])@P);\n",
      "{\n@T @h[2][2] = {{0}};\n@h[1][0] = @P[1];\n@S += @X(@h);\n"
      "@P[1] = @h[0][1];\n}\n"]),
    ("void @X(float *@a, int n)",
     "if (n <= 1) {\n*@a = wrap(*@a * 2);\nreturn;\n}\n"
     "@X(@a, n / 2);\n@X(@a + n / 2, n - n / 2);\n",
     ["@X(@P, 4);\n", "@X(@P, @n);\n"]),
    ("float @X(int n, ...)",
     "va_list list;\nva_start(list, n);\nfloat s = 0;\n"
     "while (n-- > 0)\ns += va_arg(list, double);\nva_end(list);\n"
     "return s;\n",
     ["@S += @X(2, @R[1], @R[2]);\n", "@P[1] = wrap(@X(1, @P[1]));\n"]),
    ("float *@X(const float *@a, int n)",
     "float *c = malloc(n * sizeof(float));\nif (!c)\nabort();\n"
     "memcpy(c, @a, n * sizeof(float));\nreturn c;\n",
     ["{\n@T *@h = @X(@P, 4);\n@h[1] += 1;\n@P[0] = wrap(@h[1]);\n"
      "free(@h);\n}\n"]),
    ("float @X(float *(*@a)[2], int i)", "return (*@a)[1][i];\n",
     ["{\n@T *@b[2] = {@P, @Q};\n@S += @X(&@b, 1);\n}\n"]),
    ("void @X(float *@a, float *@b, float *@c)",
     "*@a = wrap(*@b + *@c);\n",
     ["@X(@P, @P + 1, @Q);\n", "@X(&@P[1], &@S, &@Q[2]);\n",
      "@X(&@S, @P, @P);\n"]),
    ("void @X(float *@a, const float *@b, int n)",
     "for (int j = 0; j < n; j++)\nfor (int i = 0; i < 4; i++)\n"
     "@a[i] += @b[j];\n",
     ["@X(@P, @Q, 2);\n@+", "@X(@P, @R, k & 3);\n@+",
      "@X(@P, @P, 1);\n@+", "@X(@P, @Q, 0);\n"]),
    ("void @X(float *@a, int rows, int n)",
     "for (int r = 0; r < rows; r++)\nfor (int j = 0; j < n; j++)\n"
     "for (int i = 0; i < 2; i++)\n@a[r * 2 + i] += j;\n",
     ["@X(@P, 2, 3);\n@+", "@X(@P + 2, 1, k & 1);\n@+"]),
    ("void @X(float **@a, int rows)",
     "for (int r = 0; r < rows; r++)\nfor (int i = 0; i < 4; i++)\n"
     "@a[r][i] = wrap(@a[r][i] + r);\n",
     ["{\n@T *@b[2] = {@P, @P};\n@X(@b, 2);\n}\n"]),
    ("const float *@X(const float *@a, const float *@b)",
     "while (@a < @b && *@a <= 0)\n@a++;\nreturn @a;\n",
     ["k += (int)(@X(@P, @P + 4) - @P);\n"]),
]

# (the type @X, the buffer in an object of it, how an object is made and
# unmade, what else is done with it)
TYPES = [
    ("typedef struct {\nint n;\nfloat @a[];\n} @X;\n", "o->@a",
     "@X *o = malloc(sizeof(@X) + M * sizeof(float));\nif (!o)\nabort();\n"
     "o->n = M;\nmemset(o->@a, 0, M * sizeof(float));\n", "free(o);\n",
     ["o->@a[o->n - 1] = @W;\n"]),
    ("typedef struct @X {\nfloat *@a, @b;\nstruct @X *next;\n} @X;\n",
     "o.next->@a", "@X p = {calloc(M, sizeof(float)), 1, NULL}, o = {@P, 2, "
     "&p};\nif (!p.@a)\nabort();\n", "free(p.@a);\n",
     ["o.@a[1] = wrap(o.next->@a[1] + p.@b);\n",
      "for (@X *e = &o; e; e = e->next)\ne->@a[2] = @W;\n"]),
    ("typedef struct {\nfloat @a[M], @b;\n} @X;\n", "o.@a",
     "@X o = {.@b = 1};\n", "",
     ["{\n@X other = o;\nother.@a[1] = @P[1];\no = other;\n}\n",
      "{\n@X *other = &(@X){.@b = 2};\n*other = o;\n@S += other->@a[2];\n}\n",
      "memset(&o, 0, sizeof o);\n", "memset(o.@a, 0, sizeof o.@a);\n",
      "{\n@X other;\nmemcpy(&other, &o, sizeof(@X));\n@S += other.@a[1];\n"
      "}\n"]),
    ("typedef struct {\nint rows, cols;\nfloat **@a;\n} @X;\n", "o->@a[1]",
     "@X *o = malloc(sizeof *o);\nif (!o)\nabort();\no->rows = 2, o->cols = M;"
     "\no->@a = malloc(o->rows * sizeof *o->@a);\nif (!o->@a)\nabort();\n"
     "for (int r = 0; r < o->rows; r++)\n"
     "if (!(o->@a[r] = calloc(o->cols, sizeof **o->@a)))\nabort();\n",
     "for (int r = 0; r < o->rows; r++)\nfree(o->@a[r]);\nfree(o->@a);\n"
     "free(o);\n",
     ["for (int r = 0; r < o->rows; r++)\nfor (int c = 0; c < o->cols; c++)\n"
      "o->@a[r][c] = @R[c & 3];\n", "o->@a[0] = o->@a[1];\n"[:0]
      + "@S += *o->@a[1] + **o->@a;\n"]),
    ("typedef struct {\nfloat *@a, *@b, *@c;\n} @X;\n", "o.@b",
     "@X o;\no.@a = calloc(3 * M, sizeof(float));\nif (!o.@a)\nabort();\n"
     "o.@b = o.@a + M;\no.@c = o.@b + M;\n", "free(o.@a);\n",
     ["o.@c[1] = wrap(o.@b[1] + 1);\n", "o.@a[M + 1] = @W;\n",
      "for (int i = 0; i < 3 * M; i++)\no.@a[i] = @W;\n"]),
    ("typedef struct {\nstruct {\nfloat @a[2][M], *@b;\n} in[2];\n} @X;\n",
     "o->in[1].@a[1]", "static @X all;\n@X *o = &all;\no->in[0].@b = @P;\n",
     "", ["o->in[0].@b[1] = o->in[1].@a[1][2];\n",
          "o->in[0] = o->in[1];\no->in[0].@b = @P;\n"]),
    ("typedef struct {\nvoid *data;\nsize_t size;\n} @X;\n",
     "((float *)o.data)",
     "@X o = {malloc(M * sizeof(float)), M * sizeof(float)};\n"
     "if (!o.data)\nabort();\nmemset(o.data, 0, o.size);\n", "free(o.data);\n",
     ["*(float *)o.data = @W;\n"]),
    ("typedef struct {\nfloat *@a;\nfloat (*get)(const float *, int);\n} @X;\n"
     "static inline float @X_get(const float *@b, int i) {\n"
     "return @b[i];\n}\n", "o.@a", "@X o = {@P, @X_get};\n", "",
     ["@S += o.get(o.@a, 1);\n"]),
]
