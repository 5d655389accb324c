#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the style and the script of report.html as C arrays, with the policy that allows them alone.

    embed.py OUT.c REPORT.css REPORT.js
"""
import base64
import hashlib
import sys


def array(name, data):
    rows = [", ".join(f"0x{byte:02x}" for byte in data[at:at + 16]) for at in range(0, len(data), 16)]
    return f"const char {name}[] = {{\n    " + ",\n    ".join(rows + ["0x00"]) + "};\n"


def digest(data):
    return "'sha256-" + base64.b64encode(hashlib.sha256(data).digest()).decode() + "'"


def main():
    out, style_path, script_path = sys.argv[1:]
    with open(style_path, "rb") as file:
        style = file.read()
    with open(script_path, "rb") as file:
        script = file.read()
    if not (style + script).isascii():
        sys.exit("embed.py: the style and the script are ASCII, as an array of char is")
    policy = (f"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
              f"style-src {digest(style)}; script-src {digest(script)}")
    with open(out, "w", encoding="ascii") as file:
        for name, data in (("style", style), ("script", script), ("policy", policy.encode())):
            file.write(f"extern const char report_html_{name}[];\n" + array(f"report_html_{name}", data))


if __name__ == "__main__":
    main()
