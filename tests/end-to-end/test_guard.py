#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels that are corrupted so that they write where they must not, or do not write what they must.

The replay runs every case under the guard, whose sentence is the reason of the verdict.
"""
import re

import rig
import test_corrupted_kernels


def write_to_input(match):
    """What was to be written to y goes to x, which is no longer constant."""
    text = match.group(0)
    return b" " * len(text) if text.startswith(b"const") else text.replace(b"y[", b"x[").replace(b".y_", b".x_")


# (what goes wrong, op, kernel, what stands in its text, what is put there, the guard's sentence).
FAULTS = [
    ("a write behind the buffer", "tapml.silu", b"silu", rb"k_r0 < p\.count", b"k_r0 <=p.count",
     r"redzone after 'y' was written, at byte 0 behind its buffer"),
    ("an unwritten tail", "tapml.silu", b"silu", rb"k_r0 < p\.count", b"k_r0+1<p.count",
     r"'y' was not written from element \d+, poison is left"),
    ("a changed input", "tapml.silu", b"silu", rb"const (?=f32\w* \*restrict x)|y\[\([^\]]*\] = v", write_to_input,
     r"input 'x' changed at element 0"),
    ("a row outside the region", "tapml.state_append", b"state_append", rb"k_r0 < p\.count", b"k_r0 <=p.count",
     r"row (\d+) of state 'state' was written, outside of rows (\d+) \.\. (\d+)"),
]


def one(name, op, kernel, pattern, replacement, sentence):
    def test(folder):
        ini, dir_ = rig.write_small_run(folder, target="opencl")
        env = test_corrupted_kernels.corrupt(folder, kernel, pattern, replacement)
        done = rig.check(rig.host("--config", ini, env=env), 1)
        assert set(re.findall(r"^blamed: \S+ \((\S+)\)", done.stdout, re.M)) == {op}, done.stdout
        results = rig.rows(dir_, "SELECT op, verdict, reason FROM judged JOIN \"case\" ON id = case_id")
        reasons = [reason for of, verdict, reason in results if of == op and verdict == "fail"]
        assert any(re.fullmatch(sentence, reason) for reason in reasons), reasons[:9]
        assert all(verdict == "pass" for of, verdict, _ in results if of != op), "nothing else is blamed"
    test.__name__ = name
    return test


if __name__ == "__main__":
    rig.main([one(*fault) for fault in FAULTS], needs=["opencl", "reference"])
