#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Writes random blocks of each type of GGUF's, and the values that the package gguf reads from them.

    dump_blocks.py FOLDER

FOLDER gets TYPE.blocks (bytes) and TYPE.values (f32) for each type. Scales cover zero, the subnormal, the
largest and both signs; the first blocks have the least and the largest quants. Needs the packages gguf and numpy.
"""
import os
import sys

import gguf
import numpy as np

BLOCKS = 8
# Where a block has numbers of 16 bits.
SCALES = {"q8_0": [0], "q4_0": [0], "q4_1": [0, 2], "q5_0": [0], "q5_1": [0, 2], "q4_k": [0, 2], "q5_k": [0, 2],
          "q6_k": [208]}
# Zero and its negative, the least and the largest subnormal, two of each sign, the largest.
HALVES = np.array([0x0000, 0x8000, 0x0001, 0x83ff, 0x2e66, 0xae66, 0x3c01, 0xfbff], np.uint16)


def make_blocks(name, random):
    """Blocks as rows of bytes."""
    size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name.upper()]][1]
    blocks = random.integers(0, 256, (BLOCKS, size), dtype=np.uint8)
    blocks[0], blocks[1] = 0, 255
    for place, begin in enumerate(SCALES[name]):
        blocks[:, begin:begin + 2] = np.roll(HALVES, place).view(np.uint8).reshape(BLOCKS, 2)
    return blocks


def main():
    folder = sys.argv[1]
    random = np.random.default_rng(7)
    for name in SCALES:
        blocks = make_blocks(name, random)
        values = gguf.quants.dequantize(blocks, gguf.GGMLQuantizationType[name.upper()])
        blocks.tofile(os.path.join(folder, name + ".blocks"))
        values.astype("<f4").tofile(os.path.join(folder, name + ".values"))


if __name__ == "__main__":
    main()
