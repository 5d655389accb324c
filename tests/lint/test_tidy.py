#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""test_tidy.py TIDY: plants a small tree that is right, corrupts it in one way after the other, and
expects tools/tidy.py to say so, at the right place. Speaks TAP.
"""
import os
import subprocess
import sys
import tempfile

SPDX = "// SPDX-FileCopyrightText: 2026 The TapML authors\n// SPDX-License-Identifier: Apache-2.0\n"
README = "# A backend\n" + "".join(f"## {heading}\n" for heading in (
    "Introduction", "Devices", "Build", "Run-time needs", "Operators", "Limits", "Since"))
GOOD = {
    "core/base/text.h": SPDX + "#pragma once\nstruct text {\n};\n",
    "core/base/text.c": SPDX + '#include "base/text.h"\n\n#include <stdio.h>\n',
    "core/exec/plan.h": SPDX + "#pragma once\n",
    "core/exec/plan.c": SPDX + '#include "exec/plan.h"\n\n#include "base/text.h"\n',
    "core/programs/main.c": SPDX + '#include "exec/plan.h"\n',
    "sdk/include/tapml/abi.h": SPDX + "#ifndef TAPML_ABI_H\n#define TAPML_ABI_H\n#endif\n",
    "plugins/quick/plugin.ini": "[plugin]\n[component.quick]\n",
    "plugins/quick/README.md": README,
    "plugins/quick/device.h": SPDX + "#pragma once\n",
    "plugins/quick/entry.c": SPDX + '#include "device.h"\n\n#include <tapml/abi.h>\n',
    "docs/environment.md": "| `TAPML_KNOWN` |\n",
    "tests/unit/base/test_text.c": SPDX,
    "tests/unit/exec/test_plan.c": SPDX,
    "tests/unit/meson.build": "m = {\n  'base': ['text'],\n  'exec': ['plan'],\n}\n",
}
BODY = "int x(void)\n{\n" + "    x();\n" * 71 + "}\n"
COMMENT = "FIX" + "ME"

# What is wrong, the file that gets a new text (None: it goes away), and what tidy says.
SPOILT = [
    ("a tree that is right", None, None, None),
    ("an upward include", "core/base/text.c", SPDX + '#include "base/text.h"\n#include "exec/plan.h"\n',
     "core/base/text.c:4: layer 'base' includes 'exec/plan.h' of the higher layer 'exec'"),
    ("an upward include in angle brackets", "core/base/text.h", SPDX + "#pragma once\n#include <exec/plan.h>\n",
     "core/base/text.h:4: layer 'base' includes 'exec/plan.h' of the higher layer 'exec'"),
    ("modules that include each other", "core/base/text.c", SPDX + '#include "base/text.h"\n#include "exec/plan.h"\n',
     "core/base/text.c:4: 'core/base/text' and 'core/exec/plan' include each other"),
    ("a folder that is no layer", "core/extra/thing.md", "", None),
    ("a source in a folder that is no layer", "core/extra/thing.c", SPDX, "core/extra/thing.c:1: 'extra' is no layer"),
    ("a header that is not of the core", "core/exec/plan.c", SPDX + '#include "exec/plan.h"\n#include "text.h"\n',
     "core/exec/plan.c:4: 'text.h' is no header of core/"),
    ("a plugin that includes the core", "plugins/quick/entry.c", SPDX + '#include "base/text.h"\n',
     "plugins/quick/entry.c:3: 'base/text.h' is not of the SDK"),
    ("a variable that is on the page", "plugins/quick/entry.c", SPDX + 'static const char known[] = "TAPML_KNOWN";\n', None),
    ("a variable that is on no page", "plugins/quick/entry.c", SPDX + 'static const char other[] = "TAPML_OTHER";\n',
     "plugins/quick/entry.c:3: TAPML_OTHER is not in docs/environment.md"),
    ("a plugin that leaves its folder", "plugins/quick/entry.c", SPDX + '#include "../other/device.h"\n',
     "plugins/quick/entry.c:3: '../other/device.h' leaves 'plugins/quick/'"),
    ("a plugin that goes up within its folder", "plugins/quick/kernels/add.c", SPDX + '#include "../device.h"\n', None),
    ("an SDK that includes a plugin", "sdk/gpu/plan.c", SPDX + '#include "plugins/quick/device.h"\n',
     "sdk/gpu/plan.c:3: 'plugins/quick/device.h' is not of the SDK"),
    ("a core that names a backend", "core/exec/plan.h", SPDX + "#pragma once\n// Like quick.\n",
     "core/exec/plan.h:4: core/ names 'quick'"),
    ("a core that names the oracle", "core/exec/plan.h", SPDX + '#pragma once\n#define ORACLE "refe' + 'rence"\n',
     "core/exec/plan.h:4: core/ names 'reference'"),
    ("a module without a test", "tests/unit/exec/test_plan.c", None,
     "core/exec/plan.c:1: module without 'tests/unit/exec/test_plan.c'"),
    ("a module without a header", "core/exec/plan.h", None, "core/exec/plan.c:1: module without 'core/exec/plan.h'"),
    ("a header without a source", "core/exec/run.h", SPDX + "#pragma once\n",
     "core/exec/run.h:1: header without 'core/exec/run.c'"),
    ("a test without a module", "tests/unit/exec/test_run.c", SPDX,
     "tests/unit/exec/test_run.c:1: test without 'core/exec/run.c'"),
    ("a test that is not built", "tests/unit/meson.build", "m = {\n  'base': ['text'],\n  'exec': [],\n}\n",
     "tests/unit/exec/test_plan.c:1: 'plan' is not in the list of 'exec'"),
    ("a test of another kind that is not built", "tests/conformance/test_queue.c", SPDX,
     "tests/conformance/test_queue.c:1: no meson.build below tests/ names it"),
    ("memory of the C library", "core/exec/plan.c",
     SPDX + '#include "exec/plan.h"\nchar *p = realpath(x, 0);\nint y = free(p);\n', None),
    ("an own header that is not first", "core/exec/plan.c", SPDX + '#include "base/text.h"\n#include "exec/plan.h"\n',
     'core/exec/plan.c:3: the first include is not "exec/plan.h"'),
    ("a banned function", "core/exec/plan.c", SPDX + '#include "exec/plan.h"\nvoid *p = malloc(1);\n',
     "core/exec/plan.c:4: 'malloc' is banned, use base/alloc.h"),
    ("a member of a banned name", "core/exec/plan.c", SPDX + '#include "exec/plan.h"\nint y = x->free(x.malloc(1));\n', None),
    ("a banned function in a comment", "core/exec/plan.c", SPDX + '#include "exec/plan.h"\n// free(x)\n', None),
    ("a typedef for a struct", "core/exec/plan.h", SPDX + "#pragma once\ntypedef struct plan plan;\n",
     "core/exec/plan.h:4: typedef for a struct"),
    ("a tag with two meanings", "core/exec/plan.h", SPDX + "#pragma once\nenum text {\n};\n",
     "core/exec/plan.h:4: 'enum text' is defined in 'core/base/text.h' too"),
    ("a tag that is used elsewhere", "core/exec/plan.h", SPDX + "#pragma once\nstruct text;\n", None),
    ("SQL outside of the store", "core/exec/plan.c", SPDX + '#include "exec/plan.h"\nconst char *s = "SELECT 1";\n',
     "core/exec/plan.c:4: SQL belongs to core/store"),
    ("SQLite outside of the store", "core/exec/plan.c", SPDX + '#include "exec/plan.h"\n\n#include <sqlite3.h>\n',
     "core/exec/plan.c:5: 'sqlite3.h' belongs to core/store"),
    ("a word of SQL in a sentence", "core/exec/plan.c", SPDX + '#include "exec/plan.h"\nconst char *s = "to SELECT";\n', None),
    ("a long source", "core/exec/plan.c", SPDX + '#include "exec/plan.h"\n' + "\n" * 700,
     "core/exec/plan.c:703: 703 lines, at most 700"),
    ("a long header", "core/exec/plan.h", SPDX + "#pragma once\n" + "\n" * 400,
     "core/exec/plan.h:403: 403 lines, at most 400"),
    ("a long header that is generated", "sdk/abi/layout-1.0.h", SPDX + "\n" * 400, None),
    ("a long function", "plugins/quick/entry.c", SPDX + BODY,
     "plugins/quick/entry.c:4: function of 71 lines, at most 70"),
    ("a function of seven parameters", "plugins/quick/entry.c",
     SPDX + "int x(int a, int b, int c, int d,\n      int e, int f, int g)\n{\n}\n",
     "plugins/quick/entry.c:3: 'x' has 7 parameters, at most 6"),
    ("a function of the ABI", "plugins/quick/entry.c",
     SPDX + "int x(int a, tapml_call *b, int c, int d,\n      int e, int f, int g)\n{\n}\n", None),
    ("a leftover", "core/exec/plan.h", SPDX + f"#pragma once\n// {COMMENT}\n", f"core/exec/plan.h:4: leftover '{COMMENT}'"),
    ("a source without a licence", "core/exec/plan.h", "#pragma once\n", "core/exec/plan.h:1: no SPDX lines"),
    ("a script without a licence", "tools/run", "#!/bin/sh\n", "tools/run:1: no SPDX lines"),
    ("a core header without its pragma", "core/exec/plan.h", SPDX, "core/exec/plan.h:1: no '#pragma once'"),
    ("an SDK header without guards", "sdk/include/tapml/abi.h", SPDX + "#pragma once\n",
     "sdk/include/tapml/abi.h:1: a header of the SDK has '#ifndef' guards"),
    ("a large file", "docs/large.md", "x\n" * 35000, "docs/large.md:1: 70000 bytes, at most 65536"),
    ("a large file of data", "tests/data/large.json", "x" * 70000, None),
    ("a large plugin of an earlier minor", "tests/museum/1.0/large.so", "x" * 70000, None),
    ("a large record", "sdk/abi/witness-1.0.abi", "x" * 70000, None),
    ("a plugin without a page", "plugins/quick/README.md", None,
     "plugins/quick/plugin.ini:1: plugin without 'plugins/quick/README.md'"),
    ("a page without a heading", "plugins/quick/README.md", README.replace("## Limits\n", ""),
     "plugins/quick/README.md:1: no heading 'Limits'"),
    ("a long line of a page", "docs/page.md", "# A page\n\n" + "word " * 24 + "a\n",
     "docs/page.md:3: 121 columns, at most 120"),
    ("a long line of code in a page", "docs/page.md", "```sh\n" + "word " * 25 + "\n```\n", "docs/page.md:2: 125 columns"),
    ("a long line behind program output", "docs/page.md", "```\nfine\n```\n" + "word " * 25 + "\n",
     "docs/page.md:4: 125 columns"),
    ("program output of a long line", "docs/page.md", "```\n" + "word " * 25 + "\n```\n", None),
    ("a long row of a table", "docs/page.md", "| " + "word " * 25 + "|\n", None),
    ("a long link", "docs/page.md", "- [page](" + "x" * 120 + ")\n", None),
    ("a path that points outside", "docs/page.md", "see ../sha" + "red/page.md\n",
     "docs/page.md:1: '../sha" + "red' points outside"),
]


def write(root, files):
    for name, text in files.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def judge(tidy, root, expected):
    """None if tidy says what is expected and nothing else, or what it said."""
    done = subprocess.run([sys.executable, tidy, root], capture_output=True, text=True, check=False)
    said = done.stdout.splitlines()
    if expected is None:
        return None if done.returncode == 0 and not said else done.stdout
    good = done.returncode == 1 and any(line.startswith(expected) for line in said)
    return None if good else f"expected: {expected}\nsaid: {done.stdout}{done.stderr}"


def commit(root, message):
    """Commits all in `root`, by nobody."""
    who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "--allow-empty", "-m", message]):
        subprocess.run(["git", "-C", root, *command], check=True, stdout=subprocess.DEVNULL)


def git_works():
    try:
        return subprocess.run(["git", "--version"], stdout=subprocess.DEVNULL, check=False).returncode == 0
    except FileNotFoundError:
        return False


# A commit's message, and what tidy says after the number of the commit.
MESSAGES = [
    ("exec: keep the plan", None),
    ("exec: keep the plan.", ":1: 'exec: keep the plan.' is not"),
    ("Keep the plan", ":1: 'Keep the plan' is not"),
    ("exec: " + "x" * 70, ":1: 'exec: x"),
    ("exec: keep the plan\nwithout an empty line", ":2: the second line"),
]


def judge_message(tidy, root, message, expected):
    commit(root, message)
    done = subprocess.run([sys.executable, tidy, root], capture_output=True, text=True, check=False)
    said = [line for line in done.stdout.splitlines() if line.startswith("commit ")]
    good = not done.stdout if expected is None else any(expected in line for line in said)
    return None if good else f"expected: {expected}\nsaid: {done.stdout}{done.stderr}"


def report(number, title, wrong):
    print(f"{'not ok' if wrong else 'ok'} {number} - {title}")
    for line in (wrong or "").splitlines():
        print("# " + line)


def main():
    tidy = os.path.realpath(sys.argv[1])
    print("TAP version 13")
    print(f"1..{len(SPOILT) + len(MESSAGES)}")
    for number, (title, name, text, expected) in enumerate(SPOILT, 1):
        with tempfile.TemporaryDirectory() as root:
            files = {**GOOD, **({name: text} if name else {})}
            write(root, {key: value for key, value in files.items() if value is not None})
            report(number, title, judge(tidy, root, expected))
    for number, (message, expected) in enumerate(MESSAGES, len(SPOILT) + 1):
        title = f"commit {message[:30]!r}"
        if not git_works():
            print(f"ok {number} - {title} # SKIP no git")
            continue
        with tempfile.TemporaryDirectory() as root:
            write(root, GOOD)
            report(number, title, judge_message(tidy, root, message, expected))


if __name__ == "__main__":
    main()
