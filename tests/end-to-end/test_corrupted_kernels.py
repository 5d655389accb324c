#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""test_corrupted_kernels.py [few]: corrupted kernels are found, named, and nothing else is blamed.

The kernels' text stands in the plugin's library as it is compiled, so a fault is injected by
replacing bytes of a copy by as many others.
"""
import os
import re
import shutil
import sys

import rig

PLUGIN = os.path.join(rig.BUILD, "plugins", "opencl")

# (op, the first instance of it, kernel, what stands in its text, what is put there).
FAULTS = [
    ("tapml.silu", "layers.0/mlp/silu", b"silu", rb"exp\(-v\)", b"exp( v)"),
    # Right where the model's values are: found by derived cases alone.
    ("tapml.silu", "layers.0/mlp/silu", b"silu", rb"v / \(\(\(float4\)\(1\.0f\)\) \+ exp\(-v\)\)",
     b"v/(1+exp(-v))*step(-5.f,v)      "),
    ("tapml.mul", "layers.0/mlp/mul", b"mul", rb"\)\] \* b\[", b")] + b["),
    ("tapml.add", "layers.0/attn/add", b"add", rb"\)\] \+ b\[", b")] - b["),
    ("tapml.rms_norm", "layers.0/attn/norm", b"rms_norm", rb"\+ p\.eps\)", b"- p.eps)"),
    ("tapml.rope", "layers.0/attn/q_rope", b"rope", rb"\? \(turned\) : \(-turned\)", b"? (turned) : (+turned)"),
    ("tapml.embed", "embed", b"embed", rb"ids\[p\.ids_at \+ t\]", b"ids[p.ids_at + 0]"),
    ("tapml.gather_rows", "rows", b"gather_rows", rb", p\.last\);", b", 0u    );"),
    ("tapml.state_append", "layers.0/attn/k_append", b"state_append", rb"k_r0 < p\.count\)", b"k_r0+1<p.count)"),
    ("tapml.linear", "layers.0/attn/q_proj", b"linear_rows", rb"i < width;", b"i+9<width;"),
    ("tapml.attention", "layers.0/attn/attention", b"attention", rb"end = here \+ 1u;", b"end = here + 0u;"),
]


def rename_build(data, manifest):
    """Another build has another build-id, in the library and in its manifest."""
    text = open(manifest, encoding="utf-8").read()
    old = re.search(r"^build-id = (\w+)$", text, re.M).group(1)
    new = old[::-1]
    assert new != old and data.count(bytes.fromhex(old)) == 1
    open(manifest, "w", encoding="utf-8").write(text.replace(old, new))
    return data.replace(bytes.fromhex(old), bytes.fromhex(new))


def corrupt(folder, kernel, pattern, replacement):
    """A folder with a plugin whose kernel has another text of the same length."""
    out = os.path.join(folder, "plugin")
    os.mkdir(out)
    for name in os.listdir(PLUGIN):
        if name.endswith((".so", ".tapml")):
            shutil.copy(os.path.join(PLUGIN, name), out)
    path = os.path.join(out, "tapml-opencl.so")
    data = open(path, "rb").read()
    count = 0

    def change(match):
        nonlocal count
        text, times = re.subn(pattern, replacement, match.group(0))
        count += times
        assert len(text) == len(match.group(0)), "the text must keep its length"
        return text

    entry = rb"void " + kernel + rb"\(const K_params p[^\0]*"
    data = re.sub(entry, change, data)
    assert count > 0, f"nothing in {kernel} was corrupted"
    open(path, "wb").write(rename_build(data, os.path.join(out, "org.tapml.opencl.tapml")))
    return {"TAPML_PLUGIN_PATH": out}


def one(op, first, kernel, pattern, replacement):
    def test(folder):
        ini, _ = rig.write_small_run(folder, target="opencl")
        env = corrupt(folder, kernel, pattern, replacement)
        done = rig.check(rig.host("--config", ini, env=env), 1)
        blamed = re.findall(r"^blamed: (\S+) \((\S+)\)(, the first of its op)?", done.stdout, re.M)
        assert blamed, done.stdout
        assert {name for _, name, _ in blamed} == {op}, done.stdout
        assert blamed[0][0] == first and blamed[0][2], done.stdout
        for line in done.stdout.splitlines():
            match = re.match(r"(tapml\.\S+)\s+(\d+)\s+(\d+)\s", line)
            if match and match.group(1) != op:
                assert match.group(2) == match.group(3), f"not all moved: {line}"
        rig.contains(done.stdout, "end to end: agrees")
        if pattern == FAULTS[0][3]:  # The mended plugin is another build, and judged anew.
            mended = rig.check(rig.host("--config", ini), 0)
            rig.contains(mended.stdout, "0 blamed, 0 unsupported, 0 left on the source")
    test.__name__ = f"{op}: {kernel.decode()} corrupted to {replacement.decode().strip()}"
    return test


# One that only derived cases find, one of a state, one of the largest op.
FEW = ("silu", "state_append", "linear")

if __name__ == "__main__":
    chosen = [fault for fault in FAULTS if sys.argv[1:] != ["few"] or fault[0].removeprefix("tapml.") in FEW]
    rig.main([one(*fault) for fault in chosen], needs=["opencl", "reference"])
