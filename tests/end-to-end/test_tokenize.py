#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""`tapml-host tokenize`: the ids and texts of every folder of cases, and what is refused."""
import json
import os
import subprocess

import rig

FOLDERS = os.path.join(rig.DATA, "tokenizers")


def tokenize(folder, texts, *options):
    """Runs the command on texts, or on lines of the input as they are."""
    lines = texts if isinstance(texts, bytes) else "".join(json.dumps(text) + "\n" for text in texts).encode()
    return subprocess.run([rig.HOST, "tokenize", folder, *options], input=lines, capture_output=True, timeout=120, check=False)


def rows_of(done):
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def every_case_agrees(_):
    for name in sorted(os.listdir(FOLDERS)):
        folder = os.path.join(FOLDERS, name)
        with open(os.path.join(folder, "cases.json"), encoding="utf-8") as file:
            cases = json.load(file)["cases"]
        texts = [case["text"] for case in cases]
        for key, options in (("ids", []), ("ids_plain", ["--plain"])):
            rows = rows_of(tokenize(folder, texts, *options))
            assert len(rows) == len(cases), name
            for case, row in zip(cases, rows):
                assert case.get(key, row["ids"]) == row["ids"], (name, key, case["text"], row)
                assert case.get("decoded", row["text"]) == row["text"], (name, case["text"], row)


def a_line_that_is_no_string_is_refused(_):
    folder = os.path.join(FOLDERS, "bpe_gpt2")
    for line in (b"7\n", b"\"a\n", b"{}\n", b"\n", b"\"\\ud800\"\n", b"\"\xff\"\n"):
        done = tokenize(folder, b"\"fine\"\n" + line)
        assert done.returncode == 2, (line, done)
        rig.contains(done.stderr.decode(), "line 2: expected a JSON string")
        assert len(done.stdout.splitlines()) == 1, done


def a_folder_without_a_tokenizer_is_refused(folder):
    done = tokenize(folder, ["a"])
    assert done.returncode != 0
    rig.contains(done.stderr.decode(), folder, "found none")
    assert len(done.stderr.splitlines()) == 1, done.stderr


def an_expression_that_explodes_ends_in_a_sentence(folder):
    """The expression is that of a file, so the time of a run must not be."""
    with open(os.path.join(FOLDERS, "bpe_gpt2", "tokenizer.json"), encoding="utf-8") as file:
        table = json.load(file)
    table["pre_tokenizer"] = {"type": "Split", "pattern": {"Regex": "(a+)+$x"}, "behavior": "Isolated", "invert": False}
    with open(os.path.join(folder, "tokenizer.json"), "w", encoding="utf-8") as file:
        json.dump(table, file)
    assert rows_of(tokenize(folder, ["short", "aax"]))
    done = tokenize(folder, ["a" * 5000 + "x"])
    assert done.returncode == 2, done
    rig.contains(done.stderr.decode(), "line 1: ", "takes too long for this text")


if __name__ == "__main__":
    rig.main([every_case_agrees, a_line_that_is_no_string_is_refused, a_folder_without_a_tokenizer_is_refused,
              an_expression_that_explodes_ends_in_a_sentence], [])
