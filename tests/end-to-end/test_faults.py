#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Faults injected on a target are reported with the first faulty instance, and no other operator is blamed.

Usage: test_faults.py TARGET
"""
import re
import sys

import rig

TARGET = sys.argv[1] if len(sys.argv) > 1 else "reference:f32-blocked"


def sections(*faults):
    """[fault.N] sections; `from_call` stands for `from-call`."""
    text = ""
    for number, fault in enumerate(faults, 1):
        text += f"[fault.{number}]\ntarget = gpu\n"
        text += "".join(f"{key.replace('_', '-')} = {value}\n" for key, value in fault.items())
    return text


def blamed_of(stdout):
    """The blamed as (instance, op), and the firsts of their ops."""
    found = re.findall(r"^blamed: (\S+) \((\S+)\)(, the first of its op)?", stdout, re.M)
    return [(instance, op) for instance, op, _ in found], [instance for instance, _, first in found if first]


def run(folder, *faults, write=rig.write_run):
    """A run that must end with 1 and agree in the end; what it says."""
    ini, dir_ = write(folder, target=TARGET, extra=sections(*faults))
    done = rig.check(rig.host("--config", ini), 1)
    rig.contains(done.stdout, "end to end: agrees")
    for number in range(1, len(faults) + 1):
        rig.contains(done.stderr, f"injected on 'gpu': fault.{number}: ")
    return done, ini, dir_


def expect_blamed(done, *instances):
    blamed, _ = blamed_of(done.stdout)
    assert [instance for instance, _ in blamed] == list(instances), done.stdout
    left = re.search(r"^(\d+) of (\d+) instances on gpu", done.stdout, re.M)
    assert int(left[2]) - int(left[1]) == len(instances), left[0]


def expect_op(done, op, first):
    """Only instances of `op` are blamed, `first` is the first, and all other ops have moved."""
    blamed, firsts = blamed_of(done.stdout)
    assert blamed and {name for _, name in blamed} == {op}, done.stdout
    assert blamed[0][0] == first and firsts == [first], done.stdout
    for line in done.stdout.splitlines():
        match = re.match(r"(tapml\.\S+)\s+(\d+)\s+(\d+)\s", line)
        if match and match[1] != op:
            assert match[2] == match[3], f"not all moved: {line}"


# (op, kind, the first instance where it shows).
KINDS = [
    ("rms_norm", "argument eps =0.01", "layers.0/attn/norm"),
    ("attention", "argument scale *1.5", "layers.0/attn/attention"),
    ("linear", "drop-tail", "layers.0/attn/q_proj"),
    ("rope", "swap-halves", "layers.0/attn/q_rope"),
    ("embed", "zero-row", "embed"),
    ("gather_rows", "scale 1.001", "rows"),
    ("silu", "round-f16", "layers.0/mlp/silu"),
    ("mul", "nan", "layers.0/mlp/mul"),
    ("add", "skip-write", "layers.0/attn/add"),
    ("state_append", "skip-write", "layers.0/attn/k_append"),
    ("state_append", "shift-rows", "layers.0/attn/k_append"),
]


def one(op, kind, first):
    def test(folder):
        done, _, _ = run(folder, {"op": op, "kind": kind}, write=rig.write_small_run)
        expect_op(done, "tapml." + op, first)
    test.__name__ = f"{op}: {kind}"
    return test


def two_at_once(folder):
    done, _, _ = run(folder, {"op": "rope", "instance": "layers.1/attn/k_rope", "kind": "swap-halves"},
                     {"instance": "layers.3/mlp/up_proj", "kind": "zero-row"})
    expect_blamed(done, "layers.1/attn/k_rope", "layers.3/mlp/up_proj")


def two_that_cancel(folder):
    done, _, _ = run(folder, {"instance": "layers.1/mlp/silu", "kind": "scale 2"},
                     {"instance": "layers.1/mlp/mul", "kind": "scale 0.5"})
    expect_blamed(done, "layers.1/mlp/silu", "layers.1/mlp/mul")


def the_state_of_one_layer(folder):
    done, _, _ = run(folder, {"op": "state_append", "instance": "layers.2/*", "kind": "argument position -1"})
    expect_blamed(done, "layers.2/attn/k_append", "layers.2/attn/v_append")


# An op may be the last to move, by the time that it took: then only 44 of its calls are judged.
def from_the_fortieth_call_on(folder):
    done, _, _ = run(folder, {"instance": "layers.2/mlp/silu", "kind": "scale 2", "from_call": 40})
    expect_blamed(done, "layers.2/mlp/silu")


def the_state_from_the_fortieth_call_on(folder):
    done, _, _ = run(folder, {"instance": "layers.1/attn/v_append", "kind": "shift-rows", "from_call": 40})
    expect_blamed(done, "layers.1/attn/v_append")


def one_call_of_five(folder):
    done, _, dir_ = run(folder, {"instance": "layers.1/attn/o_proj", "kind": "zero-row", "probability": 0.2,
                                 "seed": 3})
    expect_blamed(done, "layers.1/attn/o_proj")
    fact, = rig.rows(dir_, "SELECT faults FROM target WHERE name = 'gpu'")[0]
    rig.contains(fact, "zero-row", "instance=layers.1/attn/o_proj", "probability=0.2", "seed=3")


def another_fault_is_another_target(folder):
    """The source's cases stay; what was found on the target is found anew."""
    _, _, dir_ = run(folder, {"op": "embed", "kind": "nan"})
    cases = rig.rows(dir_, "SELECT count(*) FROM \"case\"")
    done, _, _ = run(folder, {"op": "mul", "kind": "nan"})
    expect_op(done, "tapml.mul", "layers.0/mlp/mul")
    ini, _ = rig.write_run(folder, target=TARGET)
    mended = rig.check(rig.host("--config", ini), 0)
    rig.contains(mended.stdout, "0 blamed, 0 unsupported, 0 left on the source")
    assert rig.rows(dir_, "SELECT count(*) FROM \"case\"") == cases


def a_fault_that_waits_for_ever_is_reported(folder):
    ini, _ = rig.write_run(folder, target=TARGET,
                           extra=sections({"op": "embed", "kind": "nan", "from_call": 1000000}))
    done = rig.check(rig.host("--config", ini), 0)
    rig.contains(done.stderr, "[fault.1] has corrupted 0 calls on 'gpu'")


def what_corrupts_nothing_is_refused(folder):
    for fault, sentence in (({"op": "rope", "kind": "argument window +1"}, "it can be done to: attention"),
                            ({"op": "ropes", "kind": "nan"}, "[fault.1] matches no instance"),
                            ({"op": "rope", "kind": "nun"}, "did you mean 'nan'?")):
        ini, _ = rig.write_run(folder, target=TARGET, extra=sections(fault))
        rig.contains(rig.check(rig.host("--config", ini), 2).stderr, sentence)


if __name__ == "__main__":
    rig.main([one(*kind) for kind in KINDS[::2]] + [rig.slow(one(*kind)) for kind in KINDS[1::2]] +
             [two_at_once, two_that_cancel, the_state_of_one_layer, from_the_fortieth_call_on,
              the_state_from_the_fortieth_call_on, one_call_of_five, another_fault_is_another_target,
              a_fault_that_waits_for_ever_is_reported, what_corrupts_nothing_is_refused],
             needs=[TARGET.partition(":")[0], "reference"])
