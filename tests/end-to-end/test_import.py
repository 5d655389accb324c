#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Dumps of other programs: `import` makes cases of them, which a run judges, and `compare` says where two diverge."""
import array
import json
import math
import os
import struct
import zipfile

import rig

WIDTH, ROWS = 8, 3
DUMPS = os.path.join(rig.DATA, "dumps")


def rounded(values):
    return list(array.array("f", values))


def npy(values, *shape, kind="<f4", code="f"):
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({''.join(f'{extent}, ' for extent in shape)}), }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + array.array(code, values).tobytes()


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return path


def norm(x, weight):
    rows = [x[at:at + WIDTH] for at in range(0, len(x), WIDTH)]
    scales = [1 / math.sqrt(sum(v * v for v in row) / WIDTH + 1e-5) for row in rows]
    return rounded(v * s * w for row, s in zip(rows, scales) for v, w in zip(row, weight))


def linear(x, w):
    return rounded(sum(x[r * WIDTH + i] * w[o * WIDTH + i] for i in range(WIDTH)) for r in range(ROWS) for o in range(WIDTH))


def silu(x):
    return rounded(v / (1 + math.exp(-v)) for v in x)


def made(layers=2, wrong=None):
    """Name, values and shape of each tensor, in the order of the run; `wrong` changes what silu of that layer gives."""
    x = rounded(math.sin(i * 1.3) for i in range(ROWS * WIDTH))
    tensors = [("inp-0", x, (ROWS, WIDTH))]
    for layer in range(layers):
        weight = rounded(1 + 0.1 * math.cos(i + layer) for i in range(WIDTH))
        w = rounded(math.cos(i * 1.7 + layer) for i in range(WIDTH * WIDTH))
        n = norm(x, weight)
        up = linear(n, w)
        act = silu(up)
        if layer == wrong:
            act = rounded(v * 1.01 for v in act)
        x = rounded(a + b for a, b in zip(x, act))
        tensors += [(f"blk.{layer}.norm.weight", weight, (WIDTH,)), (f"blk.{layer}.up.weight", w, (WIDTH, WIDTH))]
        tensors += [(f"norm-{layer}", n, (ROWS, WIDTH)), (f"up-{layer}", up, (ROWS, WIDTH)),
                    (f"act-{layer}", act, (ROWS, WIDTH)), (f"sum-{layer}", x, (ROWS, WIDTH)),
                    (f"inp-{layer + 1}", x, (ROWS, WIDTH))]
    return tensors


MAP = """# What the tensors are.
layers.*/norm: tapml.rms_norm x=inp-* weight=@blk.*.norm.weight eps=1e-5 offset=0 y=norm-*
layers.*/up:   tapml.linear x=norm-* w=@blk.*.up.weight transposed=0 y=up-*
layers.*/act:  tapml.silu x=up-* y=act-*
layers.*/sum:  tapml.add a=inp-* b=act-* y=sum-*
"""


def folder_of_npy(folder, tensors):
    for name, values, shape in tensors:
        write(os.path.join(folder, name + ".npy"), npy(values, *shape))
    return folder


def file_of_npz(path, tensors):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values, shape in tensors:
            with archive.open(name + ".npy", "w", force_zip64=True) as file:
                file.write(npy(values, *shape))
    return path


def file_of_safetensors(path, tensors):
    header, data = {}, b""
    for name, values, shape in tensors:
        piece = array.array("f", values).tobytes()
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(piece)]}
        data += piece
    text = json.dumps(header).encode()
    return write(path, struct.pack("<Q", len(text)) + text + data)


def folder_of_onnx(folder, tensors):
    for name, values, shape in tensors:
        dims = b"".join(b"\x08" + bytes([extent]) for extent in shape)
        data = array.array("f", values).tobytes()
        size = bytes([len(data) & 127 | 128, len(data) >> 7]) if len(data) > 127 else bytes([len(data)])
        message = dims + b"\x10\x01\x42" + bytes([len(name)]) + name.encode() + b"\x4a" + size + data
        write(os.path.join(folder, "".join(c if c.isalnum() else "_" for c in name) + ".tensorproto"), message)
    return folder


