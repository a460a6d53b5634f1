#!/usr/bin/env python3
"""Makes what llm.c's train_gpt2.c reads, without a download:
make_llmc_inputs.py FOLDER, then run the program there.

    gpt2_124M.bin       256 int32 (magic, version, shape), then the parameter
                        tensors in FP32: random, GPT-2's sizes of them
    gpt2_tokenizer.bin  256 uint32, then length and bytes of each token
    dev/data/tinyshakespeare/*.bin   256 int32, then tokens as uint16

The weights repeat a block of random numbers whose length is prime to the
tensors' rows: time does not depend on them, and the loss starts near
log(vocabulary) and falls.
"""

import array
import pathlib
import random
import struct
import sys

MODEL, TOKENIZER, TOKENS = 20240326, 20240328, 20240520
LENGTH, VOCABULARY, PADDED, LAYERS, HEADS, WIDTH = (1024, 50257, 50304, 12,
                                                    12, 768)
BLOCK = 1000003


def header(*values):
    return struct.pack("<256i", *values, *[0] * (256 - len(values)))


class Weights:
    """Normal numbers of standard deviation 0.02."""
    def __init__(self):
        rng = random.Random(1)
        self.block = array.array("f", (rng.gauss(0, 0.02)
                                       for _ in range(BLOCK)))
        self.at = 0

    def write(self, out, count, factor=1.0):
        block = self.block
        if factor != 1.0:
            block = array.array("f", (factor * x for x in block))
        while count:
            n = min(count, BLOCK - self.at)
            block[self.at:self.at + n].tofile(out)
            self.at = (self.at + n) % BLOCK
            count -= n


def constant(out, count, value):
    (array.array("f", [value]) * count).tofile(out)


def write_model(path):
    c, weights = WIDTH, Weights()
    residual = (2 * LAYERS) ** -0.5
    with open(path, "wb") as out:
        out.write(header(MODEL, 3, LENGTH, VOCABULARY, LAYERS, HEADS, WIDTH,
                         PADDED))
        weights.write(out, VOCABULARY * c)             # wte
        constant(out, (PADDED - VOCABULARY) * c, 0.0)  # its padding
        weights.write(out, LENGTH * c)                 # wpe
        layer = LAYERS * c
        constant(out, layer, 1.0)                      # ln1w
        constant(out, layer, 0.0)                      # ln1b
        weights.write(out, layer * 3 * c)              # qkvw
        constant(out, layer * 3, 0.0)                  # qkvb
        weights.write(out, layer * c, residual)        # attprojw
        constant(out, layer, 0.0)                      # attprojb
        constant(out, layer, 1.0)                      # ln2w
        constant(out, layer, 0.0)                      # ln2b
        weights.write(out, layer * 4 * c)              # fcw
        constant(out, layer * 4, 0.0)                  # fcb
        weights.write(out, layer * 4 * c, residual)    # fcprojw
        constant(out, layer, 0.0)                      # fcprojb
        constant(out, c, 1.0)                          # lnfw
        constant(out, c, 0.0)                          # lnfb


def write_tokenizer(path):
    with open(path, "wb") as out:
        out.write(header(TOKENIZER, 2, VOCABULARY, VOCABULARY - 1))
        for token in range(VOCABULARY):
            text = b"%d " % token
            out.write(bytes([len(text)]) + text)


def write_tokens(path, count, seed):
    """Text of a few hundred words, common ones more often."""
    rng = random.Random(seed)
    tokens = array.array("H", (min(int(rng.expovariate(0.02)), 400) * 101
                               for _ in range(count)))
    with open(path, "wb") as out:
        out.write(header(TOKENS, 1, count))
        tokens.tofile(out)


def make_inputs(folder):
    data = folder / "dev/data/tinyshakespeare"
    data.mkdir(parents=True, exist_ok=True)
    write_model(folder / "gpt2_124M.bin")
    write_tokenizer(folder / "gpt2_tokenizer.bin")
    write_tokens(data / "tiny_shakespeare_train.bin", 20000, 1)
    write_tokens(data / "tiny_shakespeare_val.bin", 5000, 2)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: make_llmc_inputs.py FOLDER")
    make_inputs(pathlib.Path(sys.argv[1]))
