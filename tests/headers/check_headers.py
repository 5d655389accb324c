#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""check_headers.py COMPILER SDK-INCLUDE GENERATED-INCLUDE

Compiles each header of the ABI alone and twice, and all of them together with the note macro, as C
and as C++ of several standards, with all warnings. Speaks TAP.
"""
import os
import subprocess
import sys
import tempfile

WARNINGS = "-Wall -Wextra -Wpedantic -Wshadow -Wundef -Wcast-qual -Werror -fsyntax-only".split()
C_WARNINGS = ["-Wstrict-prototypes", "-Wpadded"]
MODES = [("c", standard) for standard in ("c99", "c11", "c17")]
MODES += [("c++", standard) for standard in ("c++11", "c++20")]
GENERATED = "tapml/ops.h"


def headers(include):
    """The headers of the ABI, those of drafts, and the one that opgen writes."""
    names = [folder + name for folder in ("tapml/", "tapml/draft/") for name in os.listdir(os.path.join(include, folder))]
    return sorted(name for name in names if name.endswith(".h")) + [GENERATED]


def compiles(compiler, language, standard, includes, text):
    """None if the text compiles, or what the compiler says."""
    with tempfile.NamedTemporaryFile("w", suffix=".c", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        command = [compiler, "-x", language, "-std=" + standard, *WARNINGS,
                   *(C_WARNINGS if language == "c" else []),
                   *("-I" + folder for folder in includes), file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr or "failed" if done.returncode else None


def main():
    compiler, includes = sys.argv[1], sys.argv[2:]
    names = headers(includes[0])
    texts = {name: f"#include <{name}>\n" * 2 for name in names}
    texts["all of them"] = "".join(f"#include <{name}>\n" for name in names)
    texts["all of them"] += 'TAPML_PLUGIN_NOTE("[plugin]\\n");\n'
    print("TAP version 13")
    print(f"1..{len(texts) * len(MODES)}")
    number = 0
    for language, standard in MODES:
        known = compiles(compiler, language, standard, [], "int main(void);\n" if language == "c" else "int main();\n")
        for name, text in texts.items():
            number += 1
            title = f"{number} - {name} as {standard}"
            if known:
                print(f"ok {title} # SKIP this compiler has no {standard}")
                continue
            wrong = compiles(compiler, language, standard, includes, text)
            print(f"{'not ok' if wrong else 'ok'} {title}")
            for line in (wrong or "").splitlines()[:8]:
                print("# " + line)


if __name__ == "__main__":
    main()