def folder_of_mlc(folder, tensors):
    """The calls alone: inputs, then the output."""
    os.makedirs(folder)
    found = {name: npy(values, *shape) for name, values, shape in tensors}
    calls = [call for i in range(2) for call in (
        ("rms_norm", [f"inp-{i}", f"blk.{i}.norm.weight", f"norm-{i}"]), ("NT_matmul", [f"norm-{i}", f"blk.{i}.up.weight", f"up-{i}"]),
        ("silu", [f"up-{i}", f"act-{i}"]), ("add", [f"inp-{i}", f"act-{i}", f"sum-{i}"]))]
    for number, (function, names) in enumerate(calls):
        with zipfile.ZipFile(os.path.join(folder, f"f{number}_{function}.npz"), "w") as archive:
            for place, name in enumerate(names):
                archive.writestr(f"arg_{place}.npy", found[name])
    return folder


def imported(folder, dump, *more, text=MAP):
    store = os.path.join(folder, "x.tapmlrun")
    done = rig.host("import", dump, "--map", write(os.path.join(folder, "map"), text), "--out", store, *more)
    return done, store


def run(folder, store, extra=""):
    ini, dir_ = os.path.join(folder, "cases.ini"), os.path.join(folder, "cases")
    write(ini, f"[run]\ndir = {dir_}\n[source]\nstore = {store}\n[target.gpu]\nbackend = reference:f32-blocked\n{extra}")
    return rig.host("--config", ini), dir_


FAULT = "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.01\n"


def cases_of_a_dump_are_judged(folder):
    done, store = imported(folder, folder_of_npy(os.path.join(folder, "dump"), made()))
    rig.contains(rig.check(done, 0).stdout, "8 calls of 15 tensors\n", "left out: 1 tensors that no rule names, such as 'inp-2'")
    done, dir_ = run(folder, store, FAULT)
    rig.contains(rig.check(done, 1).stdout, "silu is wrong on gpu: first at layers.0/act", "2 blamed")
    rig.contains(done.stderr, "0 are not what their op computes")
    assert rig.rows(dir_, "SELECT origin FROM argument JOIN \"case\" ON id = case_id WHERE instance = 'layers.1/up' AND param = 'x'") \
        == [("layers.1/norm",)]


def a_wrong_map_accuses_no_target(folder):
    done, store = imported(folder, folder_of_npy(os.path.join(folder, "dump"), made()), text=MAP.replace("1e-5", "1e-2"))
    rig.check(done, 0)
    done, _ = run(folder, store)
    rig.contains(rig.check(done, 0).stderr, "2 of 8 cases are not what their op computes", "the first: layers.0/norm")


def every_form_of_a_dump_gives_the_same_cases(folder):
    tensors = made()
    forms = {"npz": file_of_npz(os.path.join(folder, "dump.npz"), tensors),
             "safetensors": file_of_safetensors(os.path.join(folder, "dump.safetensors"), tensors),
             "onnx": folder_of_onnx(os.path.join(folder, "onnx"), tensors)}
    keys = set()
    for name, dump in forms.items():
        own = os.path.join(folder, name)
        done, store = imported(own, dump, "--model", "m", "--prompt", "p")
        rig.contains(rig.check(done, 0).stdout, "8 calls of 15 tensors")
        os.rename(store, os.path.join(own, "run.tapmlrun"))
        keys.add(tuple(rig.rows(own, "SELECT hex(key) FROM \"case\" ORDER BY id")))
    assert len(keys) == 1 and len(next(iter(keys))) == 8, keys


def weights_may_lie_in_a_file_of_their_own(folder):
    tensors = made()
    weights = [tensor for tensor in tensors if tensor[0].startswith("blk.")]
    dump = folder_of_npy(os.path.join(folder, "dump"), [tensor for tensor in tensors if tensor not in weights])
    done, store = imported(folder, dump, "--weights", file_of_safetensors(os.path.join(folder, "w.safetensors"), weights))
    rig.check(done, 0)
    rig.check(run(folder, store)[0], 0)
    # Those of a model's folder are not copied into the store.
    model = os.path.join(folder, "model")
    os.makedirs(model)
    os.rename(os.path.join(folder, "w.safetensors"), os.path.join(model, "model.safetensors"))
    own = os.path.join(folder, "own")
    done, store = imported(own, dump, "--weights", model)
    rig.check(done, 0)
    rig.check(run(own, store)[0], 0)
    os.rename(model, model + "-moved")
    rig.contains(rig.check(run(own, store)[0], 2).stderr, "refers to weight 'blk.0.norm.weight'")
    done, _ = imported(folder, dump)
    rig.contains(rig.check(done, 2).stderr, "map:2: 'layers.0/norm': 'weight': the dump has no tensor 'blk.0.norm.weight'")


