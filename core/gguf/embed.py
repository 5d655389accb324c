#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of conf/gguf as C arrays, under their names without the ending, in the order given.

    embed.py OUT.c TABLE.json...
"""
import json
import os
import sys


def array(name, data):
    rows = [", ".join(f"0x{byte:02x}" for byte in data[at:at + 16]) for at in range(0, len(data), 16)]
    return f"static const char {name}[] = {{\n    " + ",\n    ".join(rows) + "};\n"


def main():
    out, *paths = sys.argv[1:]
    tables = []
    for path in paths:
        with open(path, encoding="ascii") as file:
            # Without blanks, which would be a third of the program's copy.
            text = json.dumps(json.load(file), separators=(",", ":"))
        tables.append((os.path.splitext(os.path.basename(path))[0], text.encode()))
    with open(out, "w", encoding="ascii") as file:
        file.write('#include "gguf/gguf_tables.h"\n\n')
        for number, (_, data) in enumerate(tables):
            file.write(array(f"table_{number}", data))
        file.write("extern const struct gguf_table gguf_table_texts[];\nextern const size_t gguf_table_text_count;\n"
                   "const struct gguf_table gguf_table_texts[] = {\n")
        for number, (name, data) in enumerate(tables):
            file.write(f'    {{"{name}", table_{number}, {len(data)}}},\n')
        file.write(f"}};\nconst size_t gguf_table_text_count = {len(tables)};\n")


if __name__ == "__main__":
    main()
