#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Makes one file of a program for the vendor of a driver.

    join.py OUT.c PROGRAM.c CHECKS.h    PROGRAM.c with the text of CHECKS.h in the place of its #include
"""
import os
import re
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    out, program, checks = sys.argv[1:]
    include = f'#include "{os.path.basename(checks)}"\n'
    text = read(program)
    if text.count(include) != 1:
        sys.exit(f"{program}: expected {include.strip()} once, found {text.count(include)} times")
    inlined = re.sub(r"^(// SPDX-.*\n)+\n|^#pragma once\n", "", read(checks), flags=re.M)
    with open(out, "w", encoding="utf-8") as file:
        file.write(text.replace(include, inlined))


if __name__ == "__main__":
    main()