def steps_and_opaque_calls_are_added(folder):
    dump = folder_of_npy(os.path.join(folder, "dump"), made())
    text = MAP + "layers.*/other: opaque.mystery in=up-* out=act-*\nnever: tapml.silu x=a y=b\n"
    rig.check(imported(folder, dump, "--model", "m", "--prompt", "p", text=text)[0], 0)
    done, store = imported(folder, dump, "--model", "m", "--prompt", "p", "--step", "1", text=text)
    rig.contains(rig.check(done, 0).stdout, "10 calls", "2 of them opaque", "without a call: 1 rules", "such as 'never'")
    os.rename(store, os.path.join(folder, "run.tapmlrun"))
    assert rig.rows(folder, "SELECT step, count(*) FROM \"case\" GROUP BY 1") == [(0, 10), (1, 10)]


def printed_dumps_make_no_cases(folder):
    text = "n: tapml.rms_norm x=embd eps=1e-5 offset=0 y=norm-0\n"
    done, _ = imported(folder, os.path.join(DUMPS, "llama.txt"), text=text)
    rig.contains(rig.check(done, 2).stderr, "printed as text, of which no case can be made")


# -- compare -------------------------------------------------------------------------------------


def compared(first, second, code, *more):
    return rig.check(rig.host("compare", first, second, *more), code).stdout


def the_changed_op_of_llama_cpp_is_named(folder):
    right = os.path.join(DUMPS, "llama.txt")
    rig.contains(compared(right, right, 0), "nothing diverges", "compared: 8; equal 8")
    path = os.path.join(folder, "found.json")
    out = compared(right, os.path.join(DUMPS, "llama_swiglu.txt"), 1, "--json", path)
    rig.contains(out, "first diverges at ffn_swiglu-0 [19, 80], computed by SWIGLU from ffn_gate-0, ffn_up-0:",
                 "all that it was computed from is equal in both: the op differs", "then differ: ffn_out-0")
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    assert found["format"] == "tapml-divergence/1" and found["different"][0]["op"] == "SWIGLU", found
    assert found["different"][0]["op_alone"] and found["counts"]["equal"] == 6, found
    out = compared(right, os.path.join(DUMPS, "llama_eps.txt"), 1)
    rig.contains(out, "first diverges at norm-0", "computed by RMS_NORM from embd", "llama.txt, so fused or left out in the other: 5 (")


def arrays_are_compared_by_what_the_map_knows(folder):
    right = folder_of_npy(os.path.join(folder, "right"), made())
    wrong = file_of_npz(os.path.join(folder, "wrong.npz"), [t for t in made(wrong=0) if not t[0].startswith("sum")])
    rules = write(os.path.join(folder, "map"), MAP)
    out = compared(right, wrong, 1, "--map", rules)
    rig.contains(out, "first diverges at act-0 [3, 8], computed by tapml.silu from up-0:", "the op differs",
                 "only in", "fused or left out in the other: 2 (sum-0, sum-1)", "the order is that of the names")
    # A small difference is one by the floor of the op, and none of which nothing is known.
    near = [(n, [v * (1 + 3e-5) for v in values] if n == "act-1" else values, s) for n, values, s in made()]
    folder_of_npy(os.path.join(folder, "near"), near)
    rig.contains(compared(right, os.path.join(folder, "near"), 0), "within their limits 1")
    rig.contains(compared(right, os.path.join(folder, "near"), 1, "--map", rules), "first diverges at act-1")
    compared(right, os.path.join(folder, "near"), 0, "--map", rules, "--limit", "1e-6")


def calls_of_mlc_are_in_their_order(folder):
    right = folder_of_mlc(os.path.join(folder, "right"), made())
    wrong = folder_of_mlc(os.path.join(folder, "wrong"), made(wrong=1))
    rig.contains(compared(right, wrong, 1), "first diverges at f6_silu/arg_1 [3, 8], computed by silu from f6_silu/arg_0:",
                 "the op differs")
    # Where a call was fused away, all later ones have other numbers.
    same = folder_of_mlc(os.path.join(folder, "fused"), made())
    os.remove(os.path.join(same, "f0_rms_norm.npz"))
    for name in sorted(os.listdir(same)):
        number, function = name[1:].split("_", 1)
        os.rename(os.path.join(same, name), os.path.join(same, f"f{int(number) - 1}_{function}"))
    rig.contains(compared(right, same, 0), "nothing diverges", "fused or left out in the other: 3 (f0_rms_norm/arg_0")


def a_dump_is_compared_with_a_run(folder):
    dump = folder_of_npy(os.path.join(folder, "dump"), made())
    _, store = imported(folder, dump)
    names = write(os.path.join(folder, "names"), "norm-* layers.*/norm\nup-* layers.*/up\nact-* layers.*/act # and no sum\n")
    rig.contains(compared(dump, store, 0, "--names", names), "compared: 6; equal 6", "only in", "layers.0/sum")
    wrong = folder_of_npy(os.path.join(folder, "wrong"), made(wrong=1))
    rig.contains(compared(wrong, store, 1, "--names", names), "first diverges at act-1")
    os.rename(store, os.path.join(folder, "run.tapmlrun"))
    done, dir_ = run(folder, os.path.join(folder, "run.tapmlrun"))
    rig.check(done, 0)
    turned = write(os.path.join(folder, "turned"), "layers.*/act act-*\n")
    rig.contains(compared(dir_, wrong, 1, "--names", turned), "first diverges at layers.1/act", "computed by tapml.silu from layers.1/up")


def what_cannot_be_is_one_sentence(folder):
    dump = folder_of_npy(os.path.join(folder, "dump"), made())
    other = write(os.path.join(folder, "other", "x.npy"), npy([1.0], 1))

    def refused(*arguments, sentence):
        done = rig.check(rig.host(*arguments), 2)
        rig.contains(done.stderr, sentence)
        assert done.stdout == "" and done.stderr.count("\n") == 1, done
    refused("compare", dump, os.path.dirname(other), sentence="have no name in common")
    refused("compare", dump, os.path.join(folder, "nothing"), sentence="there is no '")
    refused("compare", dump, dump, "--limit", "0", sentence="--limit is '0'")
    refused("compare", dump, dump, "--html", os.path.join(folder, "x"), sentence="--html is of two runs")
    for number, (text, sentence) in enumerate((
            ("x: tapml.sill x=a y=b\n", "map:1: there is no operator 'tapml.sill'"),
            ("x: tapml.silu x y=b\n", "map:1: expected PARAMETER=VALUE"), ("", "it has no rules"),
            (MAP.replace("up-* y=act-*", "blk.*.norm.weight y=act-*"), "map:4: 'layers.0/act'"))):
        own = os.path.join(folder, str(number))
        rig.contains(rig.check(imported(own, dump, text=text)[0], 2).stderr, sentence)
        assert os.listdir(own) == ["map"], os.listdir(own)


def hostile_files_end_in_a_sentence(folder):
    right = npy([1.0, 2.0], 2)
    with zipfile.ZipFile(os.path.join(folder, "x.npz"), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../x.npy", right)
    with open(os.path.join(folder, "x.npz"), "rb") as file:
        packed = file.read()
    with open(os.path.join(DUMPS, "llama_eps.txt"), "rb") as file:
        text = file.read()
    files = {"x.npy": right, "x.npz": packed, "x.pb": b"\x08\x02\x10\x01\x4a\x08" + right[-8:], "x.txt": text}
    own = os.path.join(folder, "hostile")
    for name, data in files.items():
        path = os.path.join(own, name)
        step = max(1, len(data) // 40)
        changed = [data[:at] for at in range(0, len(data), step)]
        changed += [data[:at] + bytes([data[at] ^ 0xff]) + data[at + 1:] for at in range(0, len(data), step)]
        for bytes_ in changed:
            write(path, bytes_)
            done = rig.host("compare", path, path)
            assert done.returncode in (0, 2) and done.stderr.count("\n") == (done.returncode == 2), (name, bytes_, done)
    assert sorted(os.listdir(folder)) == ["hostile", "x.npz"] and sorted(os.listdir(own)) == sorted(files)


TESTS = [cases_of_a_dump_are_judged, a_wrong_map_accuses_no_target, every_form_of_a_dump_gives_the_same_cases,
         weights_may_lie_in_a_file_of_their_own, steps_and_opaque_calls_are_added, printed_dumps_make_no_cases,
         the_changed_op_of_llama_cpp_is_named, arrays_are_compared_by_what_the_map_knows, calls_of_mlc_are_in_their_order,
         a_dump_is_compared_with_a_run, what_cannot_be_is_one_sentence, hostile_files_end_in_a_sentence]

if __name__ == "__main__":
    rig.main([rig.plain(test) for test in TESTS], ["reference"])
